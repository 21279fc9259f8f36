"""The matrix that moves a wave of positions by k."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise


def shift_matrix(k: int, d: int, base: float) -> Tensor:
    """Return M_k (d, d), float64, with p_{m+k} = M_k p_m for every row p_m of `sinusoidal`.

    d is even, k may be negative.
    """
    angles = k * base ** (-2 * torch.arange(d // 2, dtype=torch.float64) / d)
    cos, sin = angles.cos(), angles.sin()
    blocks = torch.stack([torch.stack([cos, sin], -1), torch.stack([-sin, cos], -1)], -2)
    return torch.block_diag(*blocks)  # of (d/2, 2, 2)


exercise = Exercise(shift_matrix, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one pair")
def one_pair():
    return [(1, 2, 10_000.0)]


@exercise.stage("several pairs")
def several_pairs():
    return [(1, 6, 100.0)]


@exercise.stage("other steps")
def other_steps():
    return [(3, 4, 50.0), (-2, 8, 1000.0), (12, 6, 10_000.0)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "your matrix goes the other way, k positions back, or takes each pair as cosine and sine."
)
def transposed(k, d, base):
    return shift_matrix(k, d, base).mT


@exercise.mistake("all pairs turn by the same angle; each wave has its own frequency.")
def one_angle(k, d, base):
    return shift_matrix(k, d, 1.0)


@exercise.mistake("your slowest wave is too fast: a frequency belongs to two columns.")
def exponent_halved(k, d, base):
    return shift_matrix(k, d, base**0.5)


@exercise.mistake("that would fit if all sines came before all cosines; here they alternate.")
def halves(k, d, base):
    order = torch.cat([torch.arange(0, d, 2), torch.arange(1, d, 2)])
    return shift_matrix(k, d, base)[order][:, order]


@exercise.mistake("your matrix moves one position, however large k is.")
def one_step(k, d, base):
    return shift_matrix(1, d, base)


@exercise.mistake("that moves the numbers of a vector along; its waves should move instead.")
def rolled(k, d, base):
    return torch.eye(d, dtype=torch.float64).roll(k, 0)


@exercise.mistake("i counts pairs, not columns: your waves slow down twice as fast.")
def exponent_doubled(k, d, base):
    return shift_matrix(k, d, base**2)


@exercise.mistake("your waves get faster and faster; each should be slower than the one before.")
def exponent_positive(k, d, base):
    return shift_matrix(k, d, 1 / base)


@exercise.mistake("the first pair has the frequency 1: pairs count from 0.")
def pairs_from_1(k, d, base):
    return shift_matrix(k, d + 2, base ** ((d + 2) / d))[2:, 2:]


@exercise.mistake("the base is an argument; you use 10,000.")
def base_of_the_paper(k, d, base):
    return shift_matrix(k, d, 10_000.0)


@exercise.mistake(
    "that is no rotation, since it changes lengths: in a block, one of the two sines has a minus."
)
def no_minus(k, d, base):
    M = shift_matrix(k, d, base)
    return M.triu() + M.triu(1).mT
