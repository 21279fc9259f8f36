"""Layer norm: each position gets mean 0 and variance 1, then a gain and a bias."""

from torch import Tensor

from utils.exercises.checking import Exercise, random


def layer_norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Shapes: x (..., D), gain and bias (D,); returns (..., D)."""
    deviation = x - x.mean(dim=-1, keepdim=True)
    variance = deviation.square().mean(dim=-1, keepdim=True)
    return gain * deviation / (variance + eps).sqrt() + bias


exercise = Exercise(layer_norm, runs=True)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one position")
def one_position():
    return [(3 + 2 * random(1, 1, 4), random(4), random(4), 0.01)]


@exercise.stage("small numbers")
def small_numbers():
    return [(0.1 * random(1, 1, 5), random(5), random(5), 0.1)]


@exercise.stage("several sequences")
def several_sequences():
    return [
        (1 + 3 * random(2, 3, 5), random(5), random(5), 1e-5),
        (random(4, 2, 6), random(6), random(6), 0.5),
    ]


@exercise.stage("as many positions and sequences as numbers")
def all_sizes_alike():
    return [(1 + random(3, 3, 3), random(3), random(3), 1e-3)]


# What goes wrong ----------------------------------------------------------------------------------


def normed(x: Tensor, eps: float, axes=-1, correction: int = 0) -> Tensor:
    """Give mean 0 and variance 1 over other axes, or with another divisor."""
    variance = x.var(axes, correction=correction, keepdim=True)
    return (x - x.mean(axes, keepdim=True)) / (variance + eps).sqrt()


@exercise.mistake(
    "you divide the squares by D - 1, as `var` and `std` do unless told otherwise: here it is D."
)
def one_less(x, gain, bias, eps):
    return gain * normed(x, eps, correction=1) + bias


@exercise.mistake("ε is added to the root; it belongs to what the root is taken of.")
def eps_outside(x, gain, bias, eps):
    deviation = x - x.mean(-1, keepdim=True)
    return gain * deviation / (deviation.square().mean(-1, keepdim=True).sqrt() + eps) + bias


@exercise.mistake("ε is added to a deviation that is divided by D - 1: both are otherwise here.")
def eps_outside_and_one_less(x, gain, bias, eps):
    return gain * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + bias


@exercise.mistake("where is ε? A position whose numbers are all equal would give 0 divided by 0.")
def no_eps(x, gain, bias, eps):
    return layer_norm(x, gain, bias, 0.0)


@exercise.mistake("you divide by the variance: it is its root that brings the variance to 1.")
def no_root(x, gain, bias, eps):
    return gain * (x - x.mean(-1, keepdim=True)) / (x.var(-1, False, keepdim=True) + eps) + bias


@exercise.mistake("the mean is not subtracted: the numbers keep a common shift.")
def not_centred(x, gain, bias, eps):
    return gain * x / (x.var(-1, correction=0, keepdim=True) + eps).sqrt() + bias


@exercise.mistake("you divide by the root mean square: the mean has to be subtracted first.")
def root_mean_square(x, gain, bias, eps):
    return gain * x / (x.square().mean(-1, keepdim=True) + eps).sqrt() + bias


@exercise.mistake("you subtract the mean, but divide by the size that x had before.")
def size_of_what_was(x, gain, bias, eps):
    deviation = x - x.mean(-1, keepdim=True)
    return gain * deviation / (x.square().mean(-1, keepdim=True) + eps).sqrt() + bias


@exercise.mistake("the mean is subtracted, and the size stays as it was: divide by the deviation.")
def centred_alone(x, gain, bias, eps):
    return gain * (x - x.mean(-1, keepdim=True)) + bias


@exercise.mistake("you average over the positions: a word would feel the words beside it.")
def over_positions(x, gain, bias, eps):
    return gain * normed(x, eps, axes=1) + bias


@exercise.mistake("you average over a whole sequence: each position has a mean of its own.")
def over_sequences(x, gain, bias, eps):
    return gain * normed(x, eps, axes=(1, 2)) + bias


@exercise.mistake("you average over the sequences of the batch: that is batch norm.")
def over_the_batch(x, gain, bias, eps):
    return gain * normed(x, eps, axes=0) + bias


@exercise.mistake("all numbers of the batch share one mean: each position has its own.")
def over_everything(x, gain, bias, eps):
    return gain * normed(x, eps, axes=(0, 1, 2)) + bias


@exercise.mistake("the gain is missing: all numbers leave at the same scale.")
def no_gain(x, gain, bias, eps):
    return normed(x, eps) + bias


@exercise.mistake("the bias is missing: it is added at the end.")
def no_bias(x, gain, bias, eps):
    return gain * normed(x, eps)


@exercise.mistake("gain and bias are missing: they come after the norm, and are learned.")
def neither(x, gain, bias, eps):
    return normed(x, eps)


@exercise.mistake("gain and bias have changed places: multiply by the gain, then add the bias.")
def exchanged(x, gain, bias, eps):
    return bias * normed(x, eps) + gain


@exercise.mistake("the gain multiplies the bias too: first the gain, then the bias.")
def bias_first(x, gain, bias, eps):
    return gain * (normed(x, eps) + bias)


@exercise.mistake("gain and bias come before the norm, which takes most of them away again.")
def before_the_norm(x, gain, bias, eps):
    return normed(gain * x + bias, eps)


@exercise.mistake(
    "a mean over the width has the shape (B, T), and broadcasting lays that along (T, D): where is "
    "its last axis? Ask for `keepdim=True`."
)
def axis_lost(x, gain, bias, eps):
    deviation = x - x.mean(-1)
    return gain * deviation / (deviation.square().mean(-1) + eps).sqrt() + bias


@exercise.mistake("`mean()` and `std()` without an axis take all numbers at once: name the axis.")
def without_an_axis(x, gain, bias, eps):
    return gain * (x - x.mean()) / (x.std() + eps) + bias


@exercise.mistake("you add the squares up: σ² is their mean.")
def sum_of_squares(x, gain, bias, eps):
    deviation = x - x.mean(-1, keepdim=True)
    return gain * deviation / (deviation.square().sum(-1, keepdim=True) + eps).sqrt() + bias


@exercise.mistake("ε is squared, and is to be added as it is.")
def eps_squared(x, gain, bias, eps):
    return layer_norm(x, gain, bias, eps**2)


@exercise.mistake("ε is always 1e-5 in yours: take the one that is given.")
def eps_of_its_own(x, gain, bias, eps):
    return layer_norm(x, gain, bias)
