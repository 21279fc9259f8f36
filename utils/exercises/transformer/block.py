"""A block with pre-norm: each sublayer reads a normed copy, and adds its output to the stream."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def block(x: Tensor, norms: Sequence[Callable], sublayers: Sequence[Callable]) -> Tensor:
    """Shapes: x (B, T, D), which each norm and each sublayer keeps; returns (B, T, D)."""
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


@exercise.mistake("you normalise the sum: that is post-norm, and it leaves no path free.")
def post_norm(x, norms, sublayers):
    return run(x, norms, sublayers, lambda x, norm, f: norm(x + f(x)))


@exercise.mistake("you normalise the sublayer's output: normalise its input instead.")
def norm_behind(x, norms, sublayers):
    return run(x, norms, sublayers, lambda x, norm, f: x + norm(f(x)))


@exercise.mistake(
    "the path around a sublayer goes through its norm in yours: add f(norm(x)) to x itself."
)
def path_normed(x, norms, sublayers):
    return run(x, norms, sublayers, lambda x, norm, f: norm(x) + f(norm(x)))


@exercise.mistake("the input is lost: add the sublayer's output to it.")
def no_residual(x, norms, sublayers):
    return run(x, norms, sublayers, lambda x, norm, f: f(norm(x)))


@exercise.mistake("nothing is normalised: each sublayer should read norm(x).")
def no_norm(x, norms, sublayers):
    return run(x, norms, sublayers, lambda x, norm, f: x + f(x))


@exercise.mistake(
    "you normalise the sum as well as the sublayer's input: then no path is left free."
)
def both_norms(x, norms, sublayers):
    return run(x, norms, sublayers, lambda x, norm, f: norm(x + f(norm(x))))


@exercise.mistake("norm and sublayer each act by themselves: first the norm, then f on its result.")
def changed_places(x, norms, sublayers):
    return run(x, norms, sublayers, lambda x, norm, f: x + norm(x) + f(x))


@exercise.mistake(
    "each sublayer adds to the very first input, so the other sublayers' outputs are lost."
)
def first_input_again(x, norms, sublayers):
    return run(x, norms, sublayers, lambda y, norm, f: x + f(norm(y)))


@exercise.mistake(
    "all sublayers read the same input: each should read the result of the one before."
)
def side_by_side(x, norms, sublayers):
    return x + sum(f(norm(x)) for norm, f in zip(norms, sublayers, strict=True))


@exercise.mistake("you use the first norm for all sublayers: each has its own.")
def one_norm(x, norms, sublayers):
    return run(x, [norms[0]] * len(norms), sublayers, lambda x, norm, f: x + f(norm(x)))


@exercise.mistake("only the first sublayer ran: is `return` inside the loop?")
def returned_in_the_loop(x, norms, sublayers):
    return block(x, norms[:1], sublayers[:1])


@exercise.mistake("you run only two sublayers: a decoder's block has three.")
def two_alone(x, norms, sublayers):
    return block(x, norms[:2], sublayers[:2])


@exercise.mistake("you start with the last sublayer: go through them in order.")
def backwards(x, norms, sublayers):
    return block(x, norms[::-1], sublayers[::-1])


@exercise.mistake("yours has one sum around all sublayers: each needs a sum of its own.")
def one_residual(x, norms, sublayers):
    return x + run(x, norms, sublayers, lambda x, norm, f: f(norm(x)))


@exercise.mistake(
    "a norm comes after the last block of a stack, not at the end of each: it would leave no path "
    "free."
)
def norm_at_the_end(x, norms, sublayers):
    return norms[-1](block(x, norms, sublayers))


@exercise.mistake("each norm meets each sublayer in yours: go through them in pairs.")
def each_with_each(x, norms, sublayers):
    for norm in norms:
        for f in sublayers:
            x = x + f(norm(x))
    return x


@exercise.mistake(
    "you wrote out two sublayers, but a block can have one or three: write a loop over the norms "
    "and the sublayers."
)
def two_written_out(x, norms, sublayers):
    x = x + sublayers[0](norms[0](x))
    return x + sublayers[1](norms[1](x))


@exercise.mistake("you normalise twice before each sublayer: it should read norm(x).")
def normed_twice(x, norms, sublayers):
    return run(x, norms, sublayers, lambda x, norm, f: x + f(norm(norm(x))))


@exercise.mistake("you use the last norm for all sublayers: each has its own.")
def last_norm(x, norms, sublayers):
    return run(x, norms[-1:] * len(norms), sublayers, lambda x, norm, f: x + f(norm(x)))


@exercise.mistake("you subtract the sublayer's output from the stream: add it.")
def subtracted(x, norms, sublayers):
    return run(x, norms, sublayers, lambda x, norm, f: x - f(norm(x)))


@exercise.mistake("x comes in twice: `x += x + …` doubles the stream at each sublayer.")
def input_twice(x, norms, sublayers):
    return run(x, norms, sublayers, lambda x, norm, f: x + x + f(norm(x)))
