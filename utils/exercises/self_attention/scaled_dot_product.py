"""Scaled dot-product attention: compare, choose, mix."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.exercises.checking.sandbox import call


def attention(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Shapes: query (..., T, d_k), key (..., S, d_k), value (..., S, d_v).

    Returns: contexts (..., T, d_v) and weights (..., T, S).
    """
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    weights = scores.softmax(dim=-1)
    return weights @ value, weights


def overflow(answer: Callable) -> str:
    """What has to be said of an answer whose exponentials overflow."""
    query, key, value = (1000 * torch.ones(2, 4, dtype=torch.float64) for _ in range(3))
    found = call(answer, (query, key, value))
    if found.raised or found.value[1].isfinite().all():
        return ""
    return (
        "where a score is large, its exponential is infinite and your weights are NaN: `softmax` "
        "subtracts the largest score first."
    )


exercise = Exercise(attention, runs=True, but=overflow)


# What it is tried on ------------------------------------------------------------------------------


def drawn(*batch: int, T: int, S: int, d_k: int, d_v: int) -> tuple[Tensor, Tensor, Tensor]:
    return random(*batch, T, d_k), random(*batch, S, d_k), random(*batch, S, d_v)


@exercise.stage("one query and one key, which leaves no choice")
def one_key():
    return [drawn(T=1, S=1, d_k=3, d_v=2)]


@exercise.stage("one query among four keys")
def one_query():
    return [drawn(T=1, S=4, d_k=3, d_v=2)]


@exercise.stage("a sequence that attends to itself")
def one_sequence():
    return [drawn(T=5, S=5, d_k=4, d_v=4)]


@exercise.stage("sequences and heads in front")
def in_batches():
    return [drawn(2, T=3, S=6, d_k=5, d_v=4), drawn(2, 3, T=4, S=5, d_k=7, d_v=6)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("your scores are the plain products: with wider keys the softmax would saturate.")
def not_scaled(query, key, value):
    weights = (query @ key.mT).softmax(dim=-1)
    return weights @ value, weights


@exercise.mistake("you divide by d_k, so the scores' standard deviation is 1/√d_k, not 1.")
def scaled_twice(query, key, value):
    return attention(query / math.sqrt(query.shape[-1]), key, value)


@exercise.mistake("you multiply by the root: the scores grow where they should become smaller.")
def scale_upside_down(query, key, value):
    return attention(query * query.shape[-1], key, value)


@exercise.mistake(
    "the scale is taken from another axis than the one that the dot product sums over: from the "
    "number of keys."
)
def root_of_the_keys(query, key, value):
    weights = (query @ key.mT / math.sqrt(key.shape[-2])).softmax(dim=-1)
    return weights @ value, weights


@exercise.mistake(
    "the scale is taken from the width of the values, but the products sum over that of the keys."
)
def root_of_the_values(query, key, value):
    weights = (query @ key.mT / math.sqrt(value.shape[-1])).softmax(dim=-1)
    return weights @ value, weights


@exercise.mistake(
    "your softmax runs over the queries, so that each key's weights sum to 1: the weights of each"
    " query should."
)
def softmax_over_queries(query, key, value):
    weights = (query @ key.mT / math.sqrt(query.shape[-1])).softmax(dim=-2)
    return weights @ value, weights


@exercise.mistake("your softmax runs over the first axis, which is not always that of the keys.")
def softmax_over_the_first(query, key, value):
    weights = (query @ key.mT / math.sqrt(query.shape[-1])).softmax(dim=0)
    return weights @ value, weights


@exercise.mistake("the scale comes after the softmax: it has to come before it.")
def scaled_too_late(query, key, value):
    weights = (query @ key.mT).softmax(dim=-1) / math.sqrt(query.shape[-1])
    return weights @ value, weights


@exercise.mistake("you average the keys: average the values.")
def keys_taken_home(query, key, value):
    _, weights = attention(query, key, value)
    return weights @ key, weights


@exercise.mistake("there is no softmax: scores can be negative, and don't sum to 1.")
def no_softmax(query, key, value):
    weights = query @ key.mT / math.sqrt(query.shape[-1])
    return weights @ value, weights


@exercise.mistake("the exponentials are not divided by their sum: the weights don't sum to 1.")
def not_normalised(query, key, value):
    weights = (query @ key.mT / math.sqrt(query.shape[-1])).exp()
    return weights @ value, weights


@exercise.mistake("the contexts come first, then the weights: yours come the other way round.")
def exchanged(query, key, value):
    context, weights = attention(query, key, value)
    return weights, context


@exercise.mistake("the weights are missing: return both, the contexts first.")
def contexts_alone(query, key, value):
    return attention(query, key, value)[0]


@exercise.mistake(
    "`.T` reverses all axes, including those of sequences and heads; `.mT` swaps the last two."
)
def all_axes_exchanged(query, key, value):
    weights = (query @ torch.permute(key, tuple(range(key.dim()))[::-1])) / math.sqrt(
        query.shape[-1]
    )
    weights = weights.softmax(dim=-1)
    return weights @ value, weights


@exercise.mistake(
    "your softmax runs over axis 1, which is that of the keys only if there are no more axes in "
    "front; the last axis, dim=-1, always is."
)
def softmax_over_axis_1(query, key, value):
    weights = (query @ key.mT / math.sqrt(query.shape[-1])).softmax(dim=1)
    return weights @ value, weights


@exercise.mistake("the scale is taken from the number of queries: it is their width that counts.")
def root_of_the_queries(query, key, value):
    weights = (query @ key.mT / math.sqrt(query.shape[-2])).softmax(dim=-1)
    return weights @ value, weights


@exercise.mistake("the contexts are correct, but you return the scores with them, not the weights.")
def scores_returned(query, key, value):
    return attention(query, key, value)[0], query @ key.mT / math.sqrt(query.shape[-1])


@exercise.mistake("the scores have the wrong sign: the keys that fit best get the least weight.")
def sign(query, key, value):
    return attention(-query, key, value)


@exercise.mistake(
    "those are the logarithms of the weights: the values are weighted by the softmax itself."
)
def log_weights(query, key, value):
    w = (query @ key.mT / math.sqrt(query.shape[-1])).log_softmax(-1)
    return w @ value, w
