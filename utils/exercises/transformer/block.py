"""A block with pre-norm: each sublayer reads a normed copy, and adds to what goes past it."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def block(x: Tensor, norms: Sequence[Callable], sublayers: Sequence[Callable]) -> Tensor:
    """Shapes: x (B, T, D) to the same, as each norm and each sublayer does."""
    for norm, f in zip(norms, sublayers, strict=True):
        x = x + f(norm(x))
    return x


exercise = Exercise(block, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def mean_so_far(x: Tensor) -> Tensor:
    return x.cumsum(1) / torch.arange(1, x.shape[1] + 1)[:, None]


def norm_with(gain: float, bias: float) -> Callable:
    """A norm with a gain and a bias of its own, so that none can stand in for another."""

    def norm(x: Tensor) -> Tensor:
        return gain * torch.nn.functional.layer_norm(x, x.shape[-1:]) + bias

    return norm


NORMS = [norm_with(1.5, 0.2), norm_with(0.7, -0.3), norm_with(1.1, 0.5)]


@exercise.stage("one sublayer")
def one_sublayer():
    return [(2 * random(1, 2, 4), NORMS[:1], [torch.sin])]


@exercise.stage("two sublayers, as in an encoder")
def two_sublayers():
    return [(2 * random(2, 3, 5), NORMS[:2], [mean_so_far, torch.square])]


@exercise.stage("three sublayers, as in a decoder")
def three_sublayers():
    return [(3 * random(3, 4, 6), NORMS, [torch.square, mean_so_far, torch.sin])]


# What goes wrong ----------------------------------------------------------------------------------


def run(x: Tensor, norms, sublayers, step: Callable) -> Tensor:
    """Run x = step(x, norm, f) for each norm and sublayer."""
    for norm, f in zip(norms, sublayers, strict=True):
        x = step(x, norm, f)
    return x


@exercise.mistake("you norm the sum: that is post-norm, and it leaves no path free.")
def post_norm(x, norms, sublayers):
    return run(x, norms, sublayers, lambda x, norm, f: norm(x + f(x)))


@exercise.mistake("you norm what the sublayer gives: it is what the sublayer reads that is normed.")
def norm_behind(x, norms, sublayers):
    return run(x, norms, sublayers, lambda x, norm, f: x + norm(f(x)))


@exercise.mistake("what goes past a sublayer should go past its norm as well.")
def path_normed(x, norms, sublayers):
    return run(x, norms, sublayers, lambda x, norm, f: norm(x) + f(norm(x)))


@exercise.mistake("what came in is lost: a sublayer adds to it.")
def no_residual(x, norms, sublayers):
    return run(x, norms, sublayers, lambda x, norm, f: f(norm(x)))


@exercise.mistake("nothing is normed: each sublayer should read norm(x).")
def no_norm(x, norms, sublayers):
    return run(x, norms, sublayers, lambda x, norm, f: x + f(x))


@exercise.mistake("you norm the sum as well as what is read: then no path is left free.")
def both_norms(x, norms, sublayers):
    return run(x, norms, sublayers, lambda x, norm, f: norm(x + f(norm(x))))


@exercise.mistake("the norms have changed places with the sublayers: first the norm, then f.")
def changed_places(x, norms, sublayers):
    return run(x, norms, sublayers, lambda x, norm, f: x + norm(x) + f(x))


@exercise.mistake("each sublayer adds to the very first input: what the others added is lost.")
def first_input_again(x, norms, sublayers):
    return run(x, norms, sublayers, lambda y, norm, f: x + f(norm(y)))


@exercise.mistake(
    "all sublayers read the same input: each should read what the one before it left."
)
def side_by_side(x, norms, sublayers):
    return x + sum(f(norm(x)) for norm, f in zip(norms, sublayers, strict=True))


@exercise.mistake("every sublayer has a norm of its own: you use the first for all.")
def one_norm(x, norms, sublayers):
    return run(x, [norms[0]] * len(norms), sublayers, lambda x, norm, f: x + f(norm(x)))


@exercise.mistake("only the first sublayer has run: is `return` inside the loop?")
def returned_in_the_loop(x, norms, sublayers):
    return block(x, norms[:1], sublayers[:1])


@exercise.mistake("you run two sublayers only: a decoder's block has three.")
def two_alone(x, norms, sublayers):
    return block(x, norms[:2], sublayers[:2])


@exercise.mistake("the last sublayer comes first: go through them in their order.")
def backwards(x, norms, sublayers):
    return block(x, norms[::-1], sublayers[::-1])


@exercise.mistake("one sum around all of them: each sublayer adds to the stream by itself.")
def one_residual(x, norms, sublayers):
    return x + run(x, norms, sublayers, lambda x, norm, f: f(norm(x)))
