"""Which keys a causal window lets each query see."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise
from utils.exercises.efficient_attention.pairs import steps_back


def window_mask(T: int, w: int) -> Tensor:
    """Returns (T, T), True where query t sees key s: itself, and the w positions before it."""
    t, s = torch.arange(T)[:, None], torch.arange(T)
    return (s <= t) & (t - s <= w)


exercise = Exercise(window_mask, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one position, which sees itself")
def one_position():
    return [(1, 1)]


@exercise.stage("a window of 1")
def window_of_1():
    return [(4, 1)]


@exercise.stage("wider windows")
def wider():
    return [(7, 2), (9, 4)]


@exercise.stage("a window wider than the text")
def wide_window():
    return [(5, 8)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("your window is one short: w positions before t, and t itself, are w + 1.")
def one_short(T, w):
    return window_mask(T, w - 1)


@exercise.mistake("your window is one too long: it has w positions before t, and t itself.")
def one_long(T, w):
    return window_mask(T, w + 1)


@exercise.mistake("your window reaches forward, too: a writer doesn't know what comes next.")
def both_sides(T, w):
    return steps_back(T).abs() <= w


@exercise.mistake("your window reaches forward: t sees the positions after it, and none before.")
def forward(T, w):
    return window_mask(T, w).T


@exercise.mistake("your window has no end: how many positions back does it reach?")
def no_end(T, w):
    return steps_back(T) >= 0


@exercise.mistake("nothing hides the future: the difference t - s may be negative.")
def no_future_line(T, w):
    return steps_back(T) <= w


@exercise.mistake("a position doesn't see itself.")
def not_itself(T, w):
    return window_mask(T, w) & (steps_back(T) > 0)


@exercise.mistake("your mask is inverted: True means that the key is seen.")
def inverted(T, w):
    return ~window_mask(T, w)


@exercise.mistake(
    "your window stays at the last positions: it should move along with the query, row by row."
)
def last_ones(T, w):
    return torch.arange(T).expand(T, T) >= T - 1 - w


@exercise.mistake(
    "nothing comes before position 0, but in Python a negative index counts from the end."
)
def around_the_end(T, w):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        for back in range(min(w + 1, T)):
            mask[t, t - back] = True
    return mask


@exercise.mistake(
    "`and` and `0 <= x <= w` ask for a single truth value: for each cell, write (0 <= x) & (x <= "
    "w), with brackets."
)
def one_truth(T, w):
    return 0 <= steps_back(T) <= w


@exercise.mistake(
    "your mask is True where one of the conditions holds: & asks for both, | for one of them."
)
def either(T, w):
    return (steps_back(T) >= 0) | (steps_back(T) <= w)


@exercise.mistake("where t - w is negative, a slice counts from the end: start at 0 at least.")
def slice_from_the_end(T, w):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        mask[t, t - w : t + 1] = True
    return mask


@exercise.mistake("one sign is wrong: yours keeps the keys that are w or more positions away.")
def far_ones(T, w):
    return steps_back(T) >= w


@exercise.mistake("you cut the text into blocks: a window moves along with its query.")
def blocks(T, w):
    t = torch.arange(T)
    return (t[:, None] // w == t // w) & (t <= t[:, None])


@exercise.mistake("that is a mask of 0 and -∞, to be added to scores: here it is True and False.")
def additive(T, w):
    return torch.zeros(T, T).masked_fill(~window_mask(T, w), -torch.inf)
