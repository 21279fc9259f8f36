"""A weight in whole numbers of 8 bits, with a scale for each row."""

import functools
from collections.abc import Callable

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def int8_rows(W: Tensor) -> tuple[Tensor, Tensor]:
    """Return whole numbers q from -127 to 127, as int8, and a scale s for each row: W ≈ s · q.

    The scale is the least for which a row's largest number fits; q is rounded to the nearest, and
    halfway to the even one, as torch.round does. A row of zeros has a scale of 1. Half precision is
    too coarse for a scale: then it is in float32.
    Shapes: W (n, d) to q (n, d) and s (n, 1).
    """
    W = W.to(torch.promote_types(W.dtype, torch.float32))
    scale = least_scale(W)
    return (W / scale).round().clamp(-127, 127).to(torch.int8), scale


def least_scale(W: Tensor, most: float = 127.0) -> Tensor:
    scale = W.abs().amax(dim=1, keepdim=True) / most
    return torch.where(scale > 0, scale, 1.0)


def rounded(W: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
    return (W / scale).round().to(torch.int8), scale


def in_a_byte(answer: Callable) -> Callable:
    """An answer whose whole numbers have to take a byte each."""

    @functools.wraps(answer)
    def narrow(W):
        given = answer(W)
        match given:
            case (Tensor() as q, _) if q.dtype in (torch.int16, torch.int32, torch.int64):
                raise TypeError(f"the whole numbers are {q.dtype}: one of torch.int8 is a byte.")
        return given

    return narrow


exercise = Exercise(int8_rows, gradient=False, through=in_a_byte, runs=True)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one row")
def one_row():
    return [(torch.tensor([[0.3, 1.27, -0.052, 0.04]]).double(),)]


@exercise.stage("a row whose largest number is negative")
def negative():
    return [(torch.tensor([[0.5, -2.54, 1.23], [-0.3, -0.1, -0.7]]).double(),)]


@exercise.stage("rows of different sizes")
def different_sizes():
    return [(torch.tensor([[0.01], [1.0], [50.0]]).double() * random(3, 6),)]


@exercise.stage("numbers halfway between two")
def halfway():
    return [(torch.tensor([[127.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5]]).double(),)]


@exercise.stage("a row of zeros")
def zeros():
    return [(torch.tensor([[0.0, 0.0, 0.0], [1.0, -0.4, 0.25]]).double(),)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("you use one scale for all rows: a row of small numbers is rounded to zeros.")
def one_scale(W):
    scale = W.abs().max() / 127
    return rounded(W, scale.expand(len(W), 1))


@exercise.mistake("you have a scale for each column: each *row* makes one output of the layer.")
def by_column(W):
    scale = W.abs().amax(dim=0, keepdim=True) / 127
    return rounded(W, torch.where(scale > 0, scale, 1.0))


@exercise.mistake("the largest number may be negative: compare absolute values.")
def signs_kept(W):
    scale = W.amax(dim=1, keepdim=True) / 127
    return rounded(W, torch.where(scale != 0, scale, 1.0))


@exercise.mistake("int8 ends at 127: with a step of max / 128, the largest number becomes -128.")
def up_to_128(W):
    return rounded(W, least_scale(W, 128.0))


@exercise.mistake(
    "with max / 255 most numbers don't fit: half of the 255 steps are for the negative ones."
)
def up_to_255(W):
    return rounded(W, least_scale(W, 255.0))


@exercise.mistake(
    "(max - min) / 255 is the step of a rounding that has an offset as well; here 0 is always 0."
)
def with_an_offset(W):
    scale = (W.amax(dim=1, keepdim=True) - W.amin(dim=1, keepdim=True)) / 255
    return rounded(W, torch.where(scale > 0, scale, 1.0))


@exercise.mistake("you cut digits off instead of rounding: all numbers shrink towards 0.")
def cut_off(W):
    scale = least_scale(W)
    return (W / scale).to(torch.int8), scale


@exercise.mistake("you round down: all numbers move to the left by half a step on average.")
def rounded_down(W):
    scale = least_scale(W)
    return (W / scale).floor().to(torch.int8), scale


@exercise.mistake(
    "you always round halves up, so sums drift: `torch.round` goes to the even number."
)
def halves_up(W):
    scale = least_scale(W)
    return (W / scale + 0.5).floor().to(torch.int8), scale


@exercise.mistake(
    "your scale for a row of zeros is 0, or nearly: nothing can be divided by 0, so the docstring "
    "gives it 1."
)
def divides_by_zero(W):
    return rounded(W, W.abs().amax(dim=1, keepdim=True) / 127)


@exercise.mistake("the scale is upside down: weights are scale *times* whole number.")
def upside_down(W):
    q, scale = int8_rows(W)
    return q, 1 / scale


@exercise.mistake("the scale is the largest number itself: 127 of its steps make that.")
def not_divided(W):
    q, scale = int8_rows(W)
    zero = W.abs().amax(dim=1, keepdim=True) == 0
    return q, torch.where(zero, 1.0, 127 * scale)


@exercise.mistake("these are the rounded weights as real numbers: return the whole numbers q.")
def widened(W):
    q, scale = int8_rows(W)
    return scale * q, scale


@exercise.mistake("your scale is the mean absolute value of a row: its large numbers don't fit.")
def mean_size(W):
    scale = W.abs().mean(dim=1, keepdim=True) / 127
    return rounded(W, torch.where(scale > 0, scale, 1.0))


@exercise.mistake("you round halves away from 0: `torch.round` goes to the even number.")
def halves_away_from_0(W):
    scale = least_scale(W)
    numbers = W / scale
    return (numbers.sign() * (numbers.abs() + 0.5).floor()).to(torch.int8), scale


@exercise.mistake("the scales have lost an axis: keepdim=True keeps them as (n, 1).")
def axis_lost(W):
    q, scale = int8_rows(W)
    return q, scale[:, 0]


@exercise.mistake("return the whole numbers first, then the scales.")
def exchanged(W):
    return int8_rows(W)[::-1]


@exercise.mistake("you round before you divide, so weights below ½ are lost.")
def rounded_first(W):
    s = least_scale(W)
    return (W.round() / s).to(torch.int8), s


@exercise.mistake(
    "for a row of zeros you set the largest number to 1, so its scale is 1/127: the scale is 1."
)
def largest_set_to_1(W):
    largest = W.abs().amax(dim=1, keepdim=True)
    return rounded(W, torch.where(largest > 0, largest, 1.0) / 127)


@exercise.mistake(
    "you take the absolute value of the largest number: take the largest of the absolute values."
)
def sign_dropped_last(W):
    scale = W.amax(dim=1, keepdim=True).abs() / 127
    return rounded(W, torch.where(scale > 0, scale, 1.0))


@exercise.mistake("you multiply by the scale: weights are scale *times* whole number, so divide.")
def multiplied(W):
    scale = least_scale(W)
    return (W * scale).round().to(torch.int8), scale


@exercise.mistake(
    "your scale is the row's largest number, so only -1, 0 and 1 are left: 127 steps lead up to it."
)
def largest_as_the_scale(W):
    return rounded(W, least_scale(W, 1.0))


@exercise.mistake("you round the weights themselves: divide them by their scale first.")
def not_divided_at_all(W):
    return W.round().to(torch.int8), least_scale(W)


@exercise.mistake("you round up: all numbers move to the right by half a step on average.")
def rounded_up(W):
    scale = least_scale(W)
    return (W / scale).ceil().to(torch.int8), scale


@exercise.mistake("your scale is the length of the row: take its largest absolute value.")
def length_of_the_row(W):
    scale = W.norm(dim=1, keepdim=True) / 127
    return rounded(W, torch.where(scale > 0, scale, 1.0))


@exercise.mistake(
    "(max - min) / 254 fits only a row whose two ends are equally far from 0: take the largest "
    "absolute value."
)
def half_of_the_range(W):
    scale = (W.amax(dim=1, keepdim=True) - W.amin(dim=1, keepdim=True)) / 254
    return rounded(W, torch.where(scale > 0, scale, 1.0))


@exercise.mistake(
    "the largest number may be negative: compare absolute values, and nothing has to be clamped."
)
def signs_kept_and_clamped(W):
    scale = W.amax(dim=1, keepdim=True) / 127
    scale = torch.where(scale > 0, scale, 1.0)
    return (W / scale).round().clamp(-127, 127).to(torch.int8), scale


@exercise.mistake("the signs are lost: only the scale is made from absolute values.")
def signs_lost(W):
    q, scale = int8_rows(W)
    return q.abs(), scale


@exercise.mistake("`uint8` has no negative numbers: they come out as 256 minus their size.")
def unsigned(W):
    q, scale = int8_rows(W)
    return q.to(torch.uint8), scale


@exercise.mistake(
    "no scale of yours is below 1: that suits a row of zeros, but small weights vanish with it."
)
def at_least_1(W):
    return rounded(W, (W.abs().amax(dim=1, keepdim=True) / 127).clamp(min=1.0))


@exercise.mistake(
    "a small number is added to each scale: then they aren't exact, and that of zeros should be 1."
)
def small_number_added(W):
    return rounded(W, W.abs().amax(dim=1, keepdim=True) / 127 + 1e-8)
