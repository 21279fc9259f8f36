"""The loop over a sequence: the same step again and again, each from the previous state."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.exercises.recurrent.layers import layer
from utils.exercises.recurrent.one_step import step


def read(x: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor) -> Tensor:
    """Shapes: x (B, T, D), W_x (N, D), W_h (N, N), b (N,).

    Returns: the states after each step (B, T, N); the state before the first is zeros.
    """
    h, states = x.new_zeros(len(x), len(W_h)), []
    for x_t in x.unbind(dim=1):  # (B, D)
        h = step(x_t, h, W_x, W_h, b)
        states.append(h)
    return torch.stack(states, dim=1)


exercise = Exercise(read, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, T: int, D: int, N: int) -> tuple[Tensor, ...]:
    return random(B, T, D), *layer(D, N)


@exercise.stage("one step")
def one_step():
    return [drawn(1, 1, 2, 3)]


@exercise.stage("three steps, one after the other")
def three_steps():
    return [drawn(1, 3, 3, 2)]


@exercise.stage("batches of independent sequences")
def batches():
    return [drawn(4, 5, 2, 3), drawn(3, 3, 1, 4)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("every step begins with an empty state: carry `h` on from step to step.")
def not_carried(x, *weights):
    return torch.cat([read(x_t, *weights) for x_t in x.split(1, dim=1)], dim=1)


@exercise.mistake("you return only the last state; return the state after every step.")
def last_state_only(x, *weights):
    return read(x, *weights)[:, -1]


@exercise.mistake("your loop runs over the batch: which axis is time?")
def over_the_batch(x, *weights):
    return read(x.transpose(0, 1), *weights).transpose(0, 1)


@exercise.mistake("the steps are stacked along the first axis, where the batch should be.")
def time_first(x, *weights):
    return read(x, *weights).transpose(0, 1)


@exercise.mistake(
    "you joined the steps along the axis of the units: time needs an axis of its own."
)
def concatenated(x, *weights):
    return read(x, *weights).flatten(1)


@exercise.mistake("there is one state too many: leave out the zeros before the first step.")
def with_the_start(x, *weights):
    states = read(x, *weights)
    return torch.cat([torch.zeros_like(states[:, :1]), states], dim=1)


@exercise.mistake("you record each state before its step: the last one is missing.")
def one_step_early(x, *weights):
    return with_the_start(x, *weights)[:, :-1]


@exercise.mistake("you read from the end: start with the first letter.")
def backwards(x, *weights):
    return read(x.flip(1), *weights).flip(1)


@exercise.mistake("you read from the end, and left the states in that order, too.")
def backwards_in_its_order(x, *weights):
    return read(x.flip(1), *weights)


@exercise.mistake("the state begins with ones: it should be zero, since nothing has been read yet.")
def begins_with_ones(x, W_x, W_h, b):
    h, states = x.new_ones(len(x), len(W_h)), []
    for x_t in x.unbind(dim=1):
        h = step(x_t, h, W_x, W_h, b)
        states.append(h)
    return torch.stack(states, dim=1)


@exercise.mistake("return only the states; the last one is among them already.")
def last_state_beside(x, *weights):
    states = read(x, *weights)
    return states, states[:, -1]


@exercise.mistake("you skip the first letter: from the state of zeros, the first step reads it.")
def first_letter_skipped(x, W_x, W_h, b):
    return read(x[:, 1:], W_x, W_h, b)


@exercise.mistake("you never read the last letter.")
def last_letter_skipped(x, W_x, W_h, b):
    return read(x[:, :-1], W_x, W_h, b)


@exercise.mistake("every step reads the first letter: step t reads letter t.")
def first_letter_again(x, W_x, W_h, b):
    return read(x[:, :1].expand_as(x), W_x, W_h, b)


@exercise.mistake("time is your last axis: it should be the second, before the units.")
def time_last(x, W_x, W_h, b):
    return read(x, W_x, W_h, b).mT
