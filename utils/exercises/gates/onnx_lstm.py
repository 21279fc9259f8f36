"""A step of an LSTM whose blocks are stacked as ONNX stacks them: i, o, f, g."""

from functools import partial

import torch
from torch import Tensor

from utils.exercises.checking import Exercise
from utils.exercises.gates.lstm import drawn
from utils.exercises.gates.lstm import step as library_step


def lstm_step(
    x: Tensor, h: Tensor, c: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the new h and the new c.

    Shapes: x (B, D), h and c (B, N), W_x (4N, D), W_h (4N, N), b (4N,).
    """
    i, o, f, g = (x @ W_x.T + h @ W_h.T + b).chunk(4, dim=1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


exercise = Exercise(lstm_step)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("a closed input gate, one unit")
def closed_input_gate():
    return [drawn(1, 2, 1, 0)]


@exercise.stage("a closed forget gate, one unit")
def closed_forget_gate():
    return [drawn(1, 2, 1, 2)]


@exercise.stage("batches and several units")
def several_units():
    return [drawn(2, 5, 3), drawn(4, 3, 6)]


# What goes wrong ----------------------------------------------------------------------------------


# a step whose last three arguments are what mistakes change
step = partial(library_step, order="iofg")


@exercise.mistake(
    "you cut the blocks in PyTorch's order (i, f, g, o); here the order is i, o, f, g."
)
def order_of_the_library(*inputs):
    return step(*inputs, order="ifgo")


@exercise.mistake(
    "the forget gate keeps the old and the input gate lets in the new, not the other way round."
)
def forget_and_input_exchanged(*inputs):
    return step(*inputs, order="foig")


@exercise.mistake("you swapped the second block and the third: which one comes after i?")
def forget_and_output_exchanged(*inputs):
    return step(*inputs, order="ifog")


@exercise.mistake("the candidate may be negative: a sigmoid could only ever add to the cell.")
def candidate_without_sign(*inputs):
    return step(*inputs, candidate=torch.sigmoid)


@exercise.mistake("the cell has no bounds, but the state has: which function comes between them?")
def state_without_tanh(*inputs):
    return step(*inputs, show=lambda c: c)


@exercise.mistake("the output gate decides how much is shown, not how much the cell keeps.")
def shown_state_stored(*inputs):
    h, _ = lstm_step(*inputs)
    return h, h


@exercise.mistake("the state shows the old cell: it should show the new one.")
def old_cell_shown(x, h, c, W_x, W_h, b):
    o = (x @ W_x.T + h @ W_h.T + b).chunk(4, dim=1)[1].sigmoid()
    return o * c.tanh(), lstm_step(x, h, c, W_x, W_h, b)[1]


@exercise.mistake("the candidate has no bounds: a single step could add any amount to the cell.")
def candidate_without_tanh(*inputs):
    return step(*inputs, candidate=lambda a: a)


@exercise.mistake("the numbers are correct, but the cell comes first: return h, then c.")
def cell_first(*inputs):
    return lstm_step(*inputs)[::-1]


@exercise.mistake("you permuted the blocks the other way round: in ONNX's order, f comes third.")
def permuted_the_other_way(*inputs):
    return step(*inputs, order="igof")


def to_the_library(weight: Tensor) -> Tensor:
    i, o, f, g = weight.chunk(4)
    return torch.cat([i, f, g, o])


@exercise.mistake("the bias has four blocks, too, stacked like the weights.")
def bias_left(x, h, c, W_x, W_h, b):
    return library_step(x, h, c, to_the_library(W_x), to_the_library(W_h), b)


@exercise.mistake("W_h has four blocks, too, stacked like W_x.")
def state_left(x, h, c, W_x, W_h, b):
    return library_step(x, h, c, to_the_library(W_x), W_h, to_the_library(b))


@exercise.mistake("W_h and b have four blocks, too, stacked like W_x.")
def state_and_bias_left(x, h, c, W_x, W_h, b):
    return library_step(x, h, c, to_the_library(W_x), W_h, b)


@exercise.mistake("the bias is missing: without it, how far would an untrained gate be open?")
def without_bias(x, h, c, W_x, W_h, b):
    return lstm_step(x, h, c, W_x, W_h, 0 * b)
