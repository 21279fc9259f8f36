"""[CLS]: one more place, which may look at the text and speaks for it."""

from collections.abc import Callable

import torch
from torch import Tensor

from utils.attention import masked_softmax
from utils.exercises.checking import Exercise, random

Attend = Callable[[Tensor, Tensor], Tensor]  # x (B, S, D), mask (B, 1, S) to (B, S, D)


def cls_pool(attend: Attend, x: Tensor, lengths: Tensor, cls: Tensor) -> Tensor:
    """Put cls before each text, let all places attend to what is real, and return what cls became.

    attend: takes x (B, S, D) and a mask (B, 1, S), True where a place may be attended to, and
        returns (B, S, D).
    Shapes: x (B, T, D), lengths (B,) in words, cls (D,), to (B, D).
    """
    x, lengths = with_cls(x, cls), lengths + 1
    return attend(x, first(lengths, x))[:, 0]


def with_cls(x: Tensor, cls: Tensor) -> Tensor:
    return torch.cat([cls.expand(len(x), 1, -1), x], dim=1)  # (B, T + 1, D)


def first(lengths: Tensor, x: Tensor) -> Tensor:
    """A mask (B, 1, S), True at the first places of each row."""
    return (torch.arange(x.shape[1]) < lengths[:, None])[:, None]


exercise = Exercise(cls_pool)


# What it is tried on ------------------------------------------------------------------------------


def attend(x: Tensor, mask: Tensor) -> Tensor:
    """Add to each place what it finds at places like itself."""
    return x + masked_softmax(x @ x.mT, mask) @ x


def drawn(D: int, *lengths: int, T: int) -> tuple:
    return attend, random(len(lengths), T, D), torch.tensor(lengths), random(D)


@exercise.stage("one text without padding")
def one_text():
    return [drawn(3, 2, T=2)]


@exercise.stage("one text and its padding")
def padded():
    return [drawn(2, 3, T=5)]


@exercise.stage("texts of several lengths")
def several():
    return [drawn(3, 2, 5, 4, T=6), drawn(4, 3, 1, 7, 2, T=7)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("your mask hides [CLS], which may be attended to like any other place.")
def cls_masked(attend, x, lengths, cls):
    x = with_cls(x, cls)
    return attend(x, first(lengths + 1, x) & (torch.arange(x.shape[1]) > 0))[:, 0]


@exercise.mistake("the last word of each text is masked: with [CLS], there is one place more.")
def lengths_as_before(attend, x, lengths, cls):
    x = with_cls(x, cls)
    return attend(x, first(lengths, x))[:, 0]


@exercise.mistake("nothing is masked: [CLS] reads the padding too.")
def no_mask(attend, x, lengths, cls):
    x = with_cls(x, cls)
    return attend(x, torch.ones(len(x), 1, x.shape[1], dtype=torch.bool))[:, 0]


@exercise.mistake("your mask lets one place of padding through.")
def two_longer(attend, x, lengths, cls):
    x = with_cls(x, cls)
    return attend(x, first(lengths + 2, x))[:, 0]


@exercise.mistake("you read off the last place of the row; [CLS] stands at the first.")
def last_place(attend, x, lengths, cls):
    x = with_cls(x, cls)
    return attend(x, first(lengths + 1, x))[:, -1]


@exercise.mistake("you read off the last word of each text; [CLS] stands at the first place.")
def last_word(attend, x, lengths, cls):
    x = with_cls(x, cls)
    return attend(x, first(lengths + 1, x))[torch.arange(len(x)), lengths]


@exercise.mistake("you read off the first word: [CLS] stands before it.")
def first_word(attend, x, lengths, cls):
    x = with_cls(x, cls)
    return attend(x, first(lengths + 1, x))[:, 1]


@exercise.mistake("[CLS] replaces the first word: it should stand before it.")
def in_place_of_a_word(attend, x, lengths, cls):
    x = torch.cat([cls.expand(len(x), 1, -1), x[:, 1:]], dim=1)
    return attend(x, first(lengths, x))[:, 0]


@exercise.mistake("[CLS] stands behind the padding, where it is counted as one more word.")
def behind(attend, x, lengths, cls):
    x = torch.cat([x, cls.expand(len(x), 1, -1)], dim=1)
    return attend(x, first(lengths + 1, x))[:, -1]


@exercise.mistake("you average all places, [CLS] and padding too; [CLS] speaks for the text alone.")
def averaged(attend, x, lengths, cls):
    x = with_cls(x, cls)
    return attend(x, first(lengths + 1, x)).mean(dim=1)


@exercise.mistake("that is [CLS] as it went in: it should have looked at the text.")
def before_the_look(attend, x, lengths, cls):
    return cls.expand(len(x), -1)


@exercise.mistake("your mask is the wrong way round: it lets the padding through alone.")
def inverted(attend, x, lengths, cls):
    x = with_cls(x, cls)
    return attend(x, ~first(lengths + 1, x))[:, 0]
