"""Sublayers with a norm on either side, and a path between them that has none."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def sandwich(x: Tensor, sublayers: list[Callable]) -> Tensor:
    """Run x + LN(f(LN(x))) for each sublayer f, and a last norm behind them.

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


@exercise.mistake("that is pre-norm: what a sublayer adds should be normalised, too.")
def pre_norm(x, sublayers):
    return norm(pre_norm_alone(x, sublayers))


@exercise.mistake("that is a post-norm model: you normalise the sums, and so leave no path free.")
def post_norm_alone(x, sublayers):
    return run(x, sublayers, lambda x, f: norm(x + f(x)))


@exercise.mistake(
    "that is pre-norm, with one norm missing behind each sublayer and one at the end."
)
def pre_norm_alone(x, sublayers):
    return run(x, sublayers, lambda x, f: x + f(norm(x)))


@exercise.mistake("the sublayer reads what was not normalised.")
def behind_alone(x, sublayers):
    return norm(run(x, sublayers, lambda x, f: x + norm(f(x))))


@exercise.mistake(
    "what leaves the last sublayer is as large as all that was added: what follows it?"
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


@exercise.mistake("what goes past a sublayer should go past its norms as well.")
def path_normed(x, sublayers):
    return norm(run(x, sublayers, lambda x, f: norm(x) + norm(f(norm(x)))))


@exercise.mistake("what came in is lost: a sublayer adds to it.")
def no_residual(x, sublayers):
    return norm(run(x, sublayers, lambda x, f: norm(f(norm(x)))))


@exercise.mistake("each sublayer adds to the very first input: what the others added is lost.")
def first_input_again(x, sublayers):
    return norm(run(x, sublayers, lambda y, f: x + norm(f(norm(y)))))


@exercise.mistake(
    "all sublayers read the same input: each should read what the one before it left."
)
def side_by_side(x, sublayers):
    return norm(x + sum(norm(f(norm(x))) for f in sublayers))


@exercise.mistake("you normalise over positions and width together: each position is by itself.")
def over_positions_too(x, sublayers):
    def wide(x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[1:])

    return wide(run(x, sublayers, lambda x, f: x + wide(f(wide(x)))))


@exercise.mistake(
    "each sublayer reads what was not normalised, and nothing follows the last of them: two norms "
    "are missing."
)
def behind_alone_without_the_last(x, sublayers):
    return run(x, sublayers, lambda x, f: x + norm(f(x)))


@exercise.mistake("what came in is lost, since no sublayer adds to it; and a last norm is missing.")
def no_residual_without_the_last(x, sublayers):
    return run(x, sublayers, lambda x, f: norm(f(norm(x))))


@exercise.mistake("only the first sublayer has run: is `return` inside the loop?")
def returned_in_the_loop(x, sublayers):
    return sandwich(x, sublayers[:1])
