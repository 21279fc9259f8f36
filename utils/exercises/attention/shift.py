"""The decoder's input during training: the true target, one step late."""

import functools
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.attention.sentences import sentences
from utils.exercises.checking import Exercise
from utils.seq2seq import BOS, EOS, PAD


def shift(target: Tensor) -> Tensor:
    """Shapes: target (B, T), each row ended by EOS, then PAD; to decoder input (B, T)."""
    begin = torch.full_like(target[:, :1], BOS)
    return torch.cat([begin, target[:, :-1]], dim=1)


def with_or_without_end(answer: Callable) -> Callable:
    """An answer in which PAD may be read in place of an EOS, since nothing is asked there."""

    @functools.wraps(answer)
    def within(target):
        match answer(target):
            case Tensor() as read if read.shape == target.shape:
                return torch.where((target == PAD) & (read == PAD), shift(target), read)
            case given:
                return given

    return within


exercise = Exercise(shift, gradient=False, runs=True, through=with_or_without_end)


# What it is tried on ------------------------------------------------------------------------------


def ended(width: int, *lengths: int) -> tuple[Tensor]:
    """Targets of these lengths, each followed by EOS, in which no two symbols are the same."""
    ids = sentences(EOS + 2, width, *lengths) + torch.arange(width)
    ids = ids.masked_fill(torch.arange(width) >= torch.tensor(lengths)[:, None], PAD)
    return (F.pad(ids, (0, 1)).scatter(1, torch.tensor(lengths)[:, None], EOS),)


@exercise.stage("one target")
def one_target():
    return [ended(4, 4)]


@exercise.stage("targets with padding")
def with_padding():
    return [ended(5, 5, 2, 3), ended(3, 1, 3)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "nothing is shifted: at each step the decoder reads the very symbol that it has to predict."
)
def not_shifted(target):
    return target


@exercise.mistake(
    "it is shifted the other way: the decoder reads the symbol *after* the one it has to predict."
)
def to_the_left(target):
    return torch.cat([target[:, 1:], torch.full_like(target[:, :1], BOS)], dim=1)


@exercise.mistake(
    "`roll` brings the last symbol to the front: only BOS should come before the first."
)
def rolled(target):
    return target.roll(1, dims=1)


@exercise.mistake(
    "BOS replaces the first symbol: it should come before it, and all others move on."
)
def first_overwritten(target):
    return torch.cat([torch.full_like(target[:, :1], BOS), target[:, 1:]], dim=1)


@exercise.mistake("PAD comes first: it is BOS that tells the decoder to begin.")
def begun_with_padding(target):
    return F.pad(target[:, :-1], (1, 0), value=PAD)


@exercise.mistake("EOS comes first: it is BOS that tells the decoder to begin.")
def begun_with_end(target):
    return F.pad(target[:, :-1], (1, 0), value=EOS)


@exercise.mistake(
    "it is one symbol too long: the last symbol of the target is written, but never read."
)
def one_too_long(target):
    return F.pad(target, (1, 0), value=BOS)


@exercise.mistake("each step reads the symbol two steps before: shift by one.")
def shifted_twice(target):
    return shift(shift(target))


@exercise.mistake("that moves the sentences along the batch: time is the second axis.")
def along_the_batch(target):
    return torch.cat([torch.full_like(target[:1], BOS), target[:-1]])


@exercise.mistake("BOS comes last: the decoder reads it first, before it has written anything.")
def begun_at_the_end(target):
    return torch.cat([target[:, :-1], torch.full_like(target[:, :1], BOS)], dim=1)


@exercise.mistake(
    "you cut off the last symbol, and put nothing in front: what does the decoder read first?"
)
def cut_alone(target):
    return target[:, :-1]
