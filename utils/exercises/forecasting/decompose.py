"""Split a series into a trend and the rest, as DLinear does before it forecasts."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def decompose(series: Tensor, kernel_size: int) -> tuple[Tensor, Tensor]:
    """Return the trend, a moving average, and the rest, the series without it.

    The average is over `kernel_size` steps, an odd number, with each step in the middle of its own.
    Beyond its ends a series goes on as its first, or its last, value.
    Shapes: series (B, S) to two of the same.
    """
    half = kernel_size // 2
    first, last = series[:, :1].expand(-1, half), series[:, -1:].expand(-1, half)
    longer = torch.cat([first, series, last], dim=1)  # (B, S + kernel_size - 1)
    trend = longer.unfold(1, kernel_size, 1).mean(dim=2)
    return trend, series - trend


exercise = Exercise(decompose, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("three steps")
def three_steps():
    return [(random(1, 6), 3), (4 + random(1, 7), 3)]


@exercise.stage("longer averages")
def longer_averages():
    return [(random(1, 12) - 2, 7), (3 + random(1, 11), 5)]


@exercise.stage("several series")
def several():
    return [(2 + random(3, 14), 5), (random(4, 10), 3), (random(7, 7) - 1, 5)]


@exercise.stage("an average as long as the series")
def as_long():
    return [(1 + random(2, 9), 9)]


# What goes wrong ----------------------------------------------------------------------------------


def with_rest(series: Tensor, trend: Tensor) -> tuple[Tensor, Tensor]:
    return trend, series - trend


def lengthened(series: Tensor, before: int, after: int) -> Tensor:
    """Repeat the first and the last value."""
    return F.pad(series[:, None], (before, after), mode="replicate")[:, 0]


def means(longer: Tensor, k: int) -> Tensor:
    return longer.unfold(1, k, 1).mean(dim=2)


def average(series: Tensor, k: int) -> Tensor:
    return means(lengthened(series, k // 2, k // 2), k)


@exercise.mistake(
    "the series goes on as zeros in yours: then the trend bends to 0 at both ends, and the rest "
    "has steps there that the series doesn't have."
)
def zeros(series, kernel_size):
    half = kernel_size // 2
    return with_rest(series, means(F.pad(series, (half, half)), kernel_size))


@exercise.mistake(
    "at the ends yours is a mean of fewer steps: here the series goes on there, as its last value."
)
def fewer_at_the_ends(series, kernel_size):
    trend = F.avg_pool1d(series[:, None], kernel_size, 1, kernel_size // 2, count_include_pad=False)
    return with_rest(series, trend[:, 0])


@exercise.mistake("the series is mirrored at its ends: here its last value is repeated.")
def mirrored(series, kernel_size):
    half = kernel_size // 2
    longer = F.pad(series[:, None], (half, half), mode="reflect")[:, 0]
    return with_rest(series, means(longer, kernel_size))


@exercise.mistake(
    "the series is mirrored at its ends, the last value included: only that one is repeated here."
)
def mirrored_with_the_last(series, kernel_size):
    half = kernel_size // 2
    longer = [series[:, :half].flip(1), series, series[:, series.shape[1] - half :].flip(1)]
    return with_rest(series, means(torch.cat(longer, dim=1), kernel_size))


@exercise.mistake("after its end, yours begins again: here its last value is repeated.")
def in_a_circle(series, kernel_size):
    half = kernel_size // 2
    longer = F.pad(series[:, None], (half, half), mode="circular")[:, 0]
    return with_rest(series, means(longer, kernel_size))


@exercise.mistake(
    "beyond its ends, yours goes on as its mean: its first, or last, value is repeated."
)
def with_its_mean(series, kernel_size):
    half = series.mean(dim=1, keepdim=True).expand(-1, kernel_size // 2)
    return with_rest(series, means(torch.cat([half, series, half], dim=1), kernel_size))


@exercise.mistake("beyond its ends, yours goes on with first and last value exchanged.")
def ends_exchanged(series, kernel_size):
    half = kernel_size // 2
    longer = [series[:, -1:].expand(-1, half), series, series[:, :1].expand(-1, half)]
    return with_rest(series, means(torch.cat(longer, dim=1), kernel_size))


@exercise.mistake(
    "your average ends with its step: that lags behind, and here each step is in the middle."
)
def backwards(series, kernel_size):
    return with_rest(series, means(lengthened(series, kernel_size - 1, 0), kernel_size))


@exercise.mistake(
    "your average ends with its step, and has fewer steps at first: each step is in the middle of "
    "its own."
)
def backwards_and_fewer(series, kernel_size):
    starts = [max(0, t - kernel_size + 1) for t in range(series.shape[1])]
    trend = [series[:, start : t + 1].mean(dim=1) for t, start in enumerate(starts)]
    return with_rest(series, torch.stack(trend, dim=1))


@exercise.mistake(
    "your average ends with its step, with zeros before the first one: each step is in the middle "
    "of its own."
)
def backwards_from_zeros(series, kernel_size):
    return with_rest(series, means(F.pad(series, (kernel_size - 1, 0)), kernel_size))


@exercise.mistake(
    "your average begins with its step, and runs ahead: here each step is in the middle."
)
def ahead(series, kernel_size):
    return with_rest(series, means(lengthened(series, 0, kernel_size - 1), kernel_size))


@exercise.mistake(
    "a step lies beside the middle of its average: on the left there is one more than on the right."
)
def off_to_the_left(series, kernel_size):
    half = kernel_size // 2
    return with_rest(series, means(lengthened(series, half + 1, half - 1), kernel_size))


@exercise.mistake(
    "the kernel is even: a slice ends before its end, so the last step of each average is missing."
)
def last_missing(series, kernel_size):
    half = kernel_size // 2
    return with_rest(series, means(lengthened(series, half, half - 1), kernel_size - 1))


@exercise.mistake("the kernel is even: the first step of each average is missing.")
def first_missing(series, kernel_size):
    half = kernel_size // 2
    return with_rest(series, means(lengthened(series, half - 1, half), kernel_size - 1))


@exercise.mistake(
    "a slice ends before its end, so the last step of each average is missing, and at the ends "
    "there are fewer still."
)
def slice_too_short(series, kernel_size):
    half, days = kernel_size // 2, range(series.shape[1])
    trend = [series[:, max(0, t - half) : t + half].mean(dim=1) for t in days]
    return with_rest(series, torch.stack(trend, dim=1))


@exercise.mistake("the kernel is even, one step too long, so that no step is in its middle.")
def one_more(series, kernel_size):
    half = kernel_size // 2
    return with_rest(series, means(lengthened(series, half + 1, half), kernel_size + 1))


@exercise.mistake(
    "you go `kernel_size` steps to each side: that many are in the whole average, the middle "
    "included."
)
def as_many_on_each_side(series, kernel_size):
    return with_rest(series, average(series, 2 * kernel_size + 1))


@exercise.mistake("the middle itself is missing: the step belongs to its average.")
def without_the_middle(series, kernel_size):
    around = kernel_size * average(series, kernel_size) - series
    return with_rest(series, around / (kernel_size - 1))


@exercise.mistake("nothing is added at the ends, so that the trend is shorter than the series.")
def shorter(series, kernel_size):
    half = kernel_size // 2
    trend = means(series, kernel_size)
    return trend, series[:, half : series.shape[1] - half] - trend


@exercise.mistake(
    "the trend's ends are repeated, and not the series': then the last steps are in no average of "
    "their own."
)
def trend_lengthened(series, kernel_size):
    half = kernel_size // 2
    return with_rest(series, lengthened(means(series, kernel_size), half, half))


@exercise.mistake("the trend is filled up with zeros: the series is what goes on at its ends.")
def trend_filled_up(series, kernel_size):
    half = kernel_size // 2
    return with_rest(series, F.pad(means(series, kernel_size), (half, half)))


@exercise.mistake("the steps of an average are added up: divide by how many there are.")
def summed_up(series, kernel_size):
    return with_rest(series, kernel_size * average(series, kernel_size))


@exercise.mistake("that is a moving median: here it is a mean.")
def median(series, kernel_size):
    half = kernel_size // 2
    longer = lengthened(series, half, half).unfold(1, kernel_size, 1)
    return with_rest(series, longer.median(dim=2).values)


@exercise.mistake("the average is taken twice: once is enough for this trend.")
def twice(series, kernel_size):
    return with_rest(series, average(average(series, kernel_size), kernel_size))


@exercise.mistake("your trend is the mean of the whole series: a trend moves along with it.")
def mean_of_all(series, kernel_size):
    return with_rest(series, series.mean(dim=1, keepdim=True).expand_as(series))


@exercise.mistake(
    "your trend is the mean of all that came before: it looks `kernel_size` steps wide."
)
def mean_so_far(series, kernel_size):
    counts = torch.arange(1, series.shape[1] + 1)
    return with_rest(series, series.cumsum(dim=1) / counts)


@exercise.mistake("the rest is reversed: it is the series without its trend.")
def rest_reversed(series, kernel_size):
    trend, rest = decompose(series, kernel_size)
    return trend, -rest


@exercise.mistake("you divide by the trend: trend and rest should add up to the series.")
def rest_as_a_ratio(series, kernel_size):
    trend, _ = decompose(series, kernel_size)
    return trend, series / trend


@exercise.mistake("your rest is the series as it was: its trend has to be taken out.")
def rest_is_the_series(series, kernel_size):
    return decompose(series, kernel_size)[0], series


@exercise.mistake("the two are exchanged: first the trend, then the rest.")
def exchanged(series, kernel_size):
    return decompose(series, kernel_size)[::-1]


@exercise.mistake("that is the trend alone: return the rest as well.")
def trend_alone(series, kernel_size):
    return decompose(series, kernel_size)[0]


@exercise.mistake("that is the rest alone: return the trend as well.")
def rest_alone(series, kernel_size):
    return decompose(series, kernel_size)[1]


@exercise.mistake("the average runs over the series, and not along one: steps are the second axis.")
def over_the_series(series, kernel_size):
    return with_rest(series, average(series.mT, kernel_size).mT)


@exercise.mistake("an average is over all series at once: each has a trend of its own.")
def one_for_all(series, kernel_size):
    trend = average(series, kernel_size).mean(dim=0, keepdim=True)
    return with_rest(series, trend.expand_as(series))
