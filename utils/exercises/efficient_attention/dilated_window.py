"""The mask of a causal window with holes."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise
from utils.exercises.efficient_attention.pairs import steps_back


def dilated_mask(T: int, window: int, dilation: int) -> Tensor:
    """Return (T, T), True where query t sees key s: itself, and `window` keys behind it.

    Each of these keys lies `dilation` before the next.
    """
    back = steps_back(T)
    return (back >= 0) & (back <= window * dilation) & (back % dilation == 0)


exercise = Exercise(dilated_mask, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("a window without holes")
def no_holes_yet():
    return [(5, 2, 1)]


@exercise.stage("every second position")
def every_second():
    return [(8, 2, 2)]


@exercise.stage("other windows and holes")
def other_windows():
    return [(13, 3, 4), (11, 1, 3), (10, 4, 2)]


@exercise.stage("a window wider than the sequence")
def wide_window():
    return [(7, 9, 2)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("your window is one short: it has `window` positions before t, and t itself.")
def one_short(T, window, dilation):
    return dilated_mask(T, window - 1, dilation)


@exercise.mistake("the window crosses the causal line: position t sees what comes after it.")
def future(T, window, dilation):
    return dilated_mask(T, window, dilation) | dilated_mask(T, window, dilation).T


@exercise.mistake("you count the window in positions: count it in steps, without the holes.")
def as_wide_as_the_window(T, window, dilation):
    return dilated_mask(T, window, dilation) & (steps_back(T) <= window)


@exercise.mistake(
    "you keep the positions that `dilation` divides: the holes should move along with t."
)
def on_a_grid(T, window, dilation):
    return dilated_mask(T, window * dilation, 1) & (torch.arange(T) % dilation == 0)


@exercise.mistake("a position doesn't see itself.")
def not_itself(T, window, dilation):
    return dilated_mask(T, window, dilation) & (steps_back(T) > 0)


@exercise.mistake("the span is correct, but it has no holes.")
def no_holes(T, window, dilation):
    return dilated_mask(T, window * dilation, 1)


@exercise.mistake(
    "you leave `dilation` holes between two keys: the next key is `dilation` before, so 1 leaves "
    "no hole."
)
def one_more_hole(T, window, dilation):
    return dilated_mask(T, window, dilation + 1)


@exercise.mistake("your mask is inverted: True means that the key may be attended to.")
def inverted(T, window, dilation):
    return ~dilated_mask(T, window, dilation)


@exercise.mistake("rows and columns are exchanged: a row shows what one query sees.")
def transposed(T, window, dilation):
    return dilated_mask(T, window, dilation).T


@exercise.mistake("your window is one too long: it has `window` positions before t, and t itself.")
def one_long(T, window, dilation):
    return dilated_mask(T, window + 1, dilation)


@exercise.mistake("your window has no end: how far back does it reach?")
def no_window(T, window, dilation):
    return dilated_mask(T, T, dilation)


@exercise.mistake("t sees everything after it, as long as `dilation` divides the distance.")
def whole_future(T, window, dilation):
    return dilated_mask(T, window, dilation) | dilated_mask(T, T, dilation).T


@exercise.mistake("near the beginning, your holes count from position 0: count back from t.")
def counted_from_the_beginning(T, window, dilation):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        mask[t, max(0, t - window * dilation) : t + 1 : dilation] = True
    return mask


@exercise.mistake(
    "nothing comes before position 0, but in Python a negative index counts from the end."
)
def negative_indices(T, window, dilation):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        for j in range(window + 1):
            mask[t, t - j * dilation] = True
    return mask


@exercise.mistake(
    "`and` and `0 <= x <= w` ask for a single truth value: join conditions cell by cell with &, "
    "each in brackets."
)
def one_truth(T, window, dilation):
    return dilated_mask(T, window, dilation) & (0 <= steps_back(T) <= window * dilation)


@exercise.mistake(
    "you round the distance down to whole steps: t sees only positions at whole steps."
)
def steps_rounded_down(T, window, dilation):
    return (steps_back(T) >= 0) & (steps_back(T) // dilation <= window)
