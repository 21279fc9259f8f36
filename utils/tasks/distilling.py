"""Day 11: a student of half the blocks learns from its teacher, as DistilBERT did from BERT.

Shapes: ids (B, T), padded behind their ends, lengths (B,); vectors (B, T, D).
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.attention import padding_mask
from utils.pretraining import (
    IGNORE,
    MaskedLanguageModel,
    cosine_loss,
    soft_target_loss,
)
from utils.tasks.pretraining import Hidden, with_muon
from utils.training.loop import History, fit, mode

TAU = 2.0  # temperature


class Weights(NamedTuple):
    """What each part of the loss counts; the defaults are those of the published script.

    (Hugging Face's examples/distillation, of 2019, which trained DistilBERT.)
    """

    words: float = 2.0
    soft: float = 5.0
    cosine: float = 1.0


class BesideTeacher(nn.Module):
    """A student that reads what its teacher reads, which is no part of it, and is not trained.

    Shapes: ids and lengths to the vectors of both, (B, T, D), and what is real, (B, T).
    """

    def __init__(self, student: MaskedLanguageModel, teacher: MaskedLanguageModel):
        super().__init__()
        self.student, self.read_by_teacher = student, torch.no_grad()(teacher.read)

    def forward(self, ids: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        real = padding_mask(lengths, ids.shape[1])[:, 0]
        return self.student.read(ids, lengths), self.read_by_teacher(ids, lengths), real


def distil(
    teacher: MaskedLanguageModel,
    student: MaskedLanguageModel,
    batches: Hidden,
    seed: int = 0,
    *,
    weights: Weights = Weights(),  # noqa: B008, it never changes
    soft_targets: Callable[[Tensor, Tensor, float], Tensor] = soft_target_loss,
) -> History:
    """Train a student on batches that it sees once each, at the rates of `pretrain`.

    The loss is of masked words, soft targets for them, and of the angle between the last vectors,
    over all that is real (Sanh et al., 2019, §2). The published script has soft targets for all
    that is real, unless `restrict_ce_to_mask` is asked for, as here: it halves the logits' cost.
    The teacher is in evaluation mode meanwhile, and stays as it is.
    """

    def loss(read: tuple[Tensor, Tensor, Tensor], target: Tensor) -> Tensor:
        x, of_teacher, real = read
        asked = target != IGNORE
        logits = student.head(x[asked])
        with torch.no_grad():
            taught = teacher.head(of_teacher[asked])
        return (
            weights.words * F.cross_entropy(logits, target[asked])
            + weights.soft * soft_targets(logits, taught, TAU)
            + weights.cosine * cosine_loss(x, of_teacher, real)
        )

    optimiser, schedule = with_muon(student, student.encoder.blocks, len(batches))
    both = BesideTeacher(student, teacher)
    with mode(teacher, training=False):
        return fit(both, batches, loss, optimiser, epochs=1, seed=seed, schedule=schedule)


# What came of it ----------------------------------------------------------------------------------


class Size(NamedTuple):
    """How many numbers a model has learned, and the bytes of all numbers that it keeps."""

    parameters: int
    bytes: int


def sizes_of(model: nn.Module) -> Size:
    """Count a model's numbers; those that are shared count once."""
    parameters = sum(weight.numel() for weight in model.parameters())
    held = sum(x.numel() * x.element_size() for x in [*model.parameters(), *model.buffers()])
    return Size(parameters, held)
