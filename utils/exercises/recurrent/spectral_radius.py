"""A matrix scaled to a given spectral radius."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def with_radius(W_h: Tensor, radius: float) -> Tensor:
    """Return a multiple of W_h (N, N) whose largest eigenvalue has the magnitude `radius`."""
    return W_h * (radius / torch.linalg.eigvals(W_h).abs().amax())


exercise = Exercise(with_radius, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("a matrix of one number")
def one_number():
    return [(random(1, 1), 0.9), (torch.tensor([[-0.7]], dtype=torch.float64), 0.9)]


@exercise.stage("a rotation")
def turning():
    return [(torch.tensor([[0.3, -1.2], [0.9, 0.2]], dtype=torch.float64), 1.1)]


@exercise.stage("larger matrices")
def larger():
    return [(random(5, 5), 0.8), (random(8, 8), 1.3)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "that is the most that any vector is stretched, not the magnitude of an eigenvalue."
)
def largest_singular_value(W_h, radius):
    return W_h * (radius / torch.linalg.matrix_norm(W_h, 2))


@exercise.mistake("that is the length of the matrix as one vector; eigenvalues play no part in it.")
def frobenius_norm(W_h, radius):
    return W_h * (radius / W_h.norm())


@exercise.mistake(
    "the largest entry says little about the effect of multiplying by the matrix many times."
)
def largest_entry(W_h, radius):
    return W_h * (radius / W_h.abs().amax())


@exercise.mistake("an eigenvalue may be complex: its magnitude isn't its real part.")
def real_part(W_h, radius):
    return W_h * (radius / torch.linalg.eigvals(W_h).real.abs().amax())


@exercise.mistake("that function is for symmetric matrices, and W_h isn't symmetric.")
def taken_as_symmetric(W_h, radius):
    return W_h * (radius / torch.linalg.eigvalsh(W_h).abs().amax())


@exercise.mistake("the matrix already had a spectral radius: divide by it before you multiply.")
def multiplied(W_h, radius):
    return W_h * radius


@exercise.mistake("an eigenvalue can be negative, and dividing by it reverses all signs.")
def largest_real_part(W_h, radius):
    return W_h * (radius / torch.linalg.eigvals(W_h).real.amax())


@exercise.mistake(
    "eigenvalues may be complex, and complex numbers have no order: compare their magnitudes."
)
def complex_compared(W_h, radius):
    return W_h * (radius / torch.linalg.eigvals(W_h).max())


@exercise.mistake("that makes the spectral radius 1, whatever `radius` is.")
def to_1(W_h, radius):
    return with_radius(W_h, 1.0)


@exercise.mistake("you divide by the mean magnitude: the spectral radius is the largest.")
def mean_magnitude(W_h, radius):
    return W_h * (radius / torch.linalg.eigvals(W_h).abs().mean())


@exercise.mistake("you divide by the smallest magnitude: the spectral radius is the largest.")
def smallest(W_h, radius):
    return W_h * (radius / torch.linalg.eigvals(W_h).abs().amin())
