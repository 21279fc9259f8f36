"""Gradients of several tensors, shortened together if they are too long."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def clip(gradients: list[Tensor], max_norm: float) -> list[Tensor]:
    """Scale the gradients, as one vector, to a length of at most `max_norm`."""
    return scaled(gradients, max_norm / length(gradients))


def length(gradients: list[Tensor]) -> Tensor:
    """Return the length of all tensors as one vector."""
    return torch.cat([g.flatten() for g in gradients]).norm()


def scaled(gradients: list[Tensor], factor: Tensor) -> list[Tensor]:
    """Multiply each tensor by the factor, but never make it longer."""
    return [g * factor.clamp(max=1) for g in gradients]


exercise = Exercise(clip, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one tensor, too long")
def too_long():
    return [([random(3) + 4], 1.0)]


@exercise.stage("one tensor, short enough")
def short_enough():
    return [([random(3) / 9], 1.0)]


@exercise.stage("several tensors")
def several_tensors():
    return [
        ([random(2, 3), 4 * random(5), random(4, 2) / 4], 2.0),
        ([random(3, 1) / 9, random(2) / 9], 0.7),
    ]


@exercise.stage("a gradient of zero")
def zero():
    return [([torch.zeros(1, dtype=torch.float64)], 1.0)]


@exercise.stage("tensors that are short one by one")
def short_one_by_one():
    return [([random(4), random(2, 5)], 3.9)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "you scale each tensor by itself, which changes the step's direction: clip all as one vector."
)
def each_tensor(gradients, max_norm):
    return [clip([g], max_norm)[0] for g in gradients]


@exercise.mistake(
    "you clip each number by itself, which changes the step's direction; only its length should "
    "change."
)
def each_number(gradients, max_norm):
    return [g.clamp(-max_norm, max_norm) for g in gradients]


@exercise.mistake("you return the gradients as they came: shorten them where they are too long.")
def as_they_came(gradients, max_norm):
    return gradients


@exercise.mistake("a gradient that is short enough should stay as it is; yours gets longer.")
def always(gradients, max_norm):
    return [g * (max_norm / length(gradients)) for g in gradients]


@exercise.mistake("that is the square of the length: take its root.")
def root_forgotten(gradients, max_norm):
    return scaled(gradients, max_norm / length(gradients) ** 2)


@exercise.mistake("lengths don't add up; their squares do.")
def sum_of_lengths(gradients, max_norm):
    return scaled(gradients, max_norm / sum(g.norm() for g in gradients))


@exercise.mistake("gradients that are too long should be shortened to `max_norm`, not to 1.")
def to_1(gradients, max_norm):
    norm = length(gradients)
    return [g / norm if norm > max_norm else g for g in gradients]


@exercise.mistake("a little too short: don't add a small number to the length.")
def epsilon_added(gradients, max_norm):
    return scaled(gradients, max_norm / (length(gradients) + 1e-6))


@exercise.mistake(
    "a gradient of zero has length 0, and you divide by it: does a gradient that is short enough "
    "need dividing at all?"
)
def divided_by_zero(gradients, max_norm):
    factor = min(1.0, max_norm / length(gradients).item())
    return [g * factor for g in gradients]


@exercise.mistake(
    "long gradients stay long and short ones get longer: take the minimum, not the maximum."
)
def larger_factor(gradients, max_norm):
    norm = length(gradients)
    return [g * (max_norm / norm).clamp(min=1) if norm > 0 else g for g in gradients]


@exercise.mistake("the length is the root of the sum of squares, not the sum of the sizes.")
def sum_of_sizes(gradients, max_norm):
    return scaled(gradients, max_norm / sum(g.abs().sum() for g in gradients))


@exercise.mistake("that is the length of the longest tensor; all of them together are longer.")
def longest_tensor(gradients, max_norm):
    return scaled(gradients, max_norm / max(g.norm() for g in gradients))


@exercise.mistake("that is the root of the mean square: a length is the root of the sum.")
def root_mean_square(gradients, max_norm):
    n = sum(g.numel() for g in gradients)
    return scaled(gradients, max_norm / (length(gradients) / n**0.5))


@exercise.mistake("that is the size of the largest number: the length comes from all of them.")
def largest_number(gradients, max_norm):
    return scaled(gradients, max_norm / torch.stack([g.abs().max() for g in gradients]).max())


@exercise.mistake("you average the lengths of the tensors: take them all as one vector.")
def mean_of_lengths(gradients, max_norm):
    return scaled(gradients, max_norm / torch.stack([g.norm() for g in gradients]).mean())


@exercise.mistake("your factor is upside down: gradients that are too long get longer.")
def upside_down(gradients, max_norm):
    factor = length(gradients) / max_norm
    return [g * factor if factor > 1 else g for g in gradients]
