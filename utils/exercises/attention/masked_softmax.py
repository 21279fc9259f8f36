"""Weights that leave out what a mask forbids."""

import math

import torch
from torch import Tensor

from utils.exercises.checking import Exercise


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Shapes: scores (B, T, S), mask broadcastable to it, True = allowed; weights (B, T, S)."""
    nothing = ~mask.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~mask, -math.inf).masked_fill(nothing, 0)
    return scores.softmax(dim=-1).masked_fill(nothing, 0)


exercise = Exercise(masked_softmax, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def drawn(T: int, S: int, *lengths: int, offset=0.0, step=0.25) -> tuple[Tensor, Tensor]:
    """Scores on a grid, which single precision holds far from 0 too, and a mask of padding."""
    steps = torch.randint(-9, 10, (len(lengths), T, S), dtype=torch.float64)
    return offset + steps * step, (torch.arange(S) < torch.tensor(lengths)[:, None])[:, None]


@exercise.stage("everything allowed")
def everything():
    return [drawn(2, 3, 3)]


@exercise.stage("padding after two lengths")
def two_lengths():
    return [drawn(2, 5, 5, 2), drawn(4, 3, 1, 3, 2)]


@exercise.stage("scores far below 0")
def far_below_0():
    far, farther = {"offset": -(2.0**15)}, {"offset": -(2.0**31), "step": 256.0}
    return [drawn(3, 4, 2, 3, **far), drawn(2, 3, 2, 1, **farther)]


@exercise.stage("masked scores far above the others")
def hidden_far_above():
    scores, mask = drawn(3, 4, 3, 1, 2)
    return [(scores + 2.0**12 * ~mask, mask)]


@exercise.stage("a mask for each query")
def for_each_query():
    scores, _ = drawn(4, 4, 4, 4)
    return [(scores, torch.ones(4, 4, dtype=torch.bool).tril())]


@exercise.stage("a query for which nothing is allowed")
def nowhere():
    return [drawn(2, 3, 0, 1), drawn(3, 5, 2, 0, 5)]


# What goes wrong ----------------------------------------------------------------------------------


def filled(scores: Tensor, mask: Tensor, value: float, axis: int = -1) -> Tensor:
    return scores.masked_fill(~mask, value).softmax(axis)


@exercise.mistake("your mask is the wrong way round: True means allowed.")
def upside_down(scores, mask):
    return masked_softmax(scores, ~mask)


@exercise.mistake(
    "masked after the softmax, a row no longer sums to 1: the masked positions had their share "
    "already."
)
def masked_afterwards(scores, mask):
    return scores.softmax(-1) * mask


@exercise.mistake("a score of 0 masks nothing, since e⁰ = 1.")
def score_of_0(scores, mask):
    return (scores * mask).softmax(-1)


@exercise.mistake("minus ten thousand is not below every score.")
def ten_thousand(scores, mask):
    return filled(scores, mask, -1e4)


@exercise.mistake("minus a billion is not below every score.")
def a_billion(scores, mask):
    return filled(scores, mask, -1e9)


@exercise.mistake(
    "where nothing is allowed, you average over the masked positions: these weights should be 0."
)
def mean_of_the_hidden(scores, mask):
    return filled(scores, mask, torch.finfo(torch.float64).min)


@exercise.mistake(
    "where nothing is allowed, a softmax of -∞ alone divides 0 by 0: these weights should be 0."
)
def zero_by_zero(scores, mask):
    return filled(scores, mask, -math.inf)


@exercise.mistake("your softmax runs over the queries: the weights of one query should sum to 1.")
def softmax_over_queries(scores, mask):
    return filled(scores, mask, -math.inf, axis=1)


@exercise.mistake("masked positions still get weight: the mask makes no difference.")
def mask_ignored(scores, mask):
    return scores.softmax(-1)


@exercise.mistake(
    "you divide the remaining weights by their sum: where a masked score is far above the others,"
    " nothing remains, so mask it before the softmax."
)
def shared_out_afterwards(scores, mask):
    left = scores.softmax(-1) * mask
    return left / left.sum(-1, keepdim=True)


@exercise.mistake("the exponentials are not divided by their sum: a row should sum to 1.")
def not_normalised(scores, mask):
    return scores.exp() * mask


@exercise.mistake(
    "your mask is the wrong way round: `masked_fill` fills in where its mask is True."
)
def filled_upside_down(scores, mask):
    return filled(scores, ~mask, -math.inf)


@exercise.mistake("minus a billion is not below every score: an allowed score can be lower still.")
def a_billion_then_masked(scores, mask):
    return filled(scores, mask, -1e9) * mask


@exercise.mistake(
    "where nothing is allowed, subtracting a billion from every score leaves the softmax as it "
    "was: these weights should be 0."
)
def a_billion_taken_away(scores, mask):
    return (scores - 1e9 * ~mask).softmax(-1)


@exercise.mistake(
    "far below 0 all exponentials are 0, and so is their sum: `softmax` subtracts the largest "
    "score first."
)
def exponentials_vanish(scores, mask):
    powers = scores.exp() * mask
    return powers / powers.sum(-1, keepdim=True)


@exercise.mistake(
    "far below 0 all exponentials are 0, and so are your weights: subtract the largest score "
    "first, as `softmax` does."
)
def exponentials_vanish_unseen(scores, mask):
    powers = scores.exp() * mask
    return powers / powers.sum(-1, keepdim=True).clamp(min=1e-12)


@exercise.mistake("those are the masked scores: a softmax turns them into weights.")
def scores_returned(scores, mask):
    return scores.masked_fill(~mask, -math.inf)


@exercise.mistake("those are the logarithms of the weights: use `softmax`, not `log_softmax`.")
def logarithms(scores, mask):
    return scores.masked_fill(~mask, -math.inf).log_softmax(-1)
