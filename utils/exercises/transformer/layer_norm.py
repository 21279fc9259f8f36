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


@exercise.stage("four axes, and two")
def other_axes():
    return [
        (1 + 2 * random(2, 5, 3, 4), random(4), random(4), 0.02),
        (2 + random(3, 5), random(5), random(5), 0.1),
    ]


@exercise.stage("as many positions and sequences as components")
def all_sizes_alike():
    return [(1 + random(3, 3, 3), random(3), random(3), 1e-3)]


# What goes wrong ----------------------------------------------------------------------------------


def normed(x: Tensor, eps: float, axes=-1, correction: int = 0) -> Tensor:
    """Give mean 0 and variance 1 over other axes, or with another divisor."""
    variance = x.var(axes, correction=correction, keepdim=True)
    return (x - x.mean(axes, keepdim=True)) / (variance + eps).sqrt()


@exercise.mistake(
    "you divide the squares by D - 1, as `var` and `std` do by default: here it is D."
)
def one_less(x, gain, bias, eps):
    return gain * normed(x, eps, correction=1) + bias


@exercise.mistake("you add ε to the root; it belongs under the root.")
def eps_outside(x, gain, bias, eps):
    deviation = x - x.mean(-1, keepdim=True)
    return gain * deviation / (deviation.square().mean(-1, keepdim=True).sqrt() + eps) + bias


@exercise.mistake(
    "you add ε to the standard deviation, and compute that with D - 1: ε belongs under the root, "
    "and the divisor is D."
)
def eps_outside_and_one_less(x, gain, bias, eps):
    return gain * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + bias


@exercise.mistake("where is ε? If all numbers of a position are equal, you divide 0 by 0.")
def no_eps(x, gain, bias, eps):
    return layer_norm(x, gain, bias, 0.0)


@exercise.mistake("you divide by the variance: dividing by its root brings the variance to 1.")
def no_root(x, gain, bias, eps):
    return gain * (x - x.mean(-1, keepdim=True)) / (x.var(-1, False, keepdim=True) + eps) + bias


@exercise.mistake("you don't subtract the mean: the numbers keep a common shift.")
def not_centred(x, gain, bias, eps):
    return gain * x / (x.var(-1, correction=0, keepdim=True) + eps).sqrt() + bias


@exercise.mistake("you divide by the root mean square: subtract the mean first.")
def root_mean_square(x, gain, bias, eps):
    return gain * x / (x.square().mean(-1, keepdim=True) + eps).sqrt() + bias


@exercise.mistake("you subtract the mean, but divide by the root mean square of the original x.")
def size_of_what_was(x, gain, bias, eps):
    deviation = x - x.mean(-1, keepdim=True)
    return gain * deviation / (x.square().mean(-1, keepdim=True) + eps).sqrt() + bias


@exercise.mistake("you subtract the mean, but keep the size: divide by the standard deviation.")
def centred_alone(x, gain, bias, eps):
    return gain * (x - x.mean(-1, keepdim=True)) + bias


@exercise.mistake("you average over the positions: a word's result would depend on its neighbours.")
def over_positions(x, gain, bias, eps):
    return gain * normed(x, eps, axes=1) + bias


@exercise.mistake("you average over a whole sequence: each position has its own mean.")
def over_sequences(x, gain, bias, eps):
    return gain * normed(x, eps, axes=(1, 2)) + bias


@exercise.mistake("you average over the sequences of the batch: that is batch norm.")
def over_the_batch(x, gain, bias, eps):
    return gain * normed(x, eps, axes=0) + bias


@exercise.mistake("all numbers of the batch share one mean in yours: each position has its own.")
def over_everything(x, gain, bias, eps):
    return gain * normed(x, eps, axes=tuple(range(x.dim()))) + bias


@exercise.mistake("the gain is missing: multiply by it after the norm.")
def no_gain(x, gain, bias, eps):
    return normed(x, eps) + bias


@exercise.mistake("the bias is missing: add it at the end.")
def no_bias(x, gain, bias, eps):
    return gain * normed(x, eps)


@exercise.mistake("gain and bias are missing: apply them after the norm.")
def neither(x, gain, bias, eps):
    return normed(x, eps)


@exercise.mistake("you exchanged gain and bias: multiply by the gain, then add the bias.")
def exchanged(x, gain, bias, eps):
    return bias * normed(x, eps) + gain


@exercise.mistake("your gain multiplies the bias, too: first the gain, then the bias.")
def bias_first(x, gain, bias, eps):
    return gain * (normed(x, eps) + bias)


@exercise.mistake("you apply gain and bias before the norm, which removes most of their effect.")
def before_the_norm(x, gain, bias, eps):
    return normed(gain * x + bias, eps)


@exercise.mistake(
    "a mean over the width has shape (B, T), and broadcasting aligns that with (T, D): keep its "
    "last axis with `keepdim=True`."
)
def axis_lost(x, gain, bias, eps):
    deviation = x - x.mean(-1)
    return gain * deviation / (deviation.square().mean(-1) + eps).sqrt() + bias


@exercise.mistake("`mean()` and `std()` without an axis take all numbers at once: give the axis.")
def without_an_axis(x, gain, bias, eps):
    return gain * (x - x.mean()) / (x.std() + eps) + bias


@exercise.mistake("you add up the squares: σ² is their mean.")
def sum_of_squares(x, gain, bias, eps):
    deviation = x - x.mean(-1, keepdim=True)
    return gain * deviation / (deviation.square().sum(-1, keepdim=True) + eps).sqrt() + bias


@exercise.mistake("you square ε: add it as it is.")
def eps_squared(x, gain, bias, eps):
    return layer_norm(x, gain, bias, eps**2)


@exercise.mistake("ε is always 1e-5 in yours: use the argument.")
def eps_of_its_own(x, gain, bias, eps):
    return layer_norm(x, gain, bias)


@exercise.mistake("deviations add up to 0: square them before you average.")
def not_squared(x, gain, bias, eps):
    deviation = x - x.mean(-1, keepdim=True)
    return gain * deviation / (deviation.mean(-1, keepdim=True) + eps).sqrt() + bias


@exercise.mistake("that is the mean absolute deviation: take the root of the mean square.")
def absolute_deviation(x, gain, bias, eps):
    deviation = x - x.mean(-1, keepdim=True)
    return gain * deviation / (deviation.abs().mean(-1, keepdim=True) + eps) + bias


@exercise.mistake("some programs store the gain minus 1; here it is the gain itself.")
def gain_less_one(x, gain, bias, eps):
    return layer_norm(x, 1 + gain, bias, eps)


@exercise.mistake(
    "axis 2 is the width only where x has three axes: count from the end, where the width is -1."
)
def axis_counted_from_the_front(x, gain, bias, eps):
    return gain * normed(x, eps, axes=2) + bias


@exercise.mistake("you average over the last two axes: each position has a mean of its own.")
def last_two_axes(x, gain, bias, eps):
    return gain * normed(x, eps, (-2, -1)) + bias


@exercise.mistake("`std` divides by D - 1 where you need D, and ε is missing under the root.")
def no_eps_and_one_less(x, gain, bias, eps):
    return gain * normed(x, 0.0, correction=1) + bias
