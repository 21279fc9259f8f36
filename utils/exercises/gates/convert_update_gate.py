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


@exercise.mistake(
    "you flipped both gates; does the reset gate mean something else in the other convention?"
)
def both_gates(*weights):
    return tuple(negated(weight, 0, 1) for weight in weights)


@exercise.mistake("you negated everything; the candidate should stay as it is.")
def everything(W_x, W_h, b):
    return -W_x, -W_h, -b


@exercise.mistake(
    "the gate becomes 1 - z only if all terms inside the sigmoid change their sign: one doesn't."
)
def bias_forgotten(W_x, W_h, b):
    return negated(W_x, 1), negated(W_h, 1), b


@exercise.mistake("the old state's term in the gate still has its old sign.")
def state_forgotten(W_x, W_h, b):
    return negated(W_x, 1), W_h, negated(b, 1)


@exercise.mistake(
    "the gate should become 1 - z, not its weights 1 minus themselves: how is σ(-a) related to "
    "σ(a)?"
)
def one_minus_the_weights(*weights):
    def one_minus(weight: Tensor) -> Tensor:
        r, z, n = weight.chunk(3)
        return torch.cat([r, 1 - z, n])

    return tuple(map(one_minus, weights))


@exercise.mistake("you swapped the two gates; both should stay where they are.")
def gates_exchanged(*weights):
    def exchanged(weight: Tensor) -> Tensor:
        r, z, n = weight.chunk(3)
        return torch.cat([z, r, n])

    return tuple(map(exchanged, weights))


@exercise.mistake("the input's term in the gate still has its old sign.")
def input_forgotten(W_x, W_h, b):
    return W_x, negated(W_h, 1), negated(b, 1)


@exercise.mistake("you flipped only the bias: it is one of three terms in the sigmoid.")
def bias_only(W_x, W_h, b):
    return W_x, W_h, negated(b, 1)


@exercise.mistake("you changed the candidate: the conventions differ in the update gate.")
def candidate(W_x, W_h, b):
    return tuple(negated(w, 2) for w in (W_x, W_h, b))
