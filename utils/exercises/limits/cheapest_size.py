"""Networks of several sizes cost the same to train: which size has the lowest loss?"""

import numpy as np
from torch import Tensor

from utils.exercises.checking import Exercise, random


def cheapest_size(sizes: Tensor, losses: Tensor) -> float:
    """Return the size N at the lowest point of a parabola through the losses, over log N.

    The parabola is that of least squares, and its lowest point may lie beyond the sizes trained.
    Shapes: sizes N and losses (n,), at least three different sizes, to a number.
    """
    square, slope, _ = np.polyfit(sizes.log(), losses, 2)
    return float(np.exp(-slope / (2 * square)))


exercise = Exercise(cheapest_size, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def trained(best: float, noise: float, *sizes: float) -> tuple[Tensor, Tensor]:
    """Losses on a parabola over log N, with its lowest point at `best`, each a little off."""
    N = random(len(sizes)).new_tensor(sizes)
    return N, 2.3 + 0.08 * (N / best).log() ** 2 + noise * random(len(sizes))


@exercise.stage("three sizes")
def three():
    return [trained(7e4, 0, 2e4, 9e4, 3e5), trained(20.0, 0, 3.0, 9.0, 80.0)]


@exercise.stage("more sizes than a parabola passes through")
def several():
    return [
        trained(4e5, 0.02, 3e4, 1e5, 2e5, 6e5, 2e6, 4e6),
        trained(3e6, 0.03, 1e7, 2e5, 6e5, 3.2e6, 4.1e7, 1.5e6, 9e4),
    ]


@exercise.stage("a lowest point beyond the sizes")
def beyond():
    return [trained(6e6, 0.01, 1e5, 2e5, 5e5, 9e5, 3e6), trained(8e3, 0.01, 2e4, 7e4, 1e5, 6e5)]


# What goes wrong ----------------------------------------------------------------------------------


def parabola(x, y) -> tuple[float, float, float]:
    """a, b and c of ax² + bx + c."""
    return tuple(map(float, np.polyfit(np.asarray(x), np.asarray(y), 2)))


def lowest(x, y) -> float:
    a, b, _ = parabola(x, y)
    return -b / (2 * a)


@exercise.mistake(
    "your parabola is over the sizes themselves: they grow by factors, so fit it over their "
    "logarithms."
)
def over_sizes(sizes, losses):
    return lowest(sizes, losses)


@exercise.mistake("that is the logarithm of the size: return the size.")
def logarithm(sizes, losses):
    return lowest(sizes.log(), losses)


@exercise.mistake("that is the logarithm of the size, to the base 10: return the size.")
def logarithm_of_tens(sizes, losses):
    return lowest(sizes.log10(), losses)


@exercise.mistake(
    "that is the best one of the sizes that were trained: the lowest point may lie between them."
)
def best_of_trained(sizes, losses):
    return sizes[losses.argmin()].item()


@exercise.mistake("two bases are mixed: the logarithm has base 10, and the power base e.")
def tens_then_e(sizes, losses):
    return float(np.exp(lowest(sizes.log10(), losses)))


@exercise.mistake("two bases are mixed: the logarithm has base 2, and the power base e.")
def twos_then_e(sizes, losses):
    return float(np.exp(lowest(sizes.log2(), losses)))


@exercise.mistake("two bases are mixed: the logarithm has base 2, and the power base 10.")
def twos_then_tens(sizes, losses):
    return 10 ** lowest(sizes.log2(), losses)


@exercise.mistake("the sign is lost: where does the slope 2ax + b become 0?")
def sign_lost(sizes, losses):
    return float(np.exp(-lowest(sizes.log(), losses)))


@exercise.mistake("the 2 is missing: the slope of ax² + bx + c is not ax + b.")
def two_missing(sizes, losses):
    return float(np.exp(2 * lowest(sizes.log(), losses)))


@exercise.mistake("a factor is doubled: the slope of ax² + bx + c is not 4ax + b.")
def two_too_many(sizes, losses):
    return float(np.exp(lowest(sizes.log(), losses) / 2))


@exercise.mistake("the coefficients are in reverse order: `polyfit` gives the highest power first.")
def reverse_order(sizes, losses):
    _, b, c = parabola(sizes.log(), losses)
    return float(np.exp(-b / (2 * c)))


@exercise.mistake("that is how low the loss is there: the question is at which size.")
def lowest_loss(sizes, losses):
    a, b, c = parabola(sizes.log(), losses)
    return c - b**2 / (4 * a)


@exercise.mistake("that is the lowest loss of those that were trained: the question is a size.")
def lowest_trained(sizes, losses):
    return losses.min().item()


@exercise.mistake(
    "your parabola passes through the best size and its neighbours alone: the others were trained, "
    "too."
)
def around_the_best(sizes, losses):
    order = sizes.argsort()
    start = int(losses[order].argmin().clamp(1, len(sizes) - 2)) - 1
    three = order[start : start + 3]
    return float(np.exp(lowest(sizes[three].log(), losses[three])))


@exercise.mistake("you take logarithms of the losses, too: fit the losses as they are.")
def losses_in_logarithms(sizes, losses):
    return float(np.exp(lowest(sizes.log(), losses.log())))


@exercise.mistake(
    "your parabola is for the losses' logarithms, over the sizes themselves: it is the other axis "
    "that needs them."
)
def other_axis(sizes, losses):
    return lowest(sizes, losses.log())


@exercise.mistake("that is the index of the best size in the list: return the size itself.")
def place(sizes, losses):
    return float(losses.argmin())


@exercise.mistake("that is the middle of the sizes: the losses don't count in it.")
def middle(sizes, losses):
    return sizes.log().mean().exp().item()


@exercise.mistake(
    "you stay within the sizes that were trained: the parabola's lowest point may lie beyond them."
)
def kept_within(sizes, losses):
    N = cheapest_size(sizes, losses)
    return min(max(N, sizes.min().item()), sizes.max().item())


@exercise.mistake(
    "you subtract the mean of the logarithms before the fit, and it is missing after it: where "
    "does the lowest point lie then?"
)
def not_moved_back(sizes, losses):
    x = sizes.log()
    return float(np.exp(lowest(x - x.mean(), losses)))


@exercise.mistake("your curve has no square: a straight line has no lowest point.")
def line(sizes, losses):
    slope, height = np.polyfit(sizes.log(), losses, 1)
    return float(np.exp(-height / slope))
