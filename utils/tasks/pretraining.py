"""Day 10's task: to guess hidden words in text without labels, then to tell with a few labels.

Shapes: ids (B, T), padded behind their ends, lengths (B,).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

import torch
from torch import Tensor, nn

from utils.arguments import check_choice
from utils.data.libraries import LIBRARIES, unlabelled
from utils.data.sources import other_version
from utils.data.text import EOS, SPECIAL, Vocabulary, pad
from utils.pretraining import MaskedLanguageModel, cast_dice, mask_words, masked_word_loss
from utils.show.views import models
from utils.tasks.reading import said_by_libraries
from utils.training.loop import History, fit
from utils.training.optimisers import MuonAndAdamW, hidden_matrices
from utils.training.recipes import clip_gradients
from utils.transformer import TransformerConfig
from utils.transformer.config import PAPERS

HIDDEN = "<mask>"
LEAST = 5  # times that a word occurs in the text if it has a number of its own
D, N_HEADS, D_FF, N_LAYERS = 64, 4, 128, 2
B, T = 8, 128
STEPS = 1500
SHARE = 0.5  # of the words are asked for
RATE, MATRIX_RATE = 8e-3, 2e-2  # of AdamW, and of Muon

# Text ---------------------------------------------------------------------------------------------


@cache
def vocabulary() -> Vocabulary:
    """The frequent words of what the libraries say where nobody is tested; HIDDEN is MASK.

    If other versions than the lock's are installed, these are the words that stored models know.
    """
    if any(map(other_version, LIBRARIES)):
        return Vocabulary(models.load("reader").header["words"][len(SPECIAL) :])
    counts = Counter(word for module in unlabelled() for said in module for word in said)
    return Vocabulary([HIDDEN, *(word for word, count in counts.items() if count >= LEAST)])


@cache
def documents() -> tuple[tuple[list[int], ...], ...]:
    """The same modules as ids: sentences, each with EOS behind it."""
    words = vocabulary()
    return tuple(tuple([*words.encode(said), EOS] for said in of) for of in unlabelled())


def one_sentence(document: Sequence[list[int]]) -> list[int]:
    """A sentence of a document, drawn with torch's generator."""
    return document[torch.randint(len(document), ()).item()]


def in_order(document: Sequence[list[int]], length: int = T) -> list[int]:
    """Neighbouring sentences of a document, up to a length, from one that is drawn on."""
    start = torch.randint(len(document), ()).item()
    return joined(document[start:], length)


def mixed(document: Sequence[list[int]], length: int = T) -> list[int]:
    """Sentences from all over a document, up to a length, in the order in which they are drawn."""
    order = torch.randperm(len(document)).tolist()
    return joined((document[place] for place in order), length)


def joined(said: Iterator[list[int]] | Sequence[list[int]], length: int) -> list[int]:
    """Sentences one behind the other, cut off at a length."""
    ids: list[int] = []
    for sentence in said:
        if len(ids) >= length:
            break
        ids += sentence
    return ids[:length]


PASSAGES: dict[str, Callable[[Sequence[list[int]]], list[int]]] = {
    "one sentence": one_sentence,
    "in order": in_order,
    "mixed": mixed,
}


class Hidden:
    """Batches (ids to read, lengths, targets) for `fit`: passages whose words are hidden anew.

    The longer a document, the more often a passage is of it. All chance is torch's generator's.
    passage: one of PASSAGES.
    n_words: of a batch, padding not counted, on average.
    mask: what hides: ids (B, T) to what is read and the targets.
    Raises: ValueError if there is no such passage.
    """

    def __init__(
        self,
        steps: int,
        passage: str = "mixed",
        n_words: int = B * T,
        mask: Callable[[Tensor], tuple[Tensor, Tensor]] | None = None,
    ):
        check_choice("passage", passage, PASSAGES)
        self.steps, self.passage = steps, PASSAGES[passage]
        self.documents = documents()
        self.sizes = torch.tensor([float(sum(map(len, of))) for of in self.documents])
        mean = self.sizes.sum().item() / sum(map(len, self.documents))
        self.n_rows = round(n_words / (mean if passage == "one sentence" else T))
        self.mask = mask or partial(hide, share=SHARE)

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        for _ in range(self.steps):
            chosen = self.sizes.multinomial(self.n_rows, replacement=True).tolist()
            ids, lengths = pad([self.passage(self.documents[number]) for number in chosen])
            hidden, target = self.mask(ids)
            yield hidden, lengths, target


def hide(ids: Tensor, share: float) -> tuple[Tensor, Tensor]:
    """Hide words with dice that are cast anew: `mask_words`."""
    return mask_words(ids, cast_dice(ids.shape, len(vocabulary())), share)


# The model ----------------------------------------------------------------------------------------


def sizes(n_layers: int = N_LAYERS, **others: object) -> TransformerConfig:
    """Today's blocks, of the size that is trained here."""
    known = {"d_model": D, "n_heads": N_HEADS, "d_ff": D_FF, "activation": "gelu"}
    how = {"norm": "pre", "positions": "rotary", "dropout": 0.0}
    return TransformerConfig(len(vocabulary()), n_layers=n_layers, **(known | how | others))


def new_model(seed: int, n_layers: int = N_LAYERS, **how: object) -> MaskedLanguageModel:
    """An encoder that has read nothing, and its head.

    how: as `MaskedLanguageModel` takes it.
    """
    torch.manual_seed(seed)
    return MaskedLanguageModel(sizes(n_layers), PAPERS, **how)


class Reads(nn.Module):
    """A masked language model without its head, which the loss calls: ids to (B, T, D)."""

    def __init__(self, model: MaskedLanguageModel):
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor, lengths: Tensor | None = None) -> Tensor:
        return self.model.read(ids, lengths)


def pretrain(model: MaskedLanguageModel, batches: Hidden, seed: int = 0) -> History:
    """Train a model on batches that it sees once each."""
    loss = partial(masked_word_loss, model.head)
    optimiser, schedule = with_muon(model, model.encoder.blocks, len(batches))
    return fit(Reads(model), batches, loss, optimiser, epochs=1, seed=seed, schedule=schedule)


def with_muon(
    model: nn.Module, blocks: nn.Module, steps: int
) -> tuple[MuonAndAdamW, torch.optim.lr_scheduler.OneCycleLR]:
    """Muon for the blocks' matrices and AdamW for all else, as yesterday's fastest run had them.

    The matrices decay by a tenth of their rate, all else doesn't.
    Rates rise for a seventh of the steps and fall again; gradients are clipped to a norm of 1.
    """
    matrices = hidden_matrices(blocks)
    chosen = {id(weight) for weight in matrices}
    others = [weight for weight in model.parameters() if id(weight) not in chosen]
    optimiser = MuonAndAdamW(
        matrices,
        [{"params": others, "weight_decay": 0.0}],
        matrix_rate=MATRIX_RATE,
        matrix_decay=0.1,
        rate=RATE,
        betas=(0.9, 0.999),
    )
    clip_gradients(optimiser, 1.0)
    rates = [group["lr"] for group in optimiser.param_groups]
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, rates, total_steps=steps, pct_start=1 / 7, cycle_momentum=False
    )
    return optimiser, schedule


def data() -> list:
    """What the libraries say, as bytes: the data of what is measured with it."""
    return said_by_libraries()
