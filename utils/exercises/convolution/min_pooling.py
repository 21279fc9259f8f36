"""Pooling that keeps the smallest value of each window."""

import math

from torch import Tensor
from torch.nn import functional as F

from utils.convolution import max_pool2d
from utils.exercises.checking import Exercise, random


def min_pool2d(x: Tensor, kernel_size: int, stride: int, padding: int) -> Tensor:
    """Take the smallest value of each window; padding never wins.

    Shapes: x (B, C, H, W). Returns: (B, C, H_out, W_out).
    """
    return -max_pool2d(-x, kernel_size, stride, padding)


exercise = Exercise(min_pool2d)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("no padding")
def no_padding():
    return [(random(1, 1, 4, 4), 2, 2, 0)]


@exercise.stage("maps with positive values only, padded")
def positive_maps():
    return [(random(1, 1, 4, 4).exp() + 5, 3, 2, 1)]


@exercise.stage("values beyond any constant")
def large_values():
    return [(1e30 * (random(1, 2, 4, 4).exp() + 1), 3, 2, 1)]


@exercise.stage("several channels, odd sizes, windows that overlap")
def several_channels():
    return [
        (random(2, 3, 7, 6), 3, 2, 1),
        (random(3, 2, 5, 8), 3, 1, 1),
        (random(2, 4, 6, 5) - 9, 2, 2, 1),
    ]


# What goes wrong ----------------------------------------------------------------------------------


def padded_with(value: float, x: Tensor, kernel_size: int, stride: int, padding: int) -> Tensor:
    return min_pool2d(F.pad(x, [padding] * 4, value=value), kernel_size, stride, 0)


@exercise.mistake(
    "zeros at the border win where all values are positive: which value can never win?"
)
def padded_with_zeros(x, kernel_size, stride, padding):
    return padded_with(0.0, x, kernel_size, stride, padding)


@exercise.mistake("-∞ never wins a maximum, but here the smallest wins.")
def padded_as_for_a_maximum(x, kernel_size, stride, padding):
    return padded_with(-math.inf, x, kernel_size, stride, padding)


@exercise.mistake("a large number is not larger than every number: what is?")
def padded_with_a_billion(x, kernel_size, stride, padding):
    return padded_with(1e9, x, kernel_size, stride, padding)


@exercise.mistake("this works until a map has values above a million: what is above them all?")
def padded_with_a_million(x, kernel_size, stride, padding):
    return padded_with(1e6, x, kernel_size, stride, padding)


@exercise.mistake("the window covers rows and columns; the channels stay separate.")
def over_channels(x, kernel_size, stride, padding):
    return min_pool2d(x, kernel_size, stride, padding).amin(1, keepdim=True)


@exercise.mistake("that is the largest value of each window.")
def maximum(x, kernel_size, stride, padding):
    return max_pool2d(x, kernel_size, stride, padding)


@exercise.mistake("the smallest is minus the largest of the negatives; one minus is missing.")
def one_minus_missing(x, kernel_size, stride, padding):
    return max_pool2d(-x, kernel_size, stride, padding)


@exercise.mistake("windows are `stride` apart, whatever their size.")
def jumps_by_the_window(x, kernel_size, stride, padding):
    return min_pool2d(x, kernel_size, kernel_size, padding)


@exercise.mistake("the padding is ignored: a frame comes around the picture first.")
def padding_ignored(x, kernel_size, stride, padding):
    return min_pool2d(x, kernel_size, stride, 0)


@exercise.mistake("that is the mean of each window; you need its smallest number.")
def mean(x, kernel_size, stride, padding):
    return F.avg_pool2d(x, kernel_size, stride, padding, count_include_pad=False)
