"""A norm without a mean: RMSNorm."""

from torch import Tensor

from utils.exercises.checking import Exercise, random


def rms_norm(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    """Divide each position by its root mean square, and multiply by the gain.

    Shapes: x (B, T, D), gain (D,) to (B, T, D).
    """
    return gain * x / (x.square().mean(-1, keepdim=True) + eps).sqrt()


exercise = Exercise(rms_norm)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one position")
def one_position():
    return [(random(1, 1, 3), random(3), 0.01)]


@exercise.stage("small numbers")
def small_numbers():
    return [(0.1 * random(1, 1, 4), random(4), 0.1)]


@exercise.stage("several sequences")
def several_sequences():
    return [(3 * random(2, 3, 5), random(5), 1e-6), (1 + random(4, 2, 6), random(6), 0.5)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("you subtract the mean: that is layer norm. This one only looks at the size.")
def centred(x, gain, eps):
    return rms_norm(x - x.mean(-1, keepdim=True), gain, eps)


@exercise.mistake("ε is added to the root; it belongs to what the root is taken of.")
def eps_outside(x, gain, eps):
    return gain * x / (x.square().mean(-1, keepdim=True).sqrt() + eps)


@exercise.mistake("you divide by D - 1: no mean was estimated here, so nothing is to be corrected.")
def one_less(x, gain, eps):
    return gain * x / (x.square().sum(-1, keepdim=True) / (x.shape[-1] - 1) + eps).sqrt()


@exercise.mistake("that divides by the length of the vector, which grows with its width.")
def length(x, gain, eps):
    return gain * x / (x.square().sum(-1, keepdim=True) + eps).sqrt()


@exercise.mistake("you average over the positions: each has a size of its own.")
def over_positions(x, gain, eps):
    return gain * x / (x.square().mean(1, keepdim=True) + eps).sqrt()


@exercise.mistake("a whole sequence gets one size: a symbol would feel what comes after it.")
def over_sequences(x, gain, eps):
    return gain * x / (x.square().mean((1, 2), keepdim=True) + eps).sqrt()


@exercise.mistake("all sequences of the batch share one size: each position has its own.")
def over_the_batch(x, gain, eps):
    return gain * x / (x.square().mean() + eps).sqrt()


@exercise.mistake(
    "a variance takes the mean away first: here nothing is subtracted, not in the divisor either."
)
def deviation(x, gain, eps):
    return gain * x / (x.var(-1, correction=0, keepdim=True) + eps).sqrt()


@exercise.mistake(
    "a variance takes the mean away first, and divides by D - 1: here nothing is subtracted, and "
    "nothing corrected."
)
def deviation_with_one_less(x, gain, eps):
    return gain * x / (x.var(-1, keepdim=True) + eps).sqrt()


@exercise.mistake("where is ε? A vector of zeros would give 0 divided by 0.")
def no_eps(x, gain, eps):
    return rms_norm(x, gain, 0.0)


@exercise.mistake("the gain is missing: all numbers leave at the same scale.")
def no_gain(x, gain, eps):
    return rms_norm(x, 1.0, eps)


@exercise.mistake("you divide by the mean square: then twice as large comes out half as large.")
def no_root(x, gain, eps):
    return gain * x / (x.square().mean(-1, keepdim=True) + eps)


@exercise.mistake("that is the square of the mean: the numbers are squared first.")
def square_of_the_mean(x, gain, eps):
    return gain * x / (x.mean(-1, keepdim=True).square() + eps).sqrt()


@exercise.mistake("the divisor is right, but what it divides should not be centred.")
def centred_above(x, gain, eps):
    return gain * (x - x.mean(-1, keepdim=True)) / (x.square().mean(-1, keepdim=True) + eps).sqrt()


@exercise.mistake(
    "a mean over the width has the shape (B, T), and broadcasting lays that along (T, D): where is "
    "its last axis?"
)
def axis_lost(x, gain, eps):
    return gain * x / (x.square().mean(-1) + eps).sqrt()


@exercise.mistake("some programs store the gain less 1; here it is the gain itself.")
def gain_less_one(x, gain, eps):
    return rms_norm(x, 1 + gain, eps)


@exercise.mistake("that is the mean size: the root of the mean square is larger.")
def mean_size(x, gain, eps):
    return gain * x / (x.abs().mean(-1, keepdim=True) + eps)
