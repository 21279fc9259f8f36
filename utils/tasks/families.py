"""Day 10's families: an encoder, a decoder and both together learn from the same text.

Shapes: ids (B, T) and sources (B, S), padded behind their ends, lengths (B,); features (B, T, D),
one for each symbol that may be asked for.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.data.text import BOS, EOS, PAD, pad
from utils.pretraining import (
    IGNORE,
    MASK,
    draw_infilling,
    draw_spans,
    hide_spans,
    infill,
    masked_word_loss,
)
from utils.tasks.pretraining import (
    N_LAYERS,
    SHARE,
    Hidden,
    hide,
    new_model,
    sizes,
    vocabulary,
    with_muon,
)
from utils.training.loop import History, fit
from utils.training.optimisers import MuonAndAdamW
from utils.transformer import DecoderOnly, Transformer, mean_pool

N_SENTINELS = 32


class Example(NamedTuple):
    """What is read, what is to be written, and where in it a word is asked for."""

    source: list[int]
    target: list[int]
    place: int = 0


class Family(nn.Module):
    """A model of one kind. Called with what `inputs` makes of examples, it gives features.

    blocks: the model's blocks. head: features (n, D) to logits (n, V).
    share: of the words that are hidden in a passage.
    """

    share: float
    blocks: nn.Module
    head: Callable[[Tensor], Tensor]
    writes = True  # whether what follows a word has a chance too

    def batches(self, steps: int) -> "Hidden | Noised":
        """Passages to learn from, (*inputs, target)."""
        return Noised(steps, self)

    def noised(self, text: list[int]) -> Example:
        """What the family makes of a passage."""
        raise NotImplementedError

    def asks(self, before: list[int], word: int, after: list[int]) -> Example:
        """Ask for a word between others."""
        raise NotImplementedError

    def inputs(self, examples: Sequence[Example]) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def gathers(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Make one vector of each text, (B, D)."""
        raise NotImplementedError


class Encodes(Family):
    """It reads in both directions and guesses hidden words: today's encoder."""

    share = SHARE
    writes = False

    def __init__(self, seed: int):
        super().__init__()
        self.model = new_model(seed)
        self.blocks, self.head = self.model.encoder.blocks, self.model.head

    def batches(self, steps: int) -> Hidden:
        return Hidden(steps, mask=partial(hide, share=self.share))

    def asks(self, before: list[int], word: int, after: list[int]) -> Example:
        return Example([*before, MASK, *after], [*before, word, *after], len(before))

    def inputs(self, examples: Sequence[Example]) -> tuple[Tensor, ...]:
        return pad([each.source for each in examples])

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        return self.model.read(ids, lengths)

    def gathers(self, ids: Tensor, lengths: Tensor) -> Tensor:
        return mean_pool(self(ids, lengths), lengths)


class Decodes(Family):
    """It says each word after those before it: Day 9's model."""

    share = 0.0

    def __init__(self, seed: int):
        super().__init__()
        torch.manual_seed(seed)
        self.model = DecoderOnly(sizes())
        self.blocks, self.head = self.model.stack.blocks, self.model.output

    def noised(self, text: list[int]) -> Example:
        return Example([], text)

    def asks(self, before: list[int], word: int, after: list[int]) -> Example:
        return Example([], [*before, word, *after], len(before))

    def inputs(self, examples: Sequence[Example]) -> tuple[Tensor, ...]:
        return (shifted(examples),)

    def forward(self, ids: Tensor) -> Tensor:
        stack = self.model.stack
        return stack.run(stack.embedding(ids), is_causal=True)[0]

    def gathers(self, ids: Tensor, lengths: Tensor) -> Tensor:
        return mean_pool(self(behind_start(ids)), lengths + 1)


def encoder_decoder(vocab_size: int, n_layers: int, seed: int) -> tuple[Transformer, nn.Module]:
    """Make one of so many blocks in each part, of today's width, and return all of its blocks."""
    torch.manual_seed(seed)
    model = Transformer(replace(sizes(n_layers), vocab_size=vocab_size))
    return model, nn.ModuleList([model.encoder.blocks, model.decoder.blocks])


class HidesSpans(Family):
    """An encoder reads, and a decoder writes what is missing: T5's spans (Raffel et al., 2020)."""

    share = 0.15

    def __init__(self, seed: int):
        super().__init__()
        self.sentinels = range(len(vocabulary()), len(vocabulary()) + N_SENTINELS)
        # half of an encoder's blocks in each part, as in BART: about as many parameters
        self.model, self.blocks = encoder_decoder(self.sentinels.stop, N_LAYERS // 2, seed)
        self.head = self.model.decoder.output

    def noised(self, text: list[int]) -> Example:
        return Example(*hide_spans(text, draw_spans(len(text), self.share), self.sentinels))

    def asks(self, before: list[int], word: int, after: list[int]) -> Example:
        gap = len(before), len(before) + 1
        return Example(*hide_spans([*before, word, *after], [gap], self.sentinels), place=1)

    def inputs(self, examples: Sequence[Example]) -> tuple[Tensor, ...]:
        return *pad([each.source for each in examples]), shifted(examples)

    def forward(self, source: Tensor, lengths: Tensor, target_in: Tensor) -> Tensor:
        _, memory = self.model.encode(source, lengths)
        decoder = self.model.decoder
        return decoder.run(decoder.embedding(target_in), memory)[0]

    def gathers(self, ids: Tensor, lengths: Tensor) -> Tensor:
        return self(ids, lengths, ids.new_full((len(ids), 1), BOS))[:, 0]


class Infills(HidesSpans):
    """An encoder reads, and a decoder writes all anew: BART's noise (Lewis et al., 2020)."""

    share = 0.3

    def noised(self, text: list[int]) -> Example:
        return Example(infill(text, draw_infilling(len(text), self.share)), [*text, EOS])

    def asks(self, before: list[int], word: int, after: list[int]) -> Example:
        text = [*before, word, *after, EOS]
        return Example([*before, MASK, *after], text, len(before))

    def gathers(self, ids: Tensor, lengths: Tensor) -> Tensor:
        return mean_pool(self(ids, lengths, behind_start(ids)), lengths + 1)


FAMILIES: dict[str, type[Family]] = {
    "encoder": Encodes,
    "decoder": Decodes,
    "both, spans": HidesSpans,
    "both, infilling": Infills,
}


def behind_start(ids: Tensor) -> Tensor:
    """What a decoder reads of a whole text, (B, 1 + T)."""
    return F.pad(ids, (1, 0), value=BOS)


def shifted(examples: Sequence[Example]) -> Tensor:
    """What a decoder reads, (B, T): BOS, and the target without its last."""
    return pad([[BOS, *each.target[:-1]] for each in examples])[0]


# Training -----------------------------------------------------------------------------------------


class Noised:
    """Batches (*inputs, target) for `fit`: the passages of `Hidden`, as a family takes them."""

    def __init__(self, steps: int, family: Family):
        self.passages = Hidden(steps, mask=lambda ids: (ids, ids))
        self.family = family

    def __len__(self) -> int:
        return len(self.passages)

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        for ids, lengths, _ in self.passages:
            texts = [row[:n].tolist() for row, n in zip(ids, lengths, strict=True)]
            examples = [self.family.noised(text) for text in texts]
            target, _ = pad([each.target for each in examples])
            yield *self.family.inputs(examples), target.masked_fill(target == PAD, IGNORE)


def at_rates(
    model: nn.Module, blocks: nn.Module, steps: int, factor: float
) -> tuple[MuonAndAdamW, torch.optim.lr_scheduler.OneCycleLR]:
    """`with_muon`, with its rates times a factor."""
    optimiser, _ = with_muon(model, blocks, steps)
    rates = [factor * group["max_lr"] for group in optimiser.param_groups]
    return optimiser, torch.optim.lr_scheduler.OneCycleLR(
        optimiser, rates, total_steps=steps, pct_start=1 / 7, cycle_momentum=False
    )


def learn(family: Family, steps: int, factor: float = 1.0, seed: int = 0) -> History:
    """Pre-train a family, at the rates of `with_muon` times a factor."""
    optimiser, schedule = at_rates(family, family.blocks, steps, factor)
    loss = partial(masked_word_loss, family.head)
    batches = family.batches(steps)
    return fit(family, batches, loss, optimiser, epochs=1, seed=seed, schedule=schedule)


class Classifies(nn.Module):
    """A copy of a family, and a new layer, which begins with all classes alike.

    Shapes: ids (B, T) and lengths (B,) to logits (B, n_classes).
    """

    def __init__(self, family: Family, n_classes: int):
        super().__init__()
        self.family = deepcopy(family)
        self.output = nn.Linear(sizes().d_model, n_classes)
        nn.init.zeros_(self.output.weight)
        nn.init.zeros_(self.output.bias)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        return self.output(self.family.gathers(ids, lengths))
