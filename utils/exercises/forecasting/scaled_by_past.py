"""Bring a series to a scale, without a look at what is still to come."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def scaled_by_past(series: Tensor, origin: int) -> Tensor:
    """Return each series, moved and divided so that its past has mean 0 and deviation 1.

    The past is the first `origin` steps, and what comes later is moved and divided as they are. The
    deviation is the root of the mean square distance from the mean, over all steps of the past; a
    past that stays the same is only moved to 0.
    Shapes: series (B, n) to the same; each series has a scale of its own.
    """
    past = series[:, :origin]
    mean = past.mean(dim=1, keepdim=True)  # (B, 1)
    deviation = past.std(dim=1, keepdim=True, unbiased=False)
    return (series - mean) / torch.where(deviation == 0, 1, deviation)


exercise = Exercise(scaled_by_past, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, n: int) -> Tensor:
    """Draw series of several levels and sizes; by its trend, a future isn't as its past."""
    level, size, trend = 5 * random(B, 1), random(B, 1).exp(), random(B, 1)
    return level + size * random(B, n) + trend * torch.arange(n)


@exercise.stage("one series")
def one_series():
    return [(drawn(1, 6), 4), (drawn(1, 9), 5)]


@exercise.stage("several series, of other levels and sizes")
def several_series():
    return [(drawn(3, 8), 5), (drawn(2, 14), 11)]


@exercise.stage("as many series as steps")
def as_many():
    return [(drawn(7, 7), 4)]


@exercise.stage("a past that stays the same")
def constant_past():
    series = drawn(4, 9)
    series[1, :6], series[3, :6] = 0, 3
    return [(series, 6)]


# What goes wrong ----------------------------------------------------------------------------------


def middle(part: Tensor) -> Tensor:
    return part.mean(dim=1, keepdim=True)


def or_1(size: Tensor) -> Tensor:
    return torch.where(size == 0, 1, size)


def spread(part: Tensor) -> Tensor:
    return or_1(part.std(dim=1, keepdim=True, unbiased=False))


def scaled(series: Tensor, part: Tensor) -> Tensor:
    return (series - middle(part)) / spread(part)


@exercise.mistake(
    "the leak is still there: mean and deviation are those of the whole series, so that each step "
    "of the past knows something about the future."
)
def of_all(series, origin):
    return scaled(series, series)


@exercise.mistake("half of the leak is left: the deviation still sees the whole series.")
def deviation_of_all(series, origin):
    return (series - middle(series[:, :origin])) / spread(series)


@exercise.mistake("half of the leak is left: the mean still sees the whole series.")
def mean_of_all(series, origin):
    return (series - middle(series)) / spread(series[:, :origin])


@exercise.mistake("your scale is that of the future, the part that isn't known.")
def of_the_future(series, origin):
    return scaled(series, series[:, origin:])


@exercise.mistake(
    "past and future each have a scale of their own: that of the future isn't known, and its level "
    "is lost."
)
def each_part(series, origin):
    past, future = series[:, :origin], series[:, origin:]
    return torch.cat([scaled(past, past), scaled(future, future)], dim=1)


@exercise.mistake("the future is left as it was: it needs the scale of the past as well.")
def future_as_it_was(series, origin):
    past, future = series[:, :origin], series[:, origin:]
    return torch.cat([scaled(past, past), future], dim=1)


@exercise.mistake("the past is left as it was: it needs its scale as well.")
def past_as_it_was(series, origin):
    past = series[:, :origin]
    return torch.cat([past, scaled(series, past)[:, origin:]], dim=1)


@exercise.mistake("you return the past alone: the future is brought to the same scale.")
def past_alone(series, origin):
    return scaled_by_past(series, origin)[:, :origin]


@exercise.mistake("you return the future alone: the past is on the same scale, too.")
def future_alone(series, origin):
    return scaled_by_past(series, origin)[:, origin:]


@exercise.mistake(
    "the leak is one step wide: with `origin` steps known, the step of that number isn't."
)
def one_too_many(series, origin):
    return scaled(series, series[:, : origin + 1])


@exercise.mistake("the last known step is left out: a slice ends before its end.")
def one_too_few(series, origin):
    return scaled(series, series[:, : origin - 1])


@exercise.mistake("the first known step is left out: the past begins with step 0.")
def without_the_first(series, origin):
    return scaled(series, series[:, 1:origin])


@exercise.mistake("your part is at the end of the series: the past is at its beginning.")
def last_steps(series, origin):
    return scaled(series, series[:, -origin:])


@exercise.mistake(
    "`std` divides by one step less than there are, unless it is told otherwise: an estimate "
    "without bias, which isn't asked for."
)
def unbiased(series, origin):
    past = series[:, :origin]
    return (series - middle(past)) / or_1(past.std(dim=1, keepdim=True))


@exercise.mistake(
    "the leak is still there, with all steps in mean and deviation; and `std` divides by one less "
    "than there are."
)
def of_all_unbiased(series, origin):
    return (series - middle(series)) / series.std(dim=1, keepdim=True)


@exercise.mistake("you divide by the variance: the deviation is its root.")
def variance(series, origin):
    past = series[:, :origin]
    return (series - middle(past)) / spread(past).square()


@exercise.mistake("the series is moved, and not divided: series of other sizes stay apart.")
def only_moved(series, origin):
    return series - middle(series[:, :origin])


@exercise.mistake("the last known value is moved to 0: it is the past's mean that should be 0.")
def last_value_at_0(series, origin):
    return (series - series[:, origin - 1 : origin]) / spread(series[:, :origin])


@exercise.mistake("the series is divided, and not moved: its past should have a mean of 0.")
def only_divided(series, origin):
    return series / spread(series[:, :origin])


@exercise.mistake("you divide before you move: the mean belongs to the series as it was.")
def divided_first(series, origin):
    past = series[:, :origin]
    return series / spread(past) - middle(past)


@exercise.mistake("you multiply by the deviation: that is the way back.")
def multiplied(series, origin):
    past = series[:, :origin]
    return (series - middle(past)) * spread(past)


@exercise.mistake(
    "your deviation is a distance from 0: it is one from the mean, or a high level looks like a "
    "large spread."
)
def from_0(series, origin):
    past = series[:, :origin]
    return (series - middle(past)) / or_1(middle(past.square()).sqrt())


@exercise.mistake("that is the mean absolute distance: a deviation squares distances first.")
def absolute(series, origin):
    moved = series - middle(series[:, :origin])
    return moved / or_1(middle(moved[:, :origin].abs()))


@exercise.mistake(
    "that is a scale from the smallest to the largest value of the past: it should have mean 0 and "
    "deviation 1."
)
def least_to_most(series, origin):
    past = series[:, :origin]
    low, high = past.amin(dim=1, keepdim=True), past.amax(dim=1, keepdim=True)
    return (series - low) / or_1(high - low)


@exercise.mistake(
    "you divide by the largest value of the past: it should have mean 0 and deviation 1."
)
def by_the_largest(series, origin):
    return series / or_1(series[:, :origin].abs().amax(dim=1, keepdim=True))


@exercise.mistake(
    "all series have one scale, of all their pasts: each has a level and a size of its own."
)
def all_together(series, origin):
    past = series[:, :origin]
    return (series - past.mean()) / past.std(unbiased=False)


@exercise.mistake("all series have the first one's scale: each has a level and a size of its own.")
def first_series(series, origin):
    return scaled(series, series[:1, :origin])


@exercise.mistake(
    "mean and deviation are over the series, at each step: they are over the steps, of each series."
)
def over_the_series(series, origin):
    return scaled(series.mT, series.mT).mT


def scaled_over_dim_0(series: Tensor, part: Tensor) -> Tensor:
    """Scaled over the series, whose deviation divides by one less, which is 0 for a single one."""
    distance = part - part.mean(dim=0)
    deviation = (distance.square().sum(dim=0) / (len(part) - 1)).sqrt()
    return (series - part.mean(dim=0)) / deviation


@exercise.mistake("you average over the series: each series has its own mean, over its own steps.")
def over_dim_0(series, origin):
    return scaled_over_dim_0(series, series[:, :origin])


@exercise.mistake(
    "you average over all series at each step, so a single one gives NaN: average over the steps "
    "of each series."
)
def whole_over_dim_0(series, origin):
    return scaled_over_dim_0(series, series)


@exercise.mistake(
    "a small number is added to the deviation: every result is then a little too small. Ask "
    "whether it is 0."
)
def a_little_more(series, origin):
    past = series[:, :origin]
    return (series - middle(past)) / (past.std(dim=1, keepdim=True, unbiased=False) + 1e-3)


@exercise.mistake(
    "where the past stays the same, its deviation is 0, and you divide by it: such a past is moved "
    "alone."
)
def divided_by_0(series, origin):
    past = series[:, :origin]
    return (series - middle(past)) / past.std(dim=1, keepdim=True, unbiased=False)


@exercise.mistake(
    "where the past stays the same, you divide by a tiny number instead of 0: the future becomes "
    "enormous. Such a past is moved alone."
)
def divided_by_a_tiny_number(series, origin):
    past = series[:, :origin]
    deviation = past.std(dim=1, keepdim=True, unbiased=False)
    return (series - middle(past)) / deviation.clamp(min=1e-8)


@exercise.mistake(
    "where the past stays the same, you divide by 0, and clear up afterwards: that makes 0 of 0/0, "
    "but the largest number there is of an infinite future. Such a past is moved alone."
)
def infinity_to_the_largest(series, origin):
    return divided_by_0(series, origin).nan_to_num(0)


def flat(series: Tensor, origin: int) -> Tensor:
    return (series[:, :origin] == series[:, :1]).all(dim=1, keepdim=True)


@exercise.mistake(
    "where the past stays the same, your future is 0 as well: it is moved as the past is."
)
def constant_to_0(series, origin):
    return torch.where(flat(series, origin), 0, scaled_by_past(series, origin))


@exercise.mistake("where the past stays the same, you left the series as it was: it is moved to 0.")
def constant_left(series, origin):
    return torch.where(flat(series, origin), series, scaled_by_past(series, origin))
