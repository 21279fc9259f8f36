"""Rotary positions that turn the first half of the width with the second."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.positions import Rotary


def rotary_halves(x: Tensor, start: int, base: float) -> Tensor:
    """Turn pair i, (x_i, x_{i+d/2}), by m·base^(-2i/d) at position m.

    Shapes: x (B, h, T, d), d even, at positions from `start` on. Returns: the same shape.
    """
    m, i = torch.arange(start, start + x.shape[-2])[:, None], torch.arange(x.shape[-1] // 2)
    angles = (m * base ** (-2 * i.double() / x.shape[-1])).to(x.dtype)  # (T, d/2)
    cos, sin = angles.cos(), angles.sin()
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


exercise = Exercise(rotary_halves)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one pair")
def one_pair():
    return [(random(1, 1, 3, 2).float(), 0, 100.0)]


@exercise.stage("position 0, where nothing turns")
def position_0():
    return [(random(2, 3, 1, 4), 0, 100.0)]


@exercise.stage("several pairs")
def several_pairs():
    return [(random(1, 1, 4, 6).float(), 0, 100.0)]


@exercise.stage("heads, other bases and a later start")
def later_start():
    return [
        (random(2, 3, 5, 4).float(), 7, 10_000.0),  # angles may be in any precision
        (random(3, 2, 4, 8).float(), 3, 50.0),
        (random(3, 3, 3, 6).float(), 1, 1000.0),
    ]


# What goes wrong ----------------------------------------------------------------------------------


def cos_and_sin(x: Tensor, start: int, base: float) -> tuple[Tensor, ...]:
    """Return what becomes of (1, 0) at each position, in each pair: (B, h, T, d/2) each."""
    ones = torch.ones_like(x).chunk(2, dim=-1)[0]
    return rotary_halves(torch.cat([ones, 0 * ones], dim=-1), start, base).chunk(2, dim=-1)


@exercise.mistake(
    "you turn neighbours, as the page does; here each half holds one number of a pair."
)
def neighbours(x, start, base):
    return Rotary(x.shape[-1], base)(x, start)


@exercise.mistake(
    "you turn the other way. The scores would not notice; a cache of the other library's keys "
    "would."
)
def backwards(x, start, base):
    half = x.shape[-1] // 2
    return rotary_halves(x.roll(half, -1), start, base).roll(half, -1)


@exercise.mistake("the correct numbers in another order: each half keeps its own here.")
def other_order(x, start, base):
    return rotary_halves(x, start, base).unflatten(-1, (2, -1)).mT.flatten(-2)


@exercise.mistake(
    "that is no rotation, since it changes lengths: one of the four products is subtracted."
)
def no_minus(x, start, base):
    cos, sin = cos_and_sin(x, start, base)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos + b * sin, b * cos + a * sin], dim=-1)


@exercise.mistake("the sequence begins at position 0 each time, whatever `start` is.")
def from_0(x, start, base):
    return rotary_halves(x, 0, base)


@exercise.mistake("the first position is `start`, not the one after it.")
def after_start(x, start, base):
    return rotary_halves(x, start + 1, base)


@exercise.mistake("your slowest pair is too fast by far: the exponent goes in steps of 2/d.")
def exponent_halved(x, start, base):
    return rotary_halves(x, start, base**0.5)


@exercise.mistake("your angles fall off too fast: is the exponent doubled twice?")
def exponent_doubled(x, start, base):
    return rotary_halves(x, start, base**2)


@exercise.mistake("the base is an argument; you use 10,000.")
def base_of_the_paper(x, start, base):
    return rotary_halves(x, start, 10_000.0)


@exercise.mistake("you turn by the head's number: which axis counts positions?")
def by_head(x, start, base):
    return rotary_halves(x.transpose(1, 2), start, base).transpose(1, 2)


@exercise.mistake(
    "the second half is turned with a first half that is turned already: both need the original "
    "numbers."
)
def one_after_the_other(x, start, base):
    cos, sin = cos_and_sin(x, start, base)
    a, b = x.chunk(2, dim=-1)
    first = a * cos - b * sin
    return torch.cat([first, b * cos + first * sin], dim=-1)


@exercise.mistake("sine and cosine are swapped: at position 0 nothing should turn.")
def sine_for_cosine(x, start, base):
    cos, sin = cos_and_sin(x, start, base)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * sin - b * cos, b * sin + a * cos], dim=-1)


@exercise.mistake(
    "each angle is repeated for two neighbours, while you turn halves: the two numbers of a pair "
    "get different angles."
)
def angles_of_neighbours(x, start, base):
    cos, sin = (y.repeat_interleave(2, dim=-1) for y in cos_and_sin(x, start, base))
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-b, a], dim=-1) * sin


@exercise.mistake("your pairs turn faster and faster; each should be slower than the one before.")
def exponent_positive(x, start, base):
    return rotary_halves(x, start, 1 / base)
