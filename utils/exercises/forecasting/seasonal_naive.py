"""Forecast the same as last week, day by day."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def seasonal_naive(past: Tensor, T: int, season: int) -> Tensor:
    """Repeat the last season for T steps: step t is as the step one season before it.

    If T is longer than a season, its steps repeat as well.
    Shapes: past (B, S), at least a season long, to (B, T).
    """
    last = past[:, -season:]
    return last[:, torch.arange(T) % season]


exercise = Exercise(seasonal_naive, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("exactly one season, of a past that is two")
def one_season():
    return [(random(1, 6), 3, 3), (random(1, 8), 4, 4)]


@exercise.stage("a past that doesn't begin with a season")
def odd_past():
    return [(random(1, 17), 7, 7), (random(2, 9), 4, 4)]


@exercise.stage("a part of a season")
def part():
    return [(random(2, 12), 2, 5), (random(3, 16), 3, 7)]


@exercise.stage("more than a season, and whole ones")
def more():
    return [(random(2, 16), 9, 4), (random(3, 19), 17, 7), (random(4, 9), 6, 3)]


@exercise.stage("a season of one step, and a past of one season")
def edges():
    return [(random(2, 5), 3, 1), (random(3, 6), 10, 6)]


# What goes wrong ----------------------------------------------------------------------------------


def at(past: Tensor, index: Tensor) -> Tensor:
    """Take steps by their number; those before the first are counted from the end."""
    return past[:, index % past.shape[1]]


def steps(T: int) -> Tensor:
    return torch.arange(T)


@exercise.mistake("that is the first season: the nearest one is at the end of the past.")
def first_season(past, T, season):
    return at(past, steps(T) % season)


@exercise.mistake(
    "the day of the week is correct, but it is that of the first season: the last one is nearer."
)
def first_season_in_phase(past, T, season):
    return at(past, (past.shape[1] + steps(T)) % season)


@exercise.mistake("all steps are the last value: that is the naive forecast without a season.")
def last_value(past, T, season):
    return past[:, -1:].expand(-1, T)


@exercise.mistake("that is one step too early: a whole season lies between a step and its copy.")
def a_step_early(past, T, season):
    before = past[:, -season - 1 : -1]
    return before[:, steps(T) % before.shape[1]]


@exercise.mistake("that is one step too late: a whole season lies between a step and its copy.")
def a_step_late(past, T, season):
    return at(past, past.shape[1] - season + (steps(T) + 1) % season)


@exercise.mistake("the season runs backwards: its first step comes first.")
def backwards(past, T, season):
    return at(past, past.shape[1] - 1 - steps(T) % season)


@exercise.mistake(
    "you repeat the last T steps, however long a season is: its length decides, not the horizon."
)
def last_T(past, T, season):
    return past[:, -T:]


@exercise.mistake(
    "that is one season, whatever T is: repeat it if T is longer, and stop where T is shorter."
)
def one_season_only(past, T, season):
    return past[:, -season:]


@exercise.mistake("these are whole seasons: the forecast ends after T steps.")
def whole_seasons(past, T, season):
    return past[:, -season:].repeat(1, T // season + 1)


@exercise.mistake("only whole seasons are forecast: a part of one may be left at the end.")
def part_missing(past, T, season):
    return past[:, -season:].repeat(1, T // season)


@exercise.mistake("the season is repeated downwards, as new series: it goes on along the steps.")
def repeated_downwards(past, T, season):
    return past[:, -season:].repeat(T // season + 1, 1)[:, :T]


@exercise.mistake(
    "a slice from a negative index to 0 or beyond has nothing in it: yours does where T isn't "
    "shorter than a season."
)
def empty_slice(past, T, season):
    return past[:, -season : T - season]


@exercise.mistake(
    "every step gets the same value: step t should get the value one season before step t."
)
def first_of_the_season(past, T, season):
    return past[:, -season, None].expand(-1, T)


@exercise.mistake("your forecast ends with the season: if T is longer, it has to begin again.")
def cut_at_the_season(past, T, season):
    return past[:, -season:][:, :T]


@exercise.mistake(
    "an index that is negative counts from the end, but after a season yours isn't negative any "
    "more: it goes on at the beginning of the past."
)
def on_from_the_front(past, T, season):
    return at(past, steps(T) - season)


@exercise.mistake(
    "each value is repeated by itself: the season is repeated as a whole, in its order."
)
def each_repeated(past, T, season):
    return past[:, -season:].repeat_interleave(-(-T // season), dim=1)[:, :T]


@exercise.mistake("after one season yours repeats its last value: the whole season comes again.")
def then_the_last_value(past, T, season):
    return at(past, past.shape[1] - season + steps(T).clamp(max=season - 1))


@exercise.mistake("that is the mean of the last season, at each step: each has a value of its own.")
def mean_of_the_season(past, T, season):
    return past[:, -season:].mean(1, keepdim=True).expand(-1, T)


@exercise.mistake(
    "that is the mean over all seasons: a naive forecast takes the last one alone, which knows "
    "the level of today."
)
def mean_of_seasons(past, T, season):
    n = past.shape[1] // season
    means = past[:, -n * season :].unflatten(1, (n, season)).mean(1)
    return means[:, steps(T) % season]


@exercise.mistake("that is two seasons ago: the last one is nearer.")
def two_seasons_ago(past, T, season):
    return at(past, past.shape[1] - 2 * season + steps(T) % season)


@exercise.mistake("yours returns the past as well: return the T steps that follow alone.")
def past_as_well(past, T, season):
    return torch.cat([past, seasonal_naive(past, T, season)], dim=1)


@exercise.mistake(
    "you cut and repeat along the series, from the first axis: steps are along the second."
)
def along_the_series(past, T, season):
    return past[-season:].repeat(-(-T // season), 1)[:T]


@exercise.mistake("all series get the first one's forecast: each has a season of its own.")
def first_series(past, T, season):
    return seasonal_naive(past[:1].expand_as(past), T, season)


@exercise.mistake(
    "the growth from season to season is added: a naive forecast repeats what was, without a trend."
)
def with_a_trend(past, T, season):
    before = at(past, past.shape[1] - 2 * season + steps(T) % season)
    last = seasonal_naive(past, T, season)
    return last + (last - before) * (1 + steps(T) // season)


@exercise.mistake("the axes are exchanged: return a row for each series, a column for each step.")
def as_columns(past, T, season):
    return seasonal_naive(past, T, season).mT


@exercise.mistake("the season is a step too short: how many values has it, from -season on?")
def season_too_short(past, T, season):
    return at(past, past.shape[1] - season + 1 + steps(T) % max(1, season - 1))
