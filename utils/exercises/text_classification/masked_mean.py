"""The mean of the words of each text, in a batch that is padded."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, looping, random


def masked_mean(x: Tensor, lengths: Tensor) -> Tensor:
    """Return the mean of each text's vectors (B, D), without padding.

    Shapes: x (B, T, D), lengths (B,): the first lengths[b] positions of text b are words.
    """
    real = torch.arange(x.shape[1]) < lengths[:, None]  # (B, T)
    return (x * real[..., None]).sum(dim=1) / lengths[:, None]


exercise = Exercise(
    masked_mean,
    runs=True,
    but=looping(lambda: drawn(3, 4, T=5), lambda: drawn(3, *6 * [4, 2, 5], T=5), "texts"),
)


# What it is tried on ------------------------------------------------------------------------------


def drawn(D: int, *lengths: int, T: int) -> tuple:
    return random(len(lengths), T, D), torch.tensor(lengths)


@exercise.stage("one text and its padding")
def one_text():
    return [drawn(2, 3, T=4)]


@exercise.stage("texts of different lengths")
def several():
    return [drawn(3, 2, 5, 4, T=6), drawn(4, 3, 1, 7, 2, 6, T=7)]


@exercise.stage("texts without padding, and one of a single word")
def full_and_short():
    return [drawn(2, 5, 5, 5, T=5), drawn(4, 1, 4, 2, T=4)]


# What goes wrong ----------------------------------------------------------------------------------


def real(x: Tensor, lengths: Tensor) -> Tensor:
    return (torch.arange(x.shape[1]) < lengths[:, None])[..., None]


@exercise.mistake("your mean includes the padding: leave it out.")
def over_padding(x, lengths):
    return x.mean(dim=1)


@exercise.mistake(
    "you divide by the length of the row: divide by each text's own length, or padding dilutes it."
)
def divided_by_T(x, lengths):
    return (x * real(x, lengths)).mean(dim=1)


@exercise.mistake("that is a sum: a longer text would get a larger vector.")
def sum_for_mean(x, lengths):
    return (x * real(x, lengths)).sum(dim=1)


@exercise.mistake("you include the padding in the sum, and divide by the number of words.")
def padding_in_the_sum(x, lengths):
    return x.sum(dim=1) / lengths[:, None]


@exercise.mistake("you divide all texts by the mean length: each has its own.")
def by_the_mean_length(x, lengths):
    return (x * real(x, lengths)).sum(dim=1) / lengths.double().mean()


@exercise.mistake("you divide by the length of the text before: which axis do lengths run along?")
def another_rows_length(x, lengths):
    return (x * real(x, lengths)).sum(dim=1) / lengths.roll(1)[:, None]


@exercise.mistake(
    "each column is divided by another text's length: give lengths an axis, [:, None]."
)
def lengths_along_the_columns(x, lengths):
    return (x * real(x, lengths)).sum(dim=1) / lengths


@exercise.mistake("that is the largest number of each column, not the mean.")
def max_for_mean(x, lengths):
    return x.masked_fill(~real(x, lengths), float("-inf")).max(dim=1).values


@exercise.mistake("that is only the first word's vector, as if it were [CLS].")
def first_word(x, lengths):
    return x[:, 0]


@exercise.mistake("that is only the last word's vector, like a recurrent network's last state.")
def last_word(x, lengths):
    return x[torch.arange(len(x)), lengths - 1]


@exercise.mistake("your mask goes one position too far: the n words are at positions 0 to n - 1.")
def one_too_many(x, lengths):
    return (x * real(x, lengths + 1)).sum(dim=1) / lengths[:, None]


@exercise.mistake(
    "that is the mean over one position too many: the n words are at positions 0 to n - 1."
)
def one_place_more(x, lengths):
    words = real(x, lengths + 1)
    return (x * words).sum(dim=1) / words.sum(dim=1)


@exercise.mistake(
    "that is the mean without the last word: the n words are at positions 0 to n - 1."
)
def one_place_less(x, lengths):
    words = real(x, lengths - 1)
    return (x * words).sum(dim=1) / words.sum(dim=1)


@exercise.mistake(
    "the last word is missing from the sum, but counted in the divisor: at which position is it, "
    "counting from 0?"
)
def one_too_few(x, lengths):
    return (x * real(x, lengths - 1)).sum(dim=1) / lengths[:, None]


@exercise.mistake("you keep the padding and drop the words: the mask is the wrong way round.")
def inverted(x, lengths):
    padding = ~real(x, lengths)
    return (x * padding).sum(dim=1) / padding.sum(dim=1)


@exercise.mistake("you divide by the root of the length: that keeps a variance, not a mean.")
def by_the_root(x, lengths):
    return (x * real(x, lengths)).sum(dim=1) / lengths[:, None].sqrt()


@exercise.mistake(
    "you cut the batch after its longest text: the shorter ones still have padding in their means."
)
def cut_after_the_longest(x, lengths):
    return x[:, : lengths.max()].mean(dim=1)


@exercise.mistake("you divide by the number of words in the whole batch: each text has its own.")
def by_all_words(x, lengths):
    return (x * real(x, lengths)).sum(dim=1) / lengths.sum()


@exercise.mistake("that is one mean for the whole batch: return one for each text.")
def one_for_the_batch(x, lengths):
    return x[real(x, lengths)[..., 0]].mean(dim=0)


@exercise.mistake(
    "positions and lengths are compared along the same axis: give lengths one of their own, "
    "[:, None], before you compare."
)
def compared_along_one_axis(x, lengths):
    return (x * (torch.arange(x.shape[1]) < lengths)[..., None]).sum(dim=1) / lengths[:, None]


@exercise.mistake(
    "your mask (B, T) is aligned with the last axes of x, (T, D): give it one more axis at the end."
)
def mask_without_an_axis(x, lengths):
    return (x * (torch.arange(x.shape[1]) < lengths[:, None])).sum(dim=1) / lengths[:, None]


@exercise.mistake("you divide twice: `mean` has already divided by T.")
def mean_divided(x, lengths):
    return (x * real(x, lengths)).mean(1) / lengths[:, None]


@exercise.mistake(
    "you average the last positions of a row: the words come first, then the padding."
)
def last_positions(x, lengths):
    return torch.stack([r[len(r) - n :].mean(0) for r, n in zip(x, lengths.tolist(), strict=True)])


@exercise.mistake(
    "you add up the padding, and divide by the number of words: the mask is inverted."
)
def padding_over_words(x, lengths):
    return (x * ~real(x, lengths)).sum(dim=1) / lengths[:, None]
