"""[CLS]: one more position, which attends to the text and speaks for it."""

from collections.abc import Callable

import torch
from torch import Tensor

from utils.attention import masked_softmax
from utils.exercises.checking import Exercise, random

Attend = Callable[[Tensor, Tensor], Tensor]  # x (B, S, D), mask (B, 1, S) to (B, S, D)


def cls_pool(attend: Attend, x: Tensor, lengths: Tensor, cls: Tensor) -> Tensor:
    """Put cls before each text, let all positions attend to the real ones; return cls's output.

    attend: takes x (B, S, D) and a mask (B, 1, S), True where a position may be attended to, and
        returns (B, S, D).
    Shapes: x (B, T, D), lengths (B,) in words, cls (D,), to (B, D).
    """
    x, lengths = with_cls(x, cls), lengths + 1
    return attend(x, first(lengths, x))[:, 0]


def with_cls(x: Tensor, cls: Tensor) -> Tensor:
    return torch.cat([cls.expand(len(x), 1, -1), x], dim=1)  # (B, T + 1, D)


def first(lengths: Tensor, x: Tensor) -> Tensor:
    """A mask (B, 1, S), True at the first positions of each row."""
    return (torch.arange(x.shape[1]) < lengths[:, None])[:, None]


exercise = Exercise(cls_pool)


# What it is tried on ------------------------------------------------------------------------------


def attend(x: Tensor, mask: Tensor) -> Tensor:
    """Add to each position the values of positions like itself."""
    return x + masked_softmax(x @ x.mT, mask) @ x


def drawn(D: int, *lengths: int, T: int) -> tuple:
    return attend, random(len(lengths), T, D), torch.tensor(lengths), random(D)


@exercise.stage("one text without padding")
def one_text():
    return [drawn(3, 2, T=2)]


@exercise.stage("one text and its padding")
def padded():
    return [drawn(2, 3, T=5)]


@exercise.stage("texts of different lengths")
def several():
    return [drawn(3, 2, 5, 4, T=6), drawn(4, 3, 1, 7, 2, T=7)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("your mask hides [CLS], which may be attended to like any other position.")
def cls_masked(attend, x, lengths, cls):
    x = with_cls(x, cls)
    return attend(x, first(lengths + 1, x) & (torch.arange(x.shape[1]) > 0))[:, 0]


@exercise.mistake("you mask the last word of each text: with [CLS], there is one more position.")
def lengths_as_before(attend, x, lengths, cls):
    x = with_cls(x, cls)
    return attend(x, first(lengths, x))[:, 0]


@exercise.mistake("you mask nothing: [CLS] reads the padding, too.")
def no_mask(attend, x, lengths, cls):
    x = with_cls(x, cls)
    return attend(x, torch.ones(len(x), 1, x.shape[1], dtype=torch.bool))[:, 0]


@exercise.mistake("your mask lets one padded position through.")
def two_longer(attend, x, lengths, cls):
    x = with_cls(x, cls)
    return attend(x, first(lengths + 2, x))[:, 0]


@exercise.mistake("you return the last position of the row; [CLS] is at the first.")
def last_place(attend, x, lengths, cls):
    x = with_cls(x, cls)
    return attend(x, first(lengths + 1, x))[:, -1]


@exercise.mistake("you return the last word of each text; [CLS] is at the first position.")
def last_word(attend, x, lengths, cls):
    x = with_cls(x, cls)
    return attend(x, first(lengths + 1, x))[torch.arange(len(x)), lengths]


@exercise.mistake("you return the first word: [CLS] comes before it.")
def first_word(attend, x, lengths, cls):
    x = with_cls(x, cls)
    return attend(x, first(lengths + 1, x))[:, 1]


@exercise.mistake("your [CLS] replaces the first word: it should come before it.")
def in_place_of_a_word(attend, x, lengths, cls):
    x = torch.cat([cls.expand(len(x), 1, -1), x[:, 1:]], dim=1)
    return attend(x, first(lengths, x))[:, 0]


@exercise.mistake("your [CLS] comes after the padding: it should come before the first word.")
def behind(attend, x, lengths, cls):
    x = torch.cat([x, cls.expand(len(x), 1, -1)], dim=1)
    return attend(x, first(lengths + 1, x))[:, -1]


@exercise.mistake("you average all positions, including [CLS] and padding; return [CLS] alone.")
def averaged(attend, x, lengths, cls):
    x = with_cls(x, cls)
    return attend(x, first(lengths + 1, x)).mean(dim=1)


@exercise.mistake("that is the input at [CLS]: return its output, after attention.")
def before_the_look(attend, x, lengths, cls):
    return cls.expand(len(x), -1)


@exercise.mistake("your mask is the wrong way round: it lets only the padding through.")
def inverted(attend, x, lengths, cls):
    x = with_cls(x, cls)
    return attend(x, ~first(lengths + 1, x))[:, 0]


@exercise.mistake("your mask is (B, S): attention wants an axis for the queries, too, (B, 1, S).")
def mask_without_queries(attend, x, lengths, cls):
    x = with_cls(x, cls)
    return attend(x, first(lengths + 1, x)[:, 0])[:, 0]


@exercise.mistake("you average [CLS] and the words: return the output at [CLS] alone.")
def averaged_without_padding(attend, x, lengths, cls):
    x = with_cls(x, cls)
    real = first(lengths + 1, x).mT
    return (attend(x, real.mT) * real).sum(dim=1) / real.sum(dim=1)


@exercise.mistake("those are the outputs of all positions: return that of [CLS].")
def all_outputs(attend, x, lengths, cls):
    x, lengths = with_cls(x, cls), lengths + 1
    return attend(x, first(lengths, x))


@exercise.mistake("your result has one axis too many: each text has one vector, (B, D).")
def axis_kept(attend, x, lengths, cls):
    return cls_pool(attend, x, lengths, cls)[:, None]
