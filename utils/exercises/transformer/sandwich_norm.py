"""Sublayers with a norm on either side, and a path between them that has none."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def sandwich(x: Tensor, sublayers: list[Callable]) -> Tensor:
    """Run x + LN(f(LN(x))) for each sublayer f, and a last norm after them.

    Shapes: x (B, T, D) to the same.
    """
    for f in sublayers:
        x = x + norm(f(norm(x)))
    return norm(x)


def norm(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:])


exercise = Exercise(sandwich)


# What it is tried on ------------------------------------------------------------------------------


def mean_so_far(x: Tensor) -> Tensor:
    return x.cumsum(1) / torch.arange(1, x.shape[1] + 1)[:, None]


@exercise.stage("one sublayer")
def one_sublayer():
    return [(2 * random(1, 2, 4), [torch.sin])]


@exercise.stage("two sublayers")
def two_sublayers():
    return [(2 * random(2, 3, 5), [mean_so_far, torch.square])]


@exercise.stage("three sublayers")
def three_sublayers():
    return [(3 * random(3, 4, 6), [torch.square, mean_so_far, torch.sin])]


# What goes wrong ----------------------------------------------------------------------------------


def run(x: Tensor, sublayers: list[Callable], step: Callable) -> Tensor:
    """Run x = step(x, f) for each sublayer f, without a last norm."""
    for f in sublayers:
        x = step(x, f)
    return x


@exercise.mistake("you normalise the sum: that is post-norm, and no path is left free.")
def post_norm(x, sublayers):
    return norm(post_norm_alone(x, sublayers))


@exercise.mistake("that is pre-norm: normalise each sublayer's output, too.")
def pre_norm(x, sublayers):
    return norm(pre_norm_alone(x, sublayers))


@exercise.mistake("that is post-norm: you normalise the sums, so no path is left free.")
def post_norm_alone(x, sublayers):
    return run(x, sublayers, lambda x, f: norm(x + f(x)))


@exercise.mistake("that is pre-norm: a norm is missing after each sublayer, and one at the end.")
def pre_norm_alone(x, sublayers):
    return run(x, sublayers, lambda x, f: x + f(norm(x)))


@exercise.mistake("your sublayer reads the stream as it is: normalise its input.")
def behind_alone(x, sublayers):
    return norm(run(x, sublayers, lambda x, f: x + norm(f(x))))


@exercise.mistake(
    "the last norm is missing: after all sublayers, the stream is as large as everything that was "
    "added."
)
def no_last_norm(x, sublayers):
    return run(x, sublayers, lambda x, f: x + norm(f(norm(x))))


@exercise.mistake("you normalise the sum as well: then no path is left free.")
def sums_too(x, sublayers):
    return norm(sums_too_alone(x, sublayers))


@exercise.mistake(
    "you normalise each sum: no path is left free, and one norm at the end is enough."
)
def sums_too_alone(x, sublayers):
    return run(x, sublayers, lambda x, f: norm(x + norm(f(norm(x)))))


@exercise.mistake("the path around a sublayer goes through a norm in yours: add to x itself.")
def path_normed(x, sublayers):
    return norm(run(x, sublayers, lambda x, f: norm(x) + norm(f(norm(x)))))


@exercise.mistake("the input is lost: add the sublayer's output to it.")
def no_residual(x, sublayers):
    return norm(run(x, sublayers, lambda x, f: norm(f(norm(x)))))


@exercise.mistake(
    "each sublayer adds to the very first input, so the other sublayers' outputs are lost."
)
def first_input_again(x, sublayers):
    return norm(run(x, sublayers, lambda y, f: x + norm(f(norm(y)))))


@exercise.mistake(
    "all sublayers read the same input: each should read the result of the one before."
)
def side_by_side(x, sublayers):
    return norm(x + sum(norm(f(norm(x))) for f in sublayers))


@exercise.mistake(
    "you normalise over positions and width together: treat each position separately."
)
def over_positions_too(x, sublayers):
    def wide(x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[1:])

    return wide(run(x, sublayers, lambda x, f: x + wide(f(wide(x)))))


@exercise.mistake(
    "your sublayers read the stream as it is, and nothing follows the last of them: two norms are "
    "missing."
)
def behind_alone_without_the_last(x, sublayers):
    return run(x, sublayers, lambda x, f: x + norm(f(x)))


@exercise.mistake("the input is lost, since no sublayer adds to it; and the last norm is missing.")
def no_residual_without_the_last(x, sublayers):
    return run(x, sublayers, lambda x, f: norm(f(norm(x))))


@exercise.mistake("only the first sublayer ran: is `return` inside the loop?")
def returned_in_the_loop(x, sublayers):
    return sandwich(x, sublayers[:1])
