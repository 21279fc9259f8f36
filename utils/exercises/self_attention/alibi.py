"""ALiBi: attention in which distance has a price."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from utils.attention import masked_softmax
from utils.exercises.checking import Exercise, random


def alibi_weights(scores: Tensor) -> Tensor:
    """Return weights like scores, each score lowered by slope times distance, without the future.

    Shapes: scores (B, h, T, S), scaled already; the T queries are the last of the S positions.
    """
    distance = behind(scores)
    return masked_softmax(scores - slopes(scores) * distance, distance >= 0)


def behind(scores: Tensor) -> Tensor:
    """Return (T, S): by how many positions each key comes before its query."""
    T, S = scores.shape[-2:]
    return torch.arange(S - T, S)[:, None] - torch.arange(S)


def slopes(scores: Tensor) -> Tensor:
    """Return (h, 1, 1): 2^(-8i/h) for heads i = 1, …, h."""
    h = scores.shape[1]
    return 2 ** (-8 * torch.arange(1, h + 1, dtype=scores.dtype) / h)[:, None, None]


exercise = Exercise(alibi_weights)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("the last of four queries")
def last_query():
    return [(random(1, 2, 1, 4),)]


@exercise.stage("as many queries as keys")
def square():
    return [(random(1, 2, 3, 3),)]


@exercise.stage("several heads, queries and sequences")
def several_heads():
    return [
        (random(2, 3, 4, 5).float(),),  # slopes in single precision are fine, too
        (random(2, 4, 3, 7),),
        (random(3, 2, 5, 6),),
        (random(4, 4, 4, 4),),
    ]


# What goes wrong ----------------------------------------------------------------------------------


def with_slopes(scores: Tensor, slope: Callable[[int, int], float]) -> Tensor:
    """Attend with slopes that a mistake computes from i and h."""
    h, distance = scores.shape[1], behind(scores)
    wrong = torch.tensor([slope(i, h) for i in range(1, h + 1)], dtype=scores.dtype)
    return masked_softmax(scores - wrong[:, None, None] * distance, distance >= 0)


def biased(scores: Tensor) -> Tensor:
    return scores - slopes(scores) * behind(scores)


@exercise.mistake("distant keys gain: distance should cost something.")
def distance_gains(scores):
    return masked_softmax(scores + slopes(scores) * behind(scores), behind(scores) >= 0)


@exercise.mistake("your first slope is 1: heads count from 1 here.")
def heads_from_0(scores):
    return with_slopes(scores, lambda i, h: 2 ** (-8 * (i - 1) / h))


@exercise.mistake(
    "those are the slopes of eight heads: use the number of heads, which is in the formula."
)
def of_eight_heads(scores):
    return with_slopes(scores, lambda i, h: 2.0**-i)


@exercise.mistake("with three heads your slopes are off: there, 8/h is not a whole number.")
def whole_exponents(scores):
    return with_slopes(scores, lambda i, h: 2.0 ** -(8 // h * i))


@exercise.mistake("all heads have the slope of the first; each should have its own.")
def one_slope(scores):
    return with_slopes(scores, lambda i, h: 2 ** (-8 / h))


@exercise.mistake("the first head should have the steepest slope, but has the flattest.")
def slopes_reversed(scores):
    return with_slopes(scores, lambda i, h: 2 ** (-8 * (h + 1 - i) / h))


@exercise.mistake("your first query is at the first key; here the last query is at the last key.")
def from_the_first_key(scores):
    T, S = scores.shape[-2:]
    distance = torch.arange(T)[:, None] - torch.arange(S)
    return masked_softmax(scores - slopes(scores) * distance, distance >= 0)


@exercise.mistake("the future costs as much as the past; it should be masked.")
def both_sides(scores):
    return (scores - slopes(scores) * behind(scores).abs()).softmax(-1)


@exercise.mistake("the future isn't masked, and even gains.")
def future_gains(scores):
    return biased(scores).softmax(-1)


@exercise.mistake(
    "you mask the future after the softmax: its share is lost, and a row sums to less than 1."
)
def masked_after_the_softmax(scores):
    return biased(scores).softmax(-1) * (behind(scores) >= 0)


@exercise.mistake("your softmax runs over the queries: the weights of one query should sum to 1.")
def over_the_queries(scores):
    return biased(scores).masked_fill(behind(scores) < 0, -math.inf).softmax(-2)


@exercise.mistake("that is plain causal attention: the distance is missing.")
def no_distance(scores):
    return masked_softmax(scores, behind(scores) >= 0)


@exercise.mistake("a query may see itself: there the distance is 0, and costs nothing.")
def not_itself(scores):
    return masked_softmax(biased(scores), behind(scores) > 0)


@exercise.mistake(
    "you lower the weights, after the softmax: a row no longer sums to 1. Lower the scores instead."
)
def weights_lowered(scores):
    distance = behind(scores)
    return masked_softmax(scores, distance >= 0) - slopes(scores) * distance.clamp_min(0)
