"""Day 10's pairs: words are hidden in two parts of a text, and perhaps their order is asked, too.

Shapes: ids and types (B, T), padded behind their ends, lengths (B,).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.data.text import pad
from utils.pretraining import (
    IGNORE,
    MaskedLanguageModel,
    PairEmbedding,
    make_pair,
    masked_word_loss,
    two_parts,
)
from utils.tasks.held_out import all_hidden, held_out
from utils.tasks.pretraining import SHARE, B, documents, hide, sizes, with_muon
from utils.tasks.sharing import with_large_rows
from utils.training.loop import History, fit, mode, seeded
from utils.transformer import Parts

QUESTIONS_ASKED = {"words alone": None, "next sentence": "next", "sentence order": "order"}
LENGTH = 96  # ids of two parts that follow; with another in place of one, they are at most T
N_JUDGED = 100  # batches


class Pairs:
    """Batches (ids, lengths, types, targets) for `fit`. All chance is torch's generator's.

    Of a target (B, T) what stands at BOS is the pair's label; if nothing is asked about the pair,
    its second part always follows.
    question: one of `pretraining.QUESTIONS`, or None.
    mask: what hides: ids (B, T) to what is read and the targets.
    """

    def __init__(
        self,
        documents: Sequence[Sequence[list[int]]],
        steps: int,
        question: str | None,
        mask: Callable[[Tensor], tuple[Tensor, Tensor]],
    ):
        self.steps, self.question, self.mask = steps, question, mask
        self.documents = [document for document in documents if len(document) > 1]
        self.sizes = torch.tensor([float(sum(map(len, of))) for of in self.documents])

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
        for _ in range(self.steps):
            pairs = [self._pair() for _ in range(B)]
            ids, lengths = pad([pair.ids for pair in pairs])
            types, _ = pad([pair.types for pair in pairs])
            hidden, target = self.mask(ids)
            if self.question is not None:
                target[:, 0] = torch.tensor([pair.label for pair in pairs])
            yield hidden, lengths, types, target

    def _pair(self):
        of, other = self.sizes.multinomial(2).tolist()
        drawn = (
            *two_parts(self.documents[of], LENGTH),
            two_parts(self.documents[other], LENGTH)[1],
        )
        first, second, other = (part[:-1] for part in drawn)  # the pair brings its own EOS
        die = 0.0 if self.question is None else torch.rand(()).item()
        return make_pair(first, second, other, self.question or "next", die)


def new_pair_model(seed: int) -> MaskedLanguageModel:
    """Today's encoder with BERT's types and pooler, and what says whether a part follows."""
    torch.manual_seed(seed)
    parts = Parts(embedding=partial(PairEmbedding, max_len=None))
    return with_large_rows(MaskedLanguageModel(sizes(), parts, pooled=True, ordered=True))


class ReadsPairs(nn.Module):
    """A masked language model without its heads, which the loss calls.

    Shapes: ids and types (B, T), lengths (B,) to (B, T, D).
    """

    def __init__(self, model: MaskedLanguageModel):
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor, lengths: Tensor, types: Tensor) -> Tensor:
        return self.model.read(ids, lengths, types)


def pair_loss(model: MaskedLanguageModel, x: Tensor, target: Tensor) -> Tensor:
    """The loss of the words that are asked for, and that of the pairs (Devlin et al., A.2).

    Shapes: x (B, T, D); of the target (B, T), what stands at BOS is a label, or IGNORE in all rows.
    """
    words, labels = target[:, 1:], target[:, 0]
    loss = masked_word_loss(model.head, x[:, 1:], words)
    if (labels == IGNORE).all():
        return loss
    return loss + F.cross_entropy(model.order(model.pool(x)), labels)


def pretrain_on_pairs(
    model: MaskedLanguageModel, question: str | None, steps: int, seed: int = 0
) -> History:
    """Train a model on pairs that it sees once each, with `with_muon`, the pooler's matrix too."""
    batches = Pairs(documents(), steps, question, partial(hide, share=SHARE))
    matrices = nn.ModuleList([*model.encoder.blocks, model.pool])
    optimiser, schedule = with_muon(model, matrices, steps)
    loss = partial(pair_loss, model)
    return fit(ReadsPairs(model), batches, loss, optimiser, epochs=1, seed=seed, schedule=schedule)


@cache
def hidden_pairs() -> tuple[tuple[Tensor, ...], ...]:
    """The same batches (ids, lengths, types, targets) for all: held-out pairs with hidden words."""
    with seeded(0, 0):
        return tuple(Pairs(held_out(), N_JUDGED, None, all_hidden))


@torch.no_grad()
def pairs_right(model: MaskedLanguageModel, question: str) -> float:
    """Return how many held-out pairs a model says rightly of whether the second part follows."""
    shown = partial(hide, share=0.0)
    right = []
    with seeded(0, 0), mode(model, training=False):
        for ids, lengths, types, target in Pairs(held_out(), N_JUDGED, question, shown):
            logits = model.order(model.pool(model.read(ids, lengths, types)))
            right.append((logits.argmax(dim=1) == target[:, 0]).double())
    return torch.cat(right).mean().item()
