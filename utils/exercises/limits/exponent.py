"""A power law is a straight line between logarithms: how steep is it?"""

from collections.abc import Callable

import numpy as np
from torch import Tensor

from utils.exercises.checking import Exercise, random


def exponent(sizes: Tensor, losses: Tensor) -> float:
    """Return α of the power law L = A / N^α, by least squares over the logarithms of both.

    The line predicts the logarithms of losses, and it need not pass through any of the points.
    Shapes: sizes N and losses L (n,), in any order, to a number above 0 if losses fall.
    """
    x, y = sizes.log(), losses.log()
    x = x - x.mean()
    return -((x * y).sum() / (x * x).sum()).item()


exercise = Exercise(exponent, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def measured(alpha: float, A: float, noise: float, *sizes: float) -> tuple[Tensor, Tensor]:
    """Losses by a power law, each off by about a share of itself."""
    N = random(len(sizes)).new_tensor(sizes)
    return N, A / N**alpha * (noise * random(len(sizes))).exp()


@exercise.stage("two sizes, and a law without noise")
def exact():
    return [measured(0.31, 40.0, 0, 2e4, 5e5), measured(0.076, 11.0, 0, 3e3, 2e4, 7e4, 9e5)]


@exercise.stage("losses that scatter")
def scattered():
    return [
        measured(0.22, 60.0, 0.1, 1e4, 3e4, 7e4, 4e5, 1.1e6),
        measured(0.4, 300.0, 0.2, 2e5, 3e6, 1e4, 6e4, 9e5, 3e4, 7e6),
    ]


@exercise.stage("many sizes in any order")
def many():
    return [measured(alpha, 9.0, 0.3, *random(n).mul(3).exp()) for alpha, n in [(0.5, 12), (1, 31)]]


@exercise.stage("losses that rise with the size")
def rising():
    return [
        measured(-0.27, 0.2, 0.1, 1e3, 2e5, 3e4, 8e3),
        measured(-0.6, 1.4, 0.05, 7.0, 90.0, 3.0, 31.0, 12.0),
    ]


# What goes wrong ----------------------------------------------------------------------------------


def line(x: Tensor, y: Tensor) -> tuple[float, float]:
    """Slope and height of the line of least squares."""
    slope, height = np.polyfit(x.numpy(), y.numpy(), 1)
    return float(slope), float(height)


def between(a: int, b: int) -> Callable[[Tensor, Tensor], float]:
    """The exponent of the line through two of the points, in the order of the list."""

    def steep(sizes: Tensor, losses: Tensor) -> float:
        x, y = sizes.log(), losses.log()
        return -((y[b] - y[a]) / (x[b] - x[a])).item()

    return steep


@exercise.mistake(
    "only the losses are in logarithms: then an exponential is a straight line, not a power."
)
def losses_alone(sizes, losses):
    return -line(sizes, losses.log())[0]


@exercise.mistake("only the sizes are in logarithms: both axes of a power law are.")
def sizes_alone(sizes, losses):
    return -line(sizes.log(), losses)[0]


@exercise.mistake("nothing is in logarithms: a power law is no straight line as it is.")
def no_logarithm(sizes, losses):
    return -line(sizes, losses)[0]


@exercise.mistake("that is the slope, which is negative: the law divides by N^α.")
def slope_itself(sizes, losses):
    return line(sizes.log(), losses.log())[0]


@exercise.mistake("the sign is lost: if losses rise with the size, the exponent is below 0.")
def sign_lost(sizes, losses):
    return abs(line(sizes.log(), losses.log())[0])


@exercise.mistake("that is the height of the line, the logarithm of A: how steep is it?")
def height(sizes, losses):
    return line(sizes.log(), losses.log())[1]


@exercise.mistake("that is A, the law's loss for one weight: the question is the exponent.")
def factor(sizes, losses):
    return float(np.exp(line(sizes.log(), losses.log())[1]))


@exercise.mistake(
    "only the first and the last point count in yours: a line of least squares uses all."
)
def first_and_last(sizes, losses):
    return between(0, -1)(sizes, losses)


@exercise.mistake(
    "only the smallest and the largest size count in yours: a line of least squares uses all."
)
def smallest_and_largest(sizes, losses):
    return between(int(sizes.argmin()), int(sizes.argmax()))(sizes, losses)


@exercise.mistake(
    "you fit the sizes to the losses and invert the line: the losses scatter, so the line should "
    "predict them."
)
def inverse(sizes, losses):
    return -1 / line(losses.log(), sizes.log())[0]


@exercise.mistake("you fit sizes by losses: that line says by how much N grows as L falls.")
def axes_exchanged(sizes, losses):
    return -line(losses.log(), sizes.log())[0]


@exercise.mistake("that is 1 / α: the law has N to the power of α, not L.")
def reciprocal(sizes, losses):
    return -1 / line(sizes.log(), losses.log())[0]


@exercise.mistake("two logarithms are mixed: the losses' has base 10, that of the sizes base e.")
def losses_in_tens(sizes, losses):
    return -line(sizes.log(), losses.log10())[0]


@exercise.mistake("two logarithms are mixed: the sizes' has base 10, that of the losses base e.")
def sizes_in_tens(sizes, losses):
    return -line(sizes.log10(), losses.log())[0]


@exercise.mistake("two logarithms are mixed: the sizes' has base 2, that of the losses base e.")
def sizes_in_twos(sizes, losses):
    return -line(sizes.log2(), losses.log())[0]


@exercise.mistake("your line has to pass through the origin: its height is free.")
def through_the_origin(sizes, losses):
    x, y = sizes.log(), losses.log()
    return -((x * y).sum() / (x * x).sum()).item()


@exercise.mistake("your line has to pass through the first point: that one scatters like the rest.")
def through_the_first(sizes, losses):
    x, y = sizes.log(), losses.log()
    x, y = x - x[0], y - y[0]
    return -((x * y).sum() / (x * x).sum()).item()


@exercise.mistake(
    "that is the mean slope from each point to the next: points that are close together decide."
)
def mean_slope(sizes, losses):
    return -(losses.log().diff() / sizes.log().diff()).mean().item()


@exercise.mistake("that is a correlation: it says how well a line fits, not how steep it is.")
def correlation(sizes, losses):
    return -float(np.corrcoef(sizes.log(), losses.log())[0, 1])


@exercise.mistake("that is a ratio of two deviations: points that scatter make it larger.")
def ratio_of_deviations(sizes, losses):
    return (losses.log().std() / sizes.log().std()).item()


@exercise.mistake(
    "that is the covariance over n - 1 and the variance over n: the same divisor belongs to both."
)
def two_divisors(sizes, losses):
    n = len(sizes)
    return -line(sizes.log(), losses.log())[0] * n / (n - 1)


@exercise.mistake("that is the covariance alone: divide it by how far the sizes are spread.")
def covariance(sizes, losses):
    return -float(np.cov(sizes.log(), losses.log())[0, 1])


@exercise.mistake(
    "that is by how much the loss is multiplied if the size doubles, 2^-α: what is α?"
)
def by_doubling(sizes, losses):
    return 2 ** line(sizes.log(), losses.log())[0]
