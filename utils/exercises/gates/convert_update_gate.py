"""The weights of a GRU for a program whose update gate means the opposite."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def other_convention(W_x: Tensor, W_h: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the three of the other convention; the blocks are stacked in the order r, z, n.

    Shapes: W_x (3N, D), W_h (3N, N), b (3N,).
    """
    return tuple(negated(weight, 1) for weight in (W_x, W_h, b))


def negated(weight: Tensor, *blocks: int) -> Tensor:
    return torch.cat([-x if i in blocks else x for i, x in enumerate(weight.chunk(3))])


exercise = Exercise(other_convention, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(D: int, N: int) -> tuple[Tensor, Tensor, Tensor]:
    return random(3 * N, D), random(3 * N, N), random(3 * N)


@exercise.stage("one unit")
def one_unit():
    return [drawn(2, 1)]


@exercise.stage("several units")
def several_units():
    return [drawn(5, 2), drawn(3, 4)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("you changed the reset gate; the conventions differ in the update gate.")
def reset_gate(*weights):
    return tuple(negated(weight, 0) for weight in weights)


@exercise.mistake("both gates were turned round; does the reset gate mean something else?")
def both_gates(*weights):
    return tuple(negated(weight, 0, 1) for weight in weights)


@exercise.mistake("all of it is negated, the candidate too, which should stay what it is.")
def everything(W_x, W_h, b):
    return -W_x, -W_h, -b


@exercise.mistake(
    "the gate is 1 - z only if everything inside the sigmoid is turned round: one summand isn't."
)
def bias_forgotten(W_x, W_h, b):
    return negated(W_x, 1), negated(W_h, 1), b


@exercise.mistake("what the old state adds to the gate still has its old sign.")
def state_forgotten(W_x, W_h, b):
    return negated(W_x, 1), W_h, negated(b, 1)


@exercise.mistake(
    "1 - z is wanted of the gate, not of its weights: what does σ(-a) have to do with σ(a)?"
)
def one_minus_the_weights(*weights):
    def one_minus(weight: Tensor) -> Tensor:
        r, z, n = weight.chunk(3)
        return torch.cat([r, 1 - z, n])

    return tuple(map(one_minus, weights))


@exercise.mistake("the two gates changed places; neither of them should.")
def gates_exchanged(*weights):
    def exchanged(weight: Tensor) -> Tensor:
        r, z, n = weight.chunk(3)
        return torch.cat([z, r, n])

    return tuple(map(exchanged, weights))


@exercise.mistake("what the input adds to the gate still has its old sign.")
def input_forgotten(W_x, W_h, b):
    return W_x, negated(W_h, 1), negated(b, 1)


@exercise.mistake("the bias alone is turned round: it is one of three summands in the sigmoid.")
def bias_only(W_x, W_h, b):
    return W_x, W_h, negated(b, 1)
