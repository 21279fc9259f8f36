"""Forecast again and again, each time from all that was known by then."""

import functools
from collections.abc import Callable
from typing import Any

from torch import Tensor

from utils.exercises.checking import Exercise


def rolling_origin(n: int, first: int, T: int, step: int = 1) -> list[tuple[range, range]]:
    """Return for each origin which steps are known, and which are forecast.

    Of a series of n steps, the first `first` are known at the first origin, and `step` more at each
    that follows, for as long as T steps are left to forecast.
    Returns: pairs (known, forecast) of ranges, or lists, of numbers of steps, from 0 to n - 1.
    """
    origins = range(first, n - T + 1, step)
    return [(range(origin), range(origin, origin + T)) for origin in origins]


def in_lists(answer: Callable) -> Callable:
    """The answer with lists of numbers where it gives ranges or tensors of them."""

    @functools.wraps(answer)
    def listed(*inputs: int, **named: int) -> Any:
        return as_list(answer(*inputs, **named))

    return listed


def as_list(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(map(as_list, value))
    if isinstance(value, range):
        return list(value)
    return value.tolist() if isinstance(value, Tensor) else value


exercise = Exercise(in_lists(rolling_origin), gradient=False, runs=True, through=in_lists)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one origin, and one step to forecast")
def one_origin():
    return [(5, 4, 1, 1)]


@exercise.stage("one origin, and several steps to forecast")
def several_steps():
    return [(9, 6, 3, 1)]


@exercise.stage("several origins")
def several_origins():
    return [(7, 4, 1, 1), (11, 5, 2, 1)]


@exercise.stage("origins that move on by several steps, and end with the series")
def several_at_once():
    return [(13, 5, 2, 3), (17, 4, 3, 5)]


@exercise.stage("a series that goes on after the last forecast")
def left_over():
    return [(15, 4, 2, 4), (20, 6, 4, 3), (30, 7, 3, 11)]


# What goes wrong ----------------------------------------------------------------------------------


def rolled(origins, T: int, known=range, ahead: int = 0) -> list[tuple[list, list]]:
    """Origins with something else known, or a forecast that begins so many steps ahead."""
    return [
        (list(known(origin)), list(range(origin + ahead, origin + ahead + T))) for origin in origins
    ]


def origins_of(n: int, first: int, T: int, step: int) -> range:
    return range(first, n - T + 1, step)


@exercise.mistake(
    "the last origin is missing: a forecast may end with the last step of the series."
)
def last_missing(n, first, T, step):
    return rolled(range(first, n - T, step), T)


@exercise.mistake(
    "there is one origin too many: its forecast goes beyond the series, so it can't be judged."
)
def one_too_many(n, first, T, step):
    return rolled(range(first, n - T + 1 + step, step), T)


@exercise.mistake("the last forecast may end a step beyond the series: what would it be judged by?")
def one_beyond(n, first, T, step):
    return rolled(range(first, n - T + 2, step), T)


@exercise.mistake("you count how often the origin moves: there is one origin more than moves.")
def as_many_as_moves(n, first, T, step):
    return rolled(origins_of(n, first, T, step)[:-1], T)


@exercise.mistake(
    "you go on as long as one step is left: the last forecasts reach beyond the series."
)
def beyond_the_end(n, first, T, step):
    return rolled(range(first, n, step), T)


@exercise.mistake(
    "the last forecasts are cut off where the series ends: each should have T steps, or the "
    "errors are of different horizons."
)
def cut_off(n, first, T, step):
    origins = range(first, n, step)
    return [(list(range(origin)), list(range(origin, min(n, origin + T)))) for origin in origins]


@exercise.mistake("the forecast is a step too short: how many numbers are in the range?")
def too_short(n, first, T, step):
    return rolled(origins_of(n, first, T, step), T - 1)


@exercise.mistake("the forecast is a step too long: a range ends before its end.")
def too_long(n, first, T, step):
    return rolled(origins_of(n, first, T, step), T + 1)


@exercise.mistake(
    "the forecast begins a step too late: with `origin` steps known, the next one has that number."
)
def a_step_ahead(n, first, T, step):
    return rolled(range(first, n - T, step), T, ahead=1)


@exercise.mistake(
    "the forecast begins a step too late, so a step is neither known nor forecast: with `origin` "
    "steps known, the next one has that number."
)
def a_step_left_out(n, first, T, step):
    return rolled(origins_of(n, first, T, step), T, ahead=1)


@exercise.mistake(
    "your last known step has the number of the origin: counted from 0, that is one step more."
)
def number_of_the_last(n, first, T, step):
    return rolled(origins_of(n, first, T, step), T, lambda origin: range(origin + 1), ahead=1)


@exercise.mistake(
    "the first step to forecast is known already: the origin overlaps the future by one."
)
def overlapping(n, first, T, step):
    return rolled(origins_of(n, first, T, step), T, lambda origin: range(origin + 1))


@exercise.mistake("you count from 1: the first step has the index 0.")
def from_1(n, first, T, step):
    return rolled(origins_of(n, first, T, step), T, lambda origin: range(1, origin + 1), ahead=1)


@exercise.mistake("the forecast begins with the last step that is known: that one needs none.")
def begins_with_the_known(n, first, T, step):
    return rolled(origins_of(n, first, T, step), T, ahead=-1)


@exercise.mistake("the known steps end one too early: the last one before the forecast is missing.")
def last_known_missing(n, first, T, step):
    return rolled(origins_of(n, first, T, step), T, lambda origin: range(origin - 1))


@exercise.mistake("all steps that are forecast are known, too: nothing is left to forecast.")
def future_known(n, first, T, step):
    return rolled(origins_of(n, first, T, step), T, lambda origin: range(origin + T))


@exercise.mistake(
    "the whole series is known at each origin: it should end where the forecast begins."
)
def all_known(n, first, T, step):
    return rolled(origins_of(n, first, T, step), T, lambda origin: range(n))


@exercise.mistake(
    "your known steps slide along, always as many: here the past grows with each origin."
)
def sliding(n, first, T, step):
    return rolled(origins_of(n, first, T, step), T, lambda origin: range(origin - first, origin))


@exercise.mistake("the origin never moves: later forecasts know as little as the first.")
def fixed(n, first, T, step):
    return rolled(origins_of(n, first, T, step), T, lambda origin: range(first))


@exercise.mistake(
    "each origin knows only what is new since the one before it: what was known before, still is."
)
def new_alone(n, first, T, step):
    def known(origin):
        return range(0 if origin == first else origin - step, origin)

    return rolled(origins_of(n, first, T, step), T, known)


@exercise.mistake("your origins move on by one: `step` says by how many.")
def by_one(n, first, T, step):
    return rolled(origins_of(n, first, T, 1), T)


@exercise.mistake("your origins move on by the horizon: `step` says by how many.")
def by_the_horizon(n, first, T, step):
    return rolled(origins_of(n, first, T, T), T)


@exercise.mistake(
    "your origins move on by the horizon where it is more than `step`: `step` alone says by how "
    "many, and forecasts may overlap."
)
def by_the_larger(n, first, T, step):
    return rolled(origins_of(n, first, T, max(step, T)), T)


@exercise.mistake("the first origin is missing: `first` steps are enough for a forecast.")
def first_missing(n, first, T, step):
    return rolled(origins_of(n, first + step, T, step), T)


@exercise.mistake("the origins begin one too early: `first` is how many steps are known at least.")
def one_too_early(n, first, T, step):
    return rolled(origins_of(n, first - 1, T, step), T)


@exercise.mistake("the origins begin one too late: `first` is how many steps are known at first.")
def one_too_late(n, first, T, step):
    return rolled(origins_of(n, first + 1, T, step), T)


@exercise.mistake("your first origin knows nothing, or next to nothing: it is at `first` steps.")
def from_0(n, first, T, step):
    return rolled(origins_of(n, 0, T, step), T)


@exercise.mistake(
    "there is a single origin: one forecast of one stretch says little, so let the origin roll on."
)
def one_split(n, first, T, step):
    return rolled([first], T)


@exercise.mistake(
    "that is one split, all that is left after it being forecast at once: let the origin roll on."
)
def train_and_test(n, first, T, step):
    return [(list(range(first)), list(range(first, n)))]


@exercise.mistake("each forecast goes to the end of the series: it is T steps long.")
def to_the_end(n, first, T, step):
    return [
        (list(range(origin)), list(range(origin, n))) for origin in origins_of(n, first, T, step)
    ]


@exercise.mistake(
    "your origins are counted back from the end of the series: the first one knows `first` steps."
)
def from_the_end(n, first, T, step):
    return rolled(sorted(range(n - T, first - 1, -step)), T)


@exercise.mistake(
    "each forecast is as long as the origin moves: it has T steps, whatever `step` is."
)
def as_long_as_a_move(n, first, T, step):
    return rolled(origins_of(n, first, T, step), step)


@exercise.mistake("only the last of the T steps is forecast in yours: return all of them.")
def last_step_alone(n, first, T, step):
    return rolled(origins_of(n, first, T, step), 1, ahead=T - 1)


@exercise.mistake("the two are exchanged: first what is known, then what is forecast.")
def exchanged(n, first, T, step):
    return [(ahead, known) for known, ahead in rolled(origins_of(n, first, T, step), T)]


@exercise.mistake("these are two lists, of all pasts and of all forecasts: return a list of pairs.")
def two_lists(n, first, T, step):
    return tuple(map(list, zip(*rolled(origins_of(n, first, T, step), T), strict=True)))


@exercise.mistake(
    "these are the origins: return which steps are known, and which forecast, at each."
)
def origins_alone(n, first, T, step):
    return list(origins_of(n, first, T, step))


@exercise.mistake(
    "these are the ends of what is known and of what is forecast: return all steps of each."
)
def ends(n, first, T, step):
    return [(origin, origin + T) for origin in origins_of(n, first, T, step)]
