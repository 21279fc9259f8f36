"""The mean of the words of each text, in a batch that is padded."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def masked_mean(x: Tensor, lengths: Tensor) -> Tensor:
    """Return the mean of each text's vectors (B, D), without padding.

    Shapes: x (B, T, D), lengths (B,): the first lengths[b] places of text b are words.
    """
    real = torch.arange(x.shape[1]) < lengths[:, None]  # (B, T)
    return (x * real[..., None]).sum(dim=1) / lengths[:, None]


exercise = Exercise(masked_mean, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def drawn(D: int, *lengths: int, T: int) -> tuple:
    return random(len(lengths), T, D), torch.tensor(lengths)


@exercise.stage("one text and its padding")
def one_text():
    return [drawn(2, 3, T=4)]


@exercise.stage("texts of several lengths")
def several():
    return [drawn(3, 2, 5, 4, T=6), drawn(4, 3, 1, 7, 2, 6, T=7)]


@exercise.stage("texts that fill their rows, and one of a single word")
def full_and_short():
    return [drawn(2, 5, 5, 5, T=5), drawn(4, 1, 4, 2, T=4)]


# What goes wrong ----------------------------------------------------------------------------------


def real(x: Tensor, lengths: Tensor) -> Tensor:
    return (torch.arange(x.shape[1]) < lengths[:, None])[..., None]


@exercise.mistake("padding is in your mean: what stands there is no word.")
def over_padding(x, lengths):
    return x.mean(dim=1)


@exercise.mistake(
    "you divide by the length of the row: a short text gets smaller the longer its neighbours are."
)
def divided_by_T(x, lengths):
    return (x * real(x, lengths)).mean(dim=1)


@exercise.mistake("that is a sum: a longer text would weigh more.")
def sum_for_mean(x, lengths):
    return (x * real(x, lengths)).sum(dim=1)


@exercise.mistake("you add the padding up and divide by the number of words.")
def padding_in_the_sum(x, lengths):
    return x.sum(dim=1) / lengths[:, None]


@exercise.mistake("all texts are divided by the mean length; each has one of its own.")
def by_the_mean_length(x, lengths):
    return (x * real(x, lengths)).sum(dim=1) / lengths.double().mean()


@exercise.mistake("you divide by the length of the text before: which axis do lengths run along?")
def another_rows_length(x, lengths):
    return (x * real(x, lengths)).sum(dim=1) / lengths.roll(1)[:, None]


@exercise.mistake(
    "each column is divided by another text's length: lengths need an axis, [:, None]."
)
def lengths_along_the_columns(x, lengths):
    return (x * real(x, lengths)).sum(dim=1) / lengths


@exercise.mistake("that is the largest number of each column, not the mean.")
def max_for_mean(x, lengths):
    return x.masked_fill(~real(x, lengths), float("-inf")).max(dim=1).values


@exercise.mistake("that is the first word's vector alone, as if it were [CLS].")
def first_word(x, lengths):
    return x[:, 0]


@exercise.mistake("that is the last word's vector alone, as a recurrent network's last state is.")
def last_word(x, lengths):
    return x[torch.arange(len(x)), lengths - 1]


@exercise.mistake("your mask goes one place too far: of places 0 to n - 1, n are words.")
def one_too_many(x, lengths):
    return (x * real(x, lengths + 1)).sum(dim=1) / lengths[:, None]


@exercise.mistake("that is the mean of one place more than there are words: n places begin at 0.")
def one_place_more(x, lengths):
    words = real(x, lengths + 1)
    return (x * words).sum(dim=1) / words.sum(dim=1)


@exercise.mistake("that is the mean without the last word: n words end at place n - 1.")
def one_place_less(x, lengths):
    words = real(x, lengths - 1)
    return (x * words).sum(dim=1) / words.sum(dim=1)


@exercise.mistake("the last word is missing, and counted: which place is it at, from 0?")
def one_too_few(x, lengths):
    return (x * real(x, lengths - 1)).sum(dim=1) / lengths[:, None]


@exercise.mistake("you keep the padding and drop the words: the mask is the wrong way round.")
def inverted(x, lengths):
    padding = ~real(x, lengths)
    return (x * padding).sum(dim=1) / padding.sum(dim=1)


@exercise.mistake("you divide by the root of the length: that keeps a variance, not a mean.")
def by_the_root(x, lengths):
    return (x * real(x, lengths)).sum(dim=1) / lengths[:, None].sqrt()
