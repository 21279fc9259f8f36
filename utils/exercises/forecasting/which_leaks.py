"""Which steps of a pipeline see the future? Change it, and look whether the past changes."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.exercises.forecasting.pipeline import Step, all_steps, some


def which_leaks(steps: Mapping[str, Step], series: Tensor, origin: int) -> list[str]:
    """Return the names of the steps that see the future, in their order.

    A step makes of a series (n,) one number a day, (n,), that a model reads on that day. Days
    before the origin are known, and their numbers must not depend on the series from the origin on.
    """
    other = series.clone()
    other[origin:] += 1000 * torch.rand(len(series) - origin)

    def same_past(step: Step) -> bool:
        return torch.equal(step(series)[:origin], step(other)[:origin])

    return [name for name, step in steps.items() if not same_past(step)]


exercise = Exercise(which_leaks, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def sales(n: int) -> Tensor:
    """Draw whole numbers, so that sums are exact, that grow: the largest day is in the future."""
    return (10 + 4 * random(n).abs() + 1.5 * torch.arange(n)).round()


@exercise.stage("a value of last week, and one of tomorrow")
def lags():
    names = "seven days ago", "tomorrow's value", "day of the week"
    return [(some(20, 12, *names), sales(20), 12), (some(26, 17, *names[::-1]), sales(26), 17)]


@exercise.stage("scales")
def scales():
    names = "scaled by the known days' mean", "scaled by the mean", "share of the largest day yet"
    more = "share of the largest day", "divided by the range of the last ten days"
    growth = "times the growth on the last day"
    return [(some(26, 15, *names, *more, growth), sales(26), 15)]


@exercise.stage("means")
def means():
    names = "mean of the last seven days", "mean of seven days around", "mean of the known days"
    return [(some(28, 17, *names, "the week's mean"), sales(28), 17)]


@exercise.stage("steps that see the future on few days")
def on_few_days():
    names = "change since yesterday", "yesterday's value, the gap filled with the mean"
    return [
        (some(33, 15, *names, "tomorrow's value"), sales(33), 15),
        (some(28, 22, "the day's own value", "the week's mean", "in seven days"), sales(28), 22),
    ]


@exercise.stage("a whole pipeline")
def pipeline():
    return [(all_steps(n, at), sales(n), at) for n, at in ((31, 22), (45, 29), (40, 24))]


# What goes wrong ----------------------------------------------------------------------------------


def found(steps, series: Tensor, other: Tensor, compare: Callable) -> list[str]:
    """The names of the steps whose numbers on both series are found to differ."""
    return [name for name, step in steps.items() if bool(compare(step(series), step(other)))]


def later(series: Tensor, origin: int) -> Tensor:
    """The series with other values from the origin on, each changed by another number."""
    change = 1000 * torch.rand(len(series) - origin)
    return torch.cat([series[:origin], series[origin:] + change])


def until(end: int) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda a, b: (a[:end] != b[:end]).any()


@exercise.mistake(
    "you compare all days: after the origin, numbers may change with the series, and should."
)
def all_days(steps, series, origin):
    return found(steps, series, later(series, origin), lambda a, b: (a != b).any())


@exercise.mistake(
    "you change the past, and look at what changes later: what a model reads may depend on the "
    "past."
)
def past_changed(steps, series, origin):
    other = torch.cat([0 * series[:origin], series[origin:]])
    return found(steps, series, other, lambda a, b: (a[origin:] != b[origin:]).any())


@exercise.mistake("you change the past and compare the past: change what isn't known yet.")
def past_changed_and_compared(steps, series, origin):
    other = torch.cat([series[:origin] + 1000, series[origin:]])
    return found(steps, series, other, until(origin))


@exercise.mistake("you change the whole series, the past included: then its numbers change, too.")
def all_changed(steps, series, origin):
    return found(steps, series, series + 1000, until(origin))


@exercise.mistake(
    "the two series have nothing in common, the past included: then its numbers differ, too."
)
def nothing_in_common(steps, series, origin):
    return found(steps, series, 3 + 0.7 * series.flip(0), until(origin))


@exercise.mistake("these are the steps that don't leak: return those that do.")
def exchanged(steps, series, origin):
    leaks = which_leaks(steps, series, origin)
    return [name for name in steps if name not in leaks]


@exercise.mistake(
    "you add the same number to every later day: deviation and range stay as they are, so a step "
    "that uses these isn't noticed."
)
def moved_alike(steps, series, origin):
    other = torch.cat([series[:origin], series[origin:] + 1000])
    return found(steps, series, other, until(origin))


@exercise.mistake(
    "you multiply all later days by the same number: their ratios stay as they are, so a step that "
    "uses one isn't noticed. Change each day by another number."
)
def multiplied(steps, series, origin):
    other = torch.cat([series[:origin], 2 * series[origin:]])
    return found(steps, series, other, until(origin))


@exercise.mistake(
    "you change the signs of all later days: their range and their ratios stay as they are, so a "
    "step that uses these isn't noticed."
)
def signs_changed(steps, series, origin):
    other = torch.cat([series[:origin], -series[origin:]])
    return found(steps, series, other, until(origin))


@exercise.mistake(
    "you add the same number to all later days, and try another order, too: their range stays as "
    "it is in both, so a step that uses it isn't noticed. Change each day by another number."
)
def moved_and_reordered(steps, series, origin):
    moved, other = (f(steps, series, origin) for f in (moved_alike, reordered))
    return [name for name in steps if name in moved or name in other]


@exercise.mistake(
    "you cut the future off: a step is for n days, and may need all of them, as one does that "
    "compares with a plan. Change the later days instead."
)
def cut_off(steps, series, origin):
    return [
        name
        for name, step in steps.items()
        if not torch.equal(step(series)[:origin], step(series[:origin]))
    ]


@exercise.mistake(
    "not every step can be differentiated: change the days from the origin on, and compare the "
    "numbers before it."
)
def by_gradients(steps, series, origin):
    def gradient(step: Step) -> Tensor:
        tracked = series.clone().requires_grad_()
        step(tracked)[:origin].sum().backward()
        return tracked.grad[origin:]

    return [name for name, step in steps.items() if gradient(step).any()]


@exercise.mistake(
    "you put the future into another order: its mean and its largest day stay as they are, so a "
    "step that looks at these isn't noticed."
)
def reordered(steps, series, origin):
    other = torch.cat([series[:origin], series[origin:].flip(0)])
    return found(steps, series, other, until(origin))


@exercise.mistake(
    "you change a single day: a step that looks further ahead, or at another day, isn't noticed."
)
def one_day_changed(steps, series, origin):
    other = series.clone()
    other[origin] += 1000
    return found(steps, series, other, until(origin))


@exercise.mistake(
    "you change the last day alone: a step that looks a few days ahead isn't noticed."
)
def last_day_changed(steps, series, origin):
    other = series.clone()
    other[-1] += 1000
    return found(steps, series, other, until(origin))


@exercise.mistake(
    "you compare one day more than is known: that of the origin is the first one that may change."
)
def a_day_more(steps, series, origin):
    return found(steps, series, later(series, origin), until(origin + 1))


@exercise.mistake(
    "you compare one day less than is known: a look ahead by one day shows on the last known one."
)
def a_day_less(steps, series, origin):
    return found(steps, series, later(series, origin), until(origin - 1))


@exercise.mistake("the day of the origin stays as it was in yours: the change begins with it.")
def changed_a_day_late(steps, series, origin):
    return found(steps, series, later(series, origin + 1), until(origin))


@exercise.mistake(
    "the last known day is changed as well in yours: then a day's own value seems to leak."
)
def changed_a_day_early(steps, series, origin):
    return found(steps, series, later(series, origin - 1), until(origin))


@exercise.mistake("you look at the last known day alone: a step may leak on other days.")
def last_known_day(steps, series, origin):
    return found(steps, series, later(series, origin), lambda a, b: a[origin - 1] != b[origin - 1])


@exercise.mistake("you look at the first day alone: a step may leak on other days.")
def first_day(steps, series, origin):
    return found(steps, series, later(series, origin), lambda a, b: a[0] != b[0])


@exercise.mistake("a step leaks in yours if all known days change: one is enough.")
def every_day(steps, series, origin):
    return found(
        steps, series, later(series, origin), lambda a, b: (a[:origin] != b[:origin]).all()
    )


@exercise.mistake(
    "you compare what a step gives with the series itself: then all that changes numbers leaks. "
    "Compare what it gives for two futures."
)
def with_the_series(steps, series, origin):
    return found(steps, series, series, lambda a, _: (a != series)[:origin].any())


@exercise.mistake(
    "you compare the future's numbers: a leak shows where the series is the same, in the past."
)
def future_compared(steps, series, origin):
    return found(
        steps, series, later(series, origin), lambda a, b: (a[origin:] != b[origin:]).any()
    )


@exercise.mistake("you return at the first step that leaks: others may, too.")
def first_alone(steps, series, origin):
    return which_leaks(steps, series, origin)[:1]


@exercise.mistake("these are yes and no for each step: return the names of those that leak.")
def yes_or_no(steps, series, origin):
    return [name in which_leaks(steps, series, origin) for name in steps]


@exercise.mistake("these are the steps' numbers: return their names.")
def numbered(steps, series, origin):
    leaks = which_leaks(steps, series, origin)
    return [i for i, name in enumerate(steps) if name in leaks]


@exercise.mistake("the names are sorted: leave them in the order of the steps.")
def in_alphabetical_order(steps, series, origin):
    return sorted(which_leaks(steps, series, origin))


@exercise.mistake("no step leaks in yours: is the series that you change still the one you keep?")
def none_found(steps, series, origin):
    return []
