"""How wide does an interval have to be, to miss at most a share α of what comes?"""

import math
from statistics import NormalDist

from torch import Tensor

from utils.exercises.checking import Exercise, random


def conformal_width(scores: Tensor, alpha: float) -> float:
    """Return the k-th smallest of n scores, k = ⌈(n + 1)(1 - α)⌉; infinity if k is above n.

    A score says how far a target was from its forecast; it may be negative, where a target was
    inside of an interval.
    Shapes: scores (n,), in any order, to one number.
    """
    n = len(scores)
    k = math.ceil((n + 1) * (1 - alpha))
    return scores.sort().values[k - 1].item() if k <= n else math.inf


exercise = Exercise(conformal_width, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("a k that has to be rounded")
def rounded():
    return [(random(13).abs(), 0.3), (random(23).abs(), 0.2), (random(34).abs(), 0.15)]


@exercise.stage("a k that is a whole number before it is rounded")
def whole():
    return [(random(7).abs(), 0.5), (random(11).abs(), 0.25), (random(3).abs(), 0.5)]


@exercise.stage("scores of which some, or all, are negative")
def negative():
    return [(random(16), 0.4), (random(29) - 0.8, 0.1), (random(18) - 9, 0.35)]


@exercise.stage("too few scores for the share that is asked for")
def too_few():
    return [(random(6).abs(), 0.1), (random(2), 0.25)]


@exercise.stage("the largest score, where just enough of them are there")
def largest():
    return [(random(9).abs(), 0.12), (random(7).abs(), 0.125)]


# What goes wrong ----------------------------------------------------------------------------------


def smallest(scores: Tensor, k: int) -> float:
    """Return the k-th smallest score: the first if k is below 1, infinity if it is above n."""
    return scores.sort().values[max(k, 1) - 1].item() if k <= len(scores) else math.inf


def place(scores: Tensor, alpha: float, more: int = 1) -> float:
    """Return (n + 1)(1 - α), with another number in place of 1 if one is given."""
    return (len(scores) + more) * (1 - alpha)


@exercise.mistake(
    "you take a share of n: the score that is to come is one more, so it is a share of n + 1."
)
def of_n(scores, alpha):
    return smallest(scores, math.ceil(place(scores, alpha, 0)))


@exercise.mistake("k is rounded down: then more than a share α may lie outside.")
def rounded_down(scores, alpha):
    return smallest(scores, math.floor(place(scores, alpha)))


@exercise.mistake(
    "k is rounded to the nearest number: where that is down, more than a share α may lie outside."
)
def to_the_nearest(scores, alpha):
    return smallest(scores, round(place(scores, alpha)))


@exercise.mistake("k is rounded down, of n: then more than a share α may lie outside.")
def rounded_down_of_n(scores, alpha):
    return smallest(scores, math.floor(place(scores, alpha, 0)))


@exercise.mistake(
    "you always go one further up than k rounded down: a whole number stays as it is."
)
def down_and_one_more(scores, alpha):
    return scores.sort().values[math.floor(place(scores, alpha))].item()


@exercise.mistake(
    "that is the (k + 1)-th smallest: Python counts from 0, and “higher” goes to "
    "the next score as well."
)
def one_further(scores, alpha):
    return smallest(scores, min(math.ceil(place(scores, alpha)) + 1, len(scores)))


@exercise.mistake("that is the (k - 1)-th: Python counts from 0, and you subtract 1 twice.")
def one_less(scores, alpha):
    k = math.ceil(place(scores, alpha))
    return smallest(scores, k - 1 if k <= len(scores) else k)


@exercise.mistake("a share α lies within, and the rest outside: it is the other way round.")
def alpha_inside(scores, alpha):
    return smallest(scores, math.ceil((len(scores) + 1) * alpha))


@exercise.mistake("that is the k-th largest score: count from the smallest one.")
def from_the_largest(scores, alpha):
    k = math.ceil(place(scores, alpha))
    return -smallest(-scores, k) if k <= len(scores) else math.inf


@exercise.mistake(
    "half of α is left out on each side in yours: a score has no sides, since it is a distance."
)
def half_of_alpha(scores, alpha):
    return smallest(scores, math.ceil(place(scores, alpha / 2)))


@exercise.mistake(
    "with too few scores yours is the largest: not even that one is enough, so nothing is promised "
    "by any width."
)
def largest_if_too_few(scores, alpha):
    return smallest(scores, min(len(scores), math.ceil(place(scores, alpha))))


@exercise.mistake(
    "with too few scores yours is 0: that promises the most where the least is known."
)
def nothing_if_too_few(scores, alpha):
    found = conformal_width(scores, alpha)
    return 0.0 if found == math.inf else found


@exercise.mistake(
    "with too few scores yours is NaN: any interval that is wide enough to promise it is infinite."
)
def nan_if_too_few(scores, alpha):
    found = conformal_width(scores, alpha)
    return math.nan if found == math.inf else found


@exercise.mistake(
    "with too few scores yours raises an error, since there is no k-th: no width is enough then."
)
def error_if_too_few(scores, alpha):
    return scores.sort().values[math.ceil(place(scores, alpha)) - 1].item()


@exercise.mistake("yours is infinite where k is n: there is an n-th score, the largest.")
def infinite_at_n(scores, alpha):
    k = math.ceil(place(scores, alpha))
    return smallest(scores, k) if k < len(scores) else math.inf


@exercise.mistake("the scores aren't sorted: that is the k-th in the list.")
def not_sorted(scores, alpha):
    k = math.ceil(place(scores, alpha))
    return scores[k - 1].item() if k <= len(scores) else math.inf


@exercise.mistake(
    "`quantile` goes a share of the way between two scores, and knows nothing of the one to come: "
    "here it is the k-th score itself."
)
def between_two(scores, alpha):
    return scores.quantile(1 - alpha).item()


@exercise.mistake(
    "`quantile` at k / n goes a share of the way to the next score: here it is the k-th itself."
)
def quantile_at_k(scores, alpha):
    n = len(scores)
    k = math.ceil(place(scores, alpha))
    return scores.quantile(k / n).item() if k <= n else math.inf


@exercise.mistake(
    "`quantile` at k / n goes a share of the way to the next score, and at most to the last: with "
    "too few scores no width is enough."
)
def quantile_at_most(scores, alpha):
    return scores.quantile(min(1.0, math.ceil(place(scores, alpha)) / len(scores))).item()


@exercise.mistake(
    "`quantile` at (n + 1)(1 - α) / n goes a share of the way from one score to the next: take one."
)
def quantile_of_one_more(scores, alpha):
    return scores.quantile(min(1.0, place(scores, alpha) / len(scores))).item()


@exercise.mistake(
    "`quantile` with “higher” at 1 - α is a share of the way from the first to the last score: the "
    "one to come isn't counted."
)
def higher(scores, alpha):
    return scores.quantile(1 - alpha, interpolation="higher").item()


@exercise.mistake(
    "`quantile` with “higher” at (n + 1)(1 - α) / n goes that share of the n - 1 ways between the "
    "scores, and is a score too high here and there."
)
def higher_of_one_more(scores, alpha):
    share = min(1.0, place(scores, alpha) / len(scores))
    return scores.quantile(share, interpolation="higher").item()


@exercise.mistake("you make negative scores positive: those are targets that were well inside.")
def absolute(scores, alpha):
    return conformal_width(scores.abs(), alpha)


@exercise.mistake("you make a negative width 0: an interval may become narrower, too.")
def at_least_0(scores, alpha):
    return max(0.0, conformal_width(scores, alpha))


@exercise.mistake("that is the width of both sides: return how far an end is from the forecast.")
def both_ends(scores, alpha):
    return 2 * conformal_width(scores, alpha)


@exercise.mistake(
    "that is a multiple of the deviation, as for a normal distribution: here the scores decide, "
    "whatever their distribution."
)
def normal(scores, alpha):
    return NormalDist().inv_cdf(1 - alpha / 2) * scores.std().item()


@exercise.mistake("that is the largest of all scores: a share α may lie outside.")
def always_the_largest(scores, alpha):
    return scores.max().item()


@exercise.mistake("that is k: return the score that is the k-th smallest.")
def k_itself(scores, alpha):
    return float(math.ceil(place(scores, alpha)))


@exercise.mistake("these are all scores up to the k-th: return the k-th alone.")
def up_to_k(scores, alpha):
    return scores.sort().values[: math.ceil(place(scores, alpha))]


@exercise.mistake("that is the mean of the scores from the k-th on: return the k-th alone.")
def mean_of_the_largest(scores, alpha):
    k = math.ceil(place(scores, alpha))
    return scores.sort().values[k - 1 :].mean().item() if k <= len(scores) else math.inf
