"""A recurrent layer that reads several texts in one row and keeps them apart."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.exercises.recurrent.layers import layer


def packed_rnn(x: Tensor, starts: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor) -> Tensor:
    """Return the states after each step; before a step at which a text starts, the state is zero.

    Shapes: x (B, T, D), starts (B, T), bool, W_x (N, D), W_h (N, N), b (N,). Returns: (B, T, N).
    """
    h, states = x.new_zeros(len(x), len(b)), []
    for x_t, new in zip(x.unbind(1), starts.unbind(1), strict=True):
        h = h.masked_fill(new[:, None], 0)
        h = torch.tanh(x_t @ W_x.T + h @ W_h.T + b)
        states.append(h)
    return torch.stack(states, 1)


exercise = Exercise(packed_rnn)


# What it is tried on ------------------------------------------------------------------------------


def drawn(T: int, D: int, N: int, *starts: list[int]) -> tuple:
    """Draw a row of texts for each list of steps at which a text starts."""
    rows = torch.tensor([[t in row for t in range(T)] for row in starts])
    return random(len(starts), T, D), rows, *layer(D, N)


@exercise.stage("one text, one step")
def one_step():
    return [drawn(1, 2, 3, [0])]


@exercise.stage("two texts in one row")
def two_texts():
    return [drawn(4, 1, 2, [0, 2])]


@exercise.stage("rows whose texts start at different steps")
def several_rows():
    return [
        drawn(6, 2, 3, [0, 3], [2, 5], []),
        drawn(7, 3, 2, [0, 1, 4], [0], [3, 6], [0, 5]),
    ]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("the state is never reset: the second text continues where the first ended.")
def never_reset(x, starts, *layer):
    return packed_rnn(x, starts & False, *layer)


def one_step_late(starts: Tensor) -> Tensor:
    return torch.cat([starts[:, :1] & False, starts[:, :-1]], 1)


@exercise.mistake(
    "the reset comes one step late: the first token has already been combined with the old state."
)
def reset_late(x, starts, *layer):
    return packed_rnn(x, one_step_late(starts), *layer)


@exercise.mistake(
    "you reset the state after the first token: reset it before, so that the token leaves a trace."
)
def result_reset(x, starts, *layer):
    states = packed_rnn(x, one_step_late(starts), *layer)
    return states.masked_fill(starts[:, :, None], 0)


@exercise.mistake(
    "when a text starts in one row, reset only that row: the other rows go on with their texts."
)
def all_rows_reset(x, starts, *layer):
    return packed_rnn(x, starts.any(0, keepdim=True).expand_as(starts), *layer)


@exercise.mistake("you keep the state where a text starts, and reset it inside the text.")
def inverted(x, starts, *layer):
    return packed_rnn(x, ~starts, *layer)


@exercise.mistake("the state is reset at every step, so no step knows the previous one.")
def always_reset(x, starts, *layer):
    return packed_rnn(x, starts | True, *layer)


@exercise.mistake("the first row's texts decide when the state of every row is reset.")
def first_row_decides(x, starts, *layer):
    return packed_rnn(x, starts[:1].expand_as(starts), *layer)


@exercise.mistake("you blank the input where a text starts: it is the old state that has to go.")
def input_blanked(x, starts, W_x, W_h, b):
    return packed_rnn(x.masked_fill(starts[..., None], 0), starts & False, W_x, W_h, b)
