"""Positions as the Transformer's authors ran them, not as their paper has them."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random
from utils.positions import sinusoidal


def add_waves(x: Tensor, start: int) -> Tensor:
    """Add sines, then cosines, of wavelengths from 2π to 10 000 · 2π, both ends included.

    Shapes: x (B, T, d_model) to the same.
    """
    return x + waves(x.shape[1], x.shape[2], start).to(x)


def waves(T: int, d_model: int, start: int) -> Tensor:
    """Return (T, d_model); the last column of an odd width is 0."""
    angles = angles_at(T, start, steps_to_the_end(d_model // 2))
    return F.pad(torch.cat([angles.sin(), angles.cos()], dim=1), (0, d_model % 2))


def angles_at(T: int, start: int, exponents: Tensor) -> Tensor:
    places = start + torch.arange(T, dtype=torch.float64)
    return places[:, None] * 10_000**-exponents  # (T, n)


def steps_to_the_end(n: int) -> Tensor:
    return torch.arange(n, dtype=torch.float64) / (n - 1)


exercise = Exercise(add_waves)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("position 0")
def position_0():
    return [(random(1, 1, 6).float(), 0)]


@exercise.stage("a few positions")
def few_positions():
    return [(random(1, 3, 6).float(), 0)]


@exercise.stage("several sequences, and a later start")
def later_start():
    return [(random(3, 5, 8).float(), 0), (random(2, 4, 6).float(), 9)]


@exercise.stage("an odd width")
def odd_width():
    return [(random(2, 4, 7).float(), 0), (random(3, 3, 5).float(), 4)]


# What goes wrong ----------------------------------------------------------------------------------


def sines_and_cosines(x: Tensor, start: int, exponents: Tensor | None = None) -> list[Tensor]:
    n = x.shape[2] // 2
    exponents = steps_to_the_end(n) if exponents is None else exponents
    angles = angles_at(x.shape[1], start, exponents)
    return [angles.sin(), angles.cos()]


def papers_exponents(d_model: int) -> Tensor:
    return 2 * torch.arange(d_model // 2, dtype=torch.float64) / d_model


def with_blocks(x: Tensor, blocks: list[Tensor]) -> Tensor:
    """Add blocks of columns; the column that is left over stays as it is."""
    return x + F.pad(torch.cat(blocks, dim=1), (0, x.shape[2] % 2)).to(x)


@exercise.mistake("you count the sequences of the batch: which axis holds the positions?")
def along_the_batch(x, start):
    return x + waves(x.shape[0], x.shape[2], start)[:, None].to(x)


@exercise.mistake("your exponents are twice what they should be: how large should the last one be?")
def doubled_exponents(x, start):
    exponents = 2 * steps_to_the_end(x.shape[2] // 2)
    return with_blocks(x, sines_and_cosines(x, start, exponents))


@exercise.mistake("those are the paper's wavelengths, which stop short of 10 000 · 2π.")
def papers_wavelengths(x, start):
    return with_blocks(x, sines_and_cosines(x, start, papers_exponents(x.shape[2])))


@exercise.mistake(
    "your wavelengths stop short of 10 000 · 2π: how many steps lead from the first of n to the "
    "last?"
)
def end_left_out(x, start):
    n = x.shape[2] // 2
    return with_blocks(x, sines_and_cosines(x, start, torch.arange(n, dtype=torch.float64) / n))


@exercise.mistake(
    "those are the paper's positions: here both the order and the wavelengths are different."
)
def papers_positions(x, start):
    return x + sinusoidal(x.shape[1], x.shape[2], start)


@exercise.mistake(
    "those are the paper's positions, and an odd width has one cosine fewer than sines."
)
def papers_positions_in_even_widths_only(x, start):
    T, d_model = x.shape[1:]
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    sines, cosines = sines_and_cosines(x, start, exponents)
    papers = torch.zeros(T, d_model)
    papers[:, 0::2] = sines
    papers[:, 1::2] = cosines  # one too many, if the width is odd
    return x + papers


@exercise.mistake("your sines and cosines alternate, as in the paper: here each has its own block.")
def in_turns(x, start):
    return with_blocks(x, [torch.stack(sines_and_cosines(x, start), dim=2).flatten(1)])


@exercise.mistake("you exchanged the blocks: which one is 0 at position 0?")
def blocks_exchanged(x, start):
    return with_blocks(x, sines_and_cosines(x, start)[::-1])


@exercise.mistake("if the width is odd, the last column is the one left over.")
def first_column_left_over(x, start):
    both = torch.cat(sines_and_cosines(x, start), dim=1)
    return x + F.pad(both, (x.shape[2] % 2, 0)).to(x)


@exercise.mistake(
    "if the width is odd, you make room for one more wave; here one column stays as it is."
)
def one_more_sine(x, start):
    T, d_model = x.shape[1:]
    return x + waves(T, d_model + d_model % 2, start)[:, :d_model].to(x)


@exercise.mistake(
    "yours has the paper's order and wavelengths: here all sines come first, and the last "
    "wavelength is 10 000 · 2π."
)
def papers_pairs(x, start):
    both = torch.stack(sines_and_cosines(x, start, papers_exponents(x.shape[2])), dim=2)
    return with_blocks(x, [both.flatten(1)])


@exercise.mistake(
    "your first wave takes the same value at every position: how long is one period of sin(t)?"
)
def wavelengths_without_2_pi(x, start):
    angles = 2 * math.pi * angles_at(x.shape[1], start, steps_to_the_end(x.shape[2] // 2))
    return with_blocks(x, [angles.sin(), angles.cos()])


@exercise.mistake(
    "your waves get shorter from column to column: starting from 2π, they should get longer."
)
def shorter_and_shorter(x, start):
    return with_blocks(x, sines_and_cosines(x, start, -steps_to_the_end(x.shape[2] // 2)))


@exercise.mistake("you count from 1: the first symbol is at `start`.")
def from_1(x, start):
    return add_waves(x, start + 1)


@exercise.mistake("you always start at 0: start at `start`.")
def start_ignored(x, start):
    return add_waves(x, 0)


@exercise.mistake("those are only the waves: add them to x.")
def waves_alone(x, start):
    return add_waves(0 * x, start)
