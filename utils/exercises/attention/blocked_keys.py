"""Attention weights under a mask that is True where there is padding."""

import math

import torch
from torch import Tensor

from utils.attention import masked_softmax
from utils.exercises.checking import Exercise


def weights_where_not(scores: Tensor, blocked: Tensor) -> Tensor:
    """Return weights (B, T, S), all 0 for a source that is nothing but padding.

    Shapes: scores (B, T, S), blocked (B, S), True for padding.
    """
    return masked_softmax(scores, ~blocked[:, None])


exercise = Exercise(weights_where_not)


# What it is tried on ------------------------------------------------------------------------------


def drawn(T: int, S: int, *lengths: int, offset: float = 0.0, grid: float = 0.25) -> tuple:
    """Draw scores on a grid, so that single precision holds them far from 0 too."""
    steps = torch.randint(-9, 10, (len(lengths), T, S), dtype=torch.float64)
    return offset + grid * steps, torch.arange(S) >= torch.tensor(lengths)[:, None]


@exercise.stage("nothing blocked")
def nothing_blocked():
    return [drawn(2, 3, 3)]


@exercise.stage("padding in two lengths")
def two_lengths():
    return [drawn(2, 5, 3, 5, 2)]


@exercise.stage("scores far below 0")
def far_below_0():
    return [drawn(3, 4, 2, 3, offset=-(2.0**15))]


@exercise.stage("scores below any constant")
def below_any_constant():
    return [drawn(3, 4, 3, 2, offset=-(2.0**31), grid=256)]


@exercise.stage("a source of nothing but padding")
def nothing_but_padding():
    return [drawn(3, 5, 2, 0, 4, 5), drawn(4, 3, 0, 2)]


# What goes wrong ----------------------------------------------------------------------------------


def filled(scores: Tensor, blocked: Tensor, value: float, axis: int = -1) -> Tensor:
    return scores.masked_fill(blocked[:, None], value).softmax(axis)


@exercise.mistake("you let through the blocked keys: the library's True means padding.")
def inverted(scores, blocked):
    return filled(scores, ~blocked, -math.inf)


@exercise.mistake(
    "masked after the softmax, a row no longer sums to 1: the blocked keys had their share already."
)
def masked_afterwards(scores, blocked):
    return scores.softmax(-1) * ~blocked[:, None]


@exercise.mistake("a score of 0 is a score like any other: its exponential is 1.")
def score_of_0(scores, blocked):
    return (scores * ~blocked[:, None]).softmax(-1)


@exercise.mistake("minus ten thousand is not below every score.")
def ten_thousand(scores, blocked):
    return filled(scores, blocked, -1e4)


@exercise.mistake(
    "minus a billion is not below every score, and no number at all in half precision."
)
def a_billion(scores, blocked):
    return filled(scores, blocked, -1e9)


@exercise.mistake(
    "where everything is blocked, you average over padding: nothing should be attended to."
)
def mean_of_padding(scores, blocked):
    return filled(scores, blocked, torch.finfo(torch.float64).min)


@exercise.mistake("where everything is blocked, the softmax divides 0 by 0.")
def zero_by_zero(scores, blocked):
    return filled(scores, blocked, -math.inf)


@exercise.mistake("your softmax runs over the queries: the weights of one query should sum to 1.")
def softmax_over_queries(scores, blocked):
    return filled(scores, blocked, -math.inf, axis=1)


@exercise.mistake("the blocked keys still get weight.")
def mask_ignored(scores, blocked):
    return scores.softmax(-1)


@exercise.mistake(
    "adding one number to all keys of a source changes nothing: where everything is blocked, you "
    "get the weights of a source without a mask."
)
def large_number_added(scores, blocked):
    return (scores - 1e9 * blocked[:, None]).softmax(-1)


@exercise.mistake(
    "you share out the weight that a softmax over all keys leaves: where a blocked key is far "
    "above the others, nothing is left."
)
def shared_out_afterwards(scores, blocked):
    left = scores.softmax(-1) * ~blocked[:, None]
    return left / left.sum(-1, keepdim=True)
