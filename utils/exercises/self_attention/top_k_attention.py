"""Attention to the k best keys only."""

import math

import torch
from torch import Tensor

from utils.attention import masked_softmax
from utils.exercises.checking import Exercise, random
from utils.self_attention import causal_mask


def top_k_weights(scores: Tensor, mask: Tensor, k: int) -> Tensor:
    """Return weights like scores: a softmax over the k best allowed keys, 0 for all others.

    Where fewer than k keys are allowed, all of them count; where none is, the weights are 0.
    Shapes: scores (B, h, T, S), mask broadcastable to them.
    """
    allowed = scores.masked_fill(~mask, -math.inf)
    worst_kept = allowed.topk(k, dim=-1).values[..., -1:]
    return masked_softmax(scores, mask & (allowed >= worst_kept))


exercise = Exercise(top_k_weights)


# What it is tried on ------------------------------------------------------------------------------


def lengths_mask(S: int, *lengths: int) -> Tensor:
    return (torch.arange(S) < torch.tensor(lengths)[:, None])[:, None, None]  # (B, 1, 1, S)


def given(scores: list, mask: list, dtype: torch.dtype = torch.float64) -> tuple:
    return torch.tensor([[scores]], dtype=dtype), torch.tensor(mask).bool(), 2


def far_below(B: int, h: int, T: int, S: int) -> Tensor:
    """Draw scores below any small constant, on a grid that single precision holds."""
    order = torch.rand(B, h, T, S).argsort(-1)  # no two of a query are equal
    return 0.25 * order.double() - 2.0**20


@exercise.stage("nothing masked")
def nothing_masked():
    return [(random(1, 1, 3, 4), torch.ones(3, 4).bool(), 2)]


@exercise.stage("padding in two lengths")
def two_lengths():
    return [(random(2, 1, 3, 6), lengths_mask(6, 6, 4), 3)]


@exercise.stage("fewer keys than k")
def fewer_keys():
    return [(random(2, 3, 5, 5), causal_mask(5), 3)]


@exercise.stage("scores far below 0")
def low_scores():
    return [(far_below(2, 3, 4, 5), lengths_mask(5, 5, 3), 2)]


@exercise.stage("masked scores far above the others")
def high_masked_scores():
    return [given([[0.5, 2000, -1, 2], [1500, 3, 1, -0.5]], [[1, 0, 1, 1], [0, 1, 1, 1]])]


@exercise.stage("half precision")
def half_precision():  # the right weights are 1/2 each, not rounded
    scores, mask = [[3, 3, 7, 8, 1], [0.5, -2, -2, 6, 9]], [[1, 1, 0, 0, 1], [0, 1, 1, 0, 0]]
    return [given(scores, mask, torch.float16)]


@exercise.stage("a source of nothing but padding")
def nothing_but_padding():
    return [
        (random(3, 2, 4, 5), lengths_mask(5, 3, 0, 5), 2),
        (random(3, 3, 3, 6), lengths_mask(6, 4, 0, 6), 3),
        given([[1, 1, 4, 5], [2, -1, 5, 3]], [[1, 1, 0, 0], [0, 0, 0, 0]], torch.float16),
    ]


# What goes wrong ----------------------------------------------------------------------------------


def largest(scores: Tensor, k: int, axis: int = -1) -> Tensor:
    return scores >= scores.topk(k, dim=axis).values.narrow(axis, k - 1, 1)


def best(scores: Tensor, mask: Tensor, k: int) -> Tensor:
    return mask & largest(scores.masked_fill(~mask, -math.inf), k)


def filled(value: float, scores: Tensor, mask: Tensor, k: int, axis: int = -1) -> Tensor:
    """Fill with a number all that is masked or not among the best."""
    allowed = scores.masked_fill(~mask, value)
    return allowed.masked_fill(~largest(allowed, k), value).softmax(axis)


@exercise.mistake("the kept weights no longer sum to 1: the others had their share in the softmax.")
def chosen_after_the_softmax(scores, mask, k):
    return masked_softmax(scores, mask) * best(scores, mask, k)


@exercise.mistake(
    "the masked keys take part in your softmax: one that scores far above the others leaves them "
    "nothing to share."
)
def masked_keys_take_part(scores, mask, k):
    weights = scores.softmax(-1) * best(scores, mask, k)
    total = weights.sum(-1, keepdim=True)
    return weights / total.masked_fill(total == 0, 1)


@exercise.mistake(
    "a number as small as a billionth is 0 in half precision: where everything is masked, you "
    "divide 0 by 0 after all."
)
def a_billionth(scores, mask, k):
    weights = top_k_weights(scores, mask, k)
    return weights / (weights.sum(-1, keepdim=True) + 1e-9)


@exercise.mistake(
    "two things at once: the masked keys take part in your softmax, and in half precision a "
    "billionth is 0, so that 0 is divided by 0."
)
def masked_keys_and_a_billionth(scores, mask, k):
    weights = scores.softmax(-1) * best(scores, mask, k)
    return weights / (weights.sum(-1, keepdim=True) + 1e-9)


@exercise.mistake("a masked key takes one of the k places.")
def chosen_before_the_mask(scores, mask, k):
    return masked_softmax(scores, mask & largest(scores, k))


@exercise.mistake(
    "a masked key takes one of the k places, and where masked keys take them all, the softmax "
    "divides 0 by 0."
)
def chosen_before_the_mask_and_not_a_number(scores, mask, k):
    return scores.masked_fill(~(mask & largest(scores, k)), -math.inf).softmax(-1)


@exercise.mistake("a masked key has a score of 0 here, and so beats every key below 0.")
def masked_as_0(scores, mask, k):
    return masked_softmax(scores, mask & largest(scores * mask, k))


@exercise.mistake("you keep one key too few: the k-th best is among the k best.")
def one_too_few(scores, mask, k):
    allowed = scores.masked_fill(~mask, -math.inf)
    return masked_softmax(scores, mask & (allowed > allowed.topk(k, dim=-1).values[..., -1:]))


@exercise.mistake(
    "the keys that you did not choose have a score of 0 now, and that gets weight, too: its "
    "exponential is 1."
)
def others_zeroed(scores, mask, k):
    return masked_softmax(scores * best(scores, mask, k), mask)


@exercise.mistake("where fewer than k keys are allowed, masked ones fill the remaining places.")
def filled_up(scores, mask, k):
    return masked_softmax(scores, largest(scores.masked_fill(~mask, -math.inf), k))


@exercise.mistake("topk fills k places even where fewer than k keys are allowed: with masked ones.")
def filled_up_by_topk(scores, mask, k):
    best = scores.masked_fill(~mask, -math.inf).topk(k, dim=-1).indices
    kept = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, best, True)
    return masked_softmax(scores, kept)


@exercise.mistake("you choose among the forbidden keys: True means allowed.")
def inverted(scores, mask, k):
    return top_k_weights(scores, ~mask, k)


@exercise.mistake("masked keys still get weight: the mask makes no difference.")
def mask_ignored(scores, mask, k):
    return top_k_weights(scores, torch.ones_like(mask), k)


@exercise.mistake("all allowed keys get weight, not only the k best.")
def all_keys(scores, mask, k):
    return masked_softmax(scores, mask)


@exercise.mistake("those are the k smallest scores.")
def smallest(scores, mask, k):
    allowed = scores.masked_fill(~mask, math.inf)
    return masked_softmax(scores, mask & largest(-allowed, k))


@exercise.mistake("a score of 0 is a score like any other: its exponential is 1.")
def filled_with_0(scores, mask, k):
    return filled(0.0, scores, mask, k)


@exercise.mistake(
    "minus ten thousand, or the lowest number of half precision, is not below every score."
)
def not_low_enough(scores, mask, k):
    return filled(-65504.0, scores, mask, k)


@exercise.mistake("minus a billion is not a number of half precision.")
def a_billion(scores, mask, k):
    return filled(-1e9, scores, mask, k)


@exercise.mistake(
    "correct, except in half precision, which has no minus a billion: what is below every score "
    "of every type?"
)
def a_billion_then_masked(scores, mask, k):
    return masked_softmax(scores, mask & largest(scores.masked_fill(~mask, -1e9), k))


@exercise.mistake(
    "where everything is masked, you average over padding: nothing should be attended to."
)
def mean_of_padding(scores, mask, k):
    return filled(torch.finfo(scores.dtype).min, scores, mask, k)


@exercise.mistake("where everything is masked, the softmax divides 0 by 0.")
def not_a_number(scores, mask, k):
    return filled(-math.inf, scores, mask, k)


@exercise.mistake("your softmax runs over the queries: the weights of one query should sum to 1.")
def over_the_queries(scores, mask, k):
    return filled(-math.inf, scores, mask, k, axis=-2)


@exercise.mistake(
    "you keep the k best queries of each key; each query should keep its k best keys."
)
def best_queries(scores, mask, k):
    allowed = scores.masked_fill(~mask, -math.inf)
    return masked_softmax(scores, mask & largest(allowed, min(k, scores.shape[-2]), axis=-2))
