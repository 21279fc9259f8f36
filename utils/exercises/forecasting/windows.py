"""Cut a series into pairs to learn from and pairs to test on."""

import functools
from collections.abc import Callable
from contextlib import suppress

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random

Pairs = tuple[Tensor, Tensor]


def windows(series: Tensor, S: int, T: int, n_train: int) -> tuple[Pairs, Pairs]:
    """Return all pairs of S steps and the T that follow: those to train on, those to test on.

    Training pairs lie in the first n_train steps, test pairs in the rest. A pair across the border
    is in neither. In each part a pair begins at every step, in order, as long as it fits.
    Shapes: series (n,) to pasts (N, S) and futures (N, T) of the training pairs, N of them, and to
    pasts (M, S) and futures (M, T) of the test pairs.
    """
    train, test = (part.unfold(0, S + T, 1) for part in (series[:n_train], series[n_train:]))
    return (train[:, :S], train[:, S:]), (test[:, :S], test[:, S:])


def in_one_disorder(answer: Callable) -> Callable:
    """The answer, with training pairs that are in a random order in one that isn't random."""

    @functools.wraps(answer)
    def judged(series: Tensor, S: int, T: int, n_train: int):
        found, ((past, future), _) = answer(series, S, T, n_train), windows(series, S, T, n_train)
        with suppress(Exception):  # it isn't pairs
            pairs = torch.cat(found[0], dim=1)
            place = (pairs[:, None] == torch.cat([past, future], dim=1)).all(dim=2)  # (N, N)
            moves = place.int().argmax(dim=1).diff()
            if (place.sum(dim=0) == 1).all() and len(moves.unique()) > 1:
                return (past.roll(1, 0), future.roll(1, 0)), found[1]
        return found

    return judged


exercise = Exercise(windows, gradient=False, through=in_one_disorder)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("several pairs, and one step to forecast")
def several():
    return [(random(14), 3, 1, 8), (random(20), 5, 1, 12)]


@exercise.stage("several steps to forecast")
def several_steps():
    return [(random(19), 4, 2, 11), (random(25), 3, 5, 14), (random(33), 6, 3, 21)]


@exercise.stage("one pair in each part")
def one_pair():
    return [(random(12), 4, 2, 6)]


# What goes wrong ----------------------------------------------------------------------------------


def pairs(series: Tensor, S: int, T: int, starts, ahead: int = 0) -> Pairs:
    """Pairs that begin at these steps, their futures so many steps ahead of where they belong."""
    pasts = [series[i : i + S] for i in starts]
    futures = [series[i + S + ahead : i + S + ahead + T] for i in starts]
    return torch.stack(pasts), torch.stack(futures)


def starts(series: Tensor, S: int, T: int, n_train: int) -> tuple[range, range]:
    return range(n_train - S - T + 1), range(n_train, len(series) - S - T + 1)


def changed(series: Tensor, S: int, T: int, n_train: int, change) -> tuple[Pairs, Pairs]:
    """Both parts' pairs, each changed."""
    train, test = windows(series, S, T, n_train)
    return change(*train), change(*test)


@exercise.mistake(
    "training pairs reach across the border: their futures are steps that the test asks for."
)
def training_reaches_over(series, S, T, n_train):
    _, test = starts(series, S, T, n_train)
    return pairs(series, S, T, range(n_train - S + 1)), pairs(series, S, T, test)


@exercise.mistake(
    "the pasts of your test pairs reach back into the training steps: they may be known by then, "
    "but here a pair across the border is left out."
)
def test_reaches_back(series, S, T, n_train):
    train, test = starts(series, S, T, n_train)
    back = range(n_train - S, test.stop)
    return pairs(series, S, T, train), pairs(series, S, T, back)


@exercise.mistake(
    "pairs across the border are among your test pairs: a part of what they ask for was learned "
    "from."
)
def border_in_the_test(series, S, T, n_train):
    train, test = starts(series, S, T, n_train)
    return pairs(series, S, T, train), pairs(series, S, T, range(train.stop, test.stop))


@exercise.mistake(
    "you cut the list of pairs at n_train, which counts steps: your last training pairs begin in "
    "the first part and end in the other."
)
def cut_by_number(series, S, T, n_train):
    both = range(len(series) - S - T + 1)
    return pairs(series, S, T, both[:n_train]), pairs(series, S, T, both[n_train:])


@exercise.mistake(
    "you cut the list of pairs at n_train - S, where the training steps have no room for a past: "
    "pairs just before and after it reach across the border."
)
def cut_after_the_last_past(series, S, T, n_train):
    both = range(len(series) - S - T + 1)
    return pairs(series, S, T, both[: n_train - S]), pairs(series, S, T, both[n_train - S :])


@exercise.mistake("the last pair of each part is missing: count how many fit.")
def last_missing(series, S, T, n_train):
    return changed(series, S, T, n_train, lambda past, future: (past[:-1], future[:-1]))


@exercise.mistake("the first pair of each part is missing: it begins with the part's first step.")
def first_missing(series, S, T, n_train):
    return changed(series, S, T, n_train, lambda past, future: (past[1:], future[1:]))


@exercise.mistake("the last training pair is missing: it may end with the last training step.")
def last_of_training_missing(series, S, T, n_train):
    (past, future), test = windows(series, S, T, n_train)
    return (past[:-1], future[:-1]), test


@exercise.mistake("the last test pair is missing: it may end with the series.")
def last_of_test_missing(series, S, T, n_train):
    train, (past, future) = windows(series, S, T, n_train)
    return train, (past[:-1], future[:-1])


@exercise.mistake(
    "there are more pasts than futures: the last pasts of a part have no future there."
)
def pasts_without_a_future(series, S, T, n_train):
    parts = series[:n_train], series[n_train:]
    return tuple((part.unfold(0, S, 1), part[S:].unfold(0, T, 1)) for part in parts)


@exercise.mistake(
    "you left room for one step after each past, as for T = 1: training pairs reach across the "
    "border where a future is longer."
)
def room_for_one(series, S, T, n_train):
    _, test = starts(series, S, T, n_train)
    return pairs(series, S, T, range(n_train - S)), pairs(series, S, T, test)


@exercise.mistake(
    "the border is a step too late: the first n_train steps have the numbers 0 to n_train - 1."
)
def border_late(series, S, T, n_train):
    return windows(series, S, T, n_train + 1)


@exercise.mistake("the border is a step too early: there are n_train steps to train on.")
def border_early(series, S, T, n_train):
    return windows(series, S, T, n_train - 1)


@exercise.mistake("the future begins with the last step of the past: that one is known.")
def overlapping(series, S, T, n_train):
    both = starts(series, S, T, n_train)
    return tuple(pairs(series, S, T, part, ahead=-1) for part in both)


@exercise.mistake("a step is left out between past and future: the future begins right after.")
def a_gap(series, S, T, n_train):
    train, test = starts(series, S, T, n_train)
    return pairs(series, S, T, train[:-1], 1), pairs(series, S, T, test[:-1], 1)


@exercise.mistake("your future contains the past: it is the T steps after it.")
def future_with_past(series, S, T, n_train):
    return changed(
        series, S, T, n_train, lambda past, future: (past, torch.cat([past, future], dim=1))
    )


@exercise.mistake("only the last step of each future is there: it has T of them.")
def last_step_alone(series, S, T, n_train):
    return changed(series, S, T, n_train, lambda past, future: (past, future[:, -1:]))


@exercise.mistake("only the first step of each future is there: it has T of them.")
def first_step_alone(series, S, T, n_train):
    return changed(series, S, T, n_train, lambda past, future: (past, future[:, :1]))


@exercise.mistake("a future is a row, also of a single step: that axis is missing.")
def without_an_axis(series, S, T, n_train):
    def change(past, future):
        return past, future[:, 0] if T == 1 else future

    return changed(series, S, T, n_train, change)


@exercise.mistake("your pairs don't overlap: one begins at every step, so that nothing is wasted.")
def side_by_side(series, S, T, n_train):
    return changed(series, S, T, n_train, lambda past, future: (past[:: S + T], future[:: S + T]))


@exercise.mistake("your pairs move on by the horizon: one begins at every step.")
def by_the_horizon(series, S, T, n_train):
    return changed(series, S, T, n_train, lambda past, future: (past[::T], future[::T]))


@exercise.mistake("your pairs move on by a whole past: one begins at every step.")
def by_the_past(series, S, T, n_train):
    return changed(series, S, T, n_train, lambda past, future: (past[::S], future[::S]))


@exercise.mistake("the pasts run backwards: their last step is the nearest one.")
def backwards(series, S, T, n_train):
    return changed(series, S, T, n_train, lambda past, future: (past.flip(1), future))


@exercise.mistake("the pairs are in reverse order: the earliest comes first.")
def latest_first(series, S, T, n_train):
    return changed(series, S, T, n_train, lambda past, future: (past.flip(0), future.flip(0)))


@exercise.mistake("your training pairs are in random order: keep the order of the series.")
def shuffled(series, S, T, n_train):
    (past, future), test = windows(series, S, T, n_train)
    return (past.roll(1, 0), future.roll(1, 0)), test


@exercise.mistake("S and T are exchanged: S steps are read, and T are forecast.")
def lengths_exchanged(series, S, T, n_train):
    return windows(series, T, S, n_train)


@exercise.mistake("past and future are exchanged: first what is read, then what is forecast.")
def future_first(series, S, T, n_train):
    return changed(series, S, T, n_train, lambda past, future: (future, past))


@exercise.mistake("training and test are exchanged: the later part is to test on.")
def test_first(series, S, T, n_train):
    return windows(series, S, T, n_train)[::-1]


@exercise.mistake("you train on the later part: the first n_train steps are for that.")
def trained_on_the_end(series, S, T, n_train):
    n_test = len(series) - n_train
    test, train = windows(series, S, T, n_test)
    return train, test


@exercise.mistake(
    "the lag is shifted the wrong way: your futures lie before their pasts, so yesterday would be "
    "forecast from today."
)
def lag_the_wrong_way(series, S, T, n_train):
    both = (part.unfold(0, T + S, 1) for part in (series[:n_train], series[n_train:]))
    return tuple((part[:, T:], part[:, :T]) for part in both)


@exercise.mistake("the axes are exchanged: each pair is a row.")
def as_columns(series, S, T, n_train):
    return changed(series, S, T, n_train, lambda past, future: (past.mT, future.mT))


@exercise.mistake("these are both pasts, then both futures: a pair's past and future go together.")
def pasts_then_futures(series, S, T, n_train):
    return tuple(zip(*windows(series, S, T, n_train), strict=True))


@exercise.mistake("these are four tensors in a row: return two pairs of them.")
def four_in_a_row(series, S, T, n_train):
    train, test = windows(series, S, T, n_train)
    return *train, *test


@exercise.mistake("these are all pairs of the series: training and test have to be apart.")
def not_split(series, S, T, n_train):
    return pairs(series, S, T, range(len(series) - S - T + 1))
