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


@exercise.mistake("you add ε to the root; it belongs under the root.")
def eps_outside(x, gain, eps):
    return gain * x / (x.square().mean(-1, keepdim=True).sqrt() + eps)


@exercise.mistake("you divide by D - 1: no mean was estimated here, so divide by D.")
def one_less(x, gain, eps):
    return gain * x / (x.square().sum(-1, keepdim=True) / (x.shape[-1] - 1) + eps).sqrt()


@exercise.mistake("that divides by the length of the vector, which grows with its width.")
def length(x, gain, eps):
    return gain * x / (x.square().sum(-1, keepdim=True) + eps).sqrt()


@exercise.mistake("you average over the positions: each has its own size.")
def over_positions(x, gain, eps):
    return gain * x / (x.square().mean(1, keepdim=True) + eps).sqrt()


@exercise.mistake("a whole sequence gets one size: a symbol's result would depend on later ones.")
def over_sequences(x, gain, eps):
    return gain * x / (x.square().mean((1, 2), keepdim=True) + eps).sqrt()


@exercise.mistake("all sequences of the batch share one size in yours: each position has its own.")
def over_the_batch(x, gain, eps):
    return gain * x / (x.square().mean() + eps).sqrt()


@exercise.mistake(
    "a variance subtracts the mean first: here nothing is subtracted, not even in the divisor."
)
def deviation(x, gain, eps):
    return gain * x / (x.var(-1, correction=0, keepdim=True) + eps).sqrt()


@exercise.mistake(
    "`var` subtracts the mean first, and divides by D - 1: here nothing is subtracted, and the "
    "divisor is D."
)
def deviation_with_one_less(x, gain, eps):
    return gain * x / (x.var(-1, keepdim=True) + eps).sqrt()


@exercise.mistake("where is ε? A vector of zeros would give 0 divided by 0.")
def no_eps(x, gain, eps):
    return rms_norm(x, gain, 0.0)


@exercise.mistake("the gain is missing: multiply by it after the norm.")
def no_gain(x, gain, eps):
    return rms_norm(x, 1.0, eps)


@exercise.mistake("you divide by the mean square: take its root.")
def no_root(x, gain, eps):
    return gain * x / (x.square().mean(-1, keepdim=True) + eps)


@exercise.mistake("that is the square of the mean: square the numbers first.")
def square_of_the_mean(x, gain, eps):
    return gain * x / (x.mean(-1, keepdim=True).square() + eps).sqrt()


@exercise.mistake("your divisor is correct, but don't subtract the mean from x.")
def centred_above(x, gain, eps):
    return gain * (x - x.mean(-1, keepdim=True)) / (x.square().mean(-1, keepdim=True) + eps).sqrt()


@exercise.mistake(
    "a mean over the width has shape (B, T), and broadcasting aligns that with (T, D): keep its "
    "last axis with `keepdim=True`."
)
def axis_lost(x, gain, eps):
    return gain * x / (x.square().mean(-1) + eps).sqrt()


@exercise.mistake("some programs store the gain minus 1; here it is the gain itself.")
def gain_less_one(x, gain, eps):
    return rms_norm(x, 1 + gain, eps)


@exercise.mistake("that is the mean absolute value: take the root of the mean square.")
def mean_size(x, gain, eps):
    return gain * x / (x.abs().mean(-1, keepdim=True) + eps)


@exercise.mistake("you apply the gain before the norm, which removes most of its effect.")
def gain_before_the_norm(x, gain, eps):
    return rms_norm(gain * x, 1.0, eps)


@exercise.mistake("ε is always 1e-5 in yours: use the argument.")
def eps_of_its_own(x, gain, eps):
    return rms_norm(x, gain, 1e-5)
