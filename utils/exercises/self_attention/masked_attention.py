"""Attention that leaves out the future, padding, and whatever else a mask forbids."""

import math

import torch
from torch import Tensor

from utils.attention import masked_softmax
from utils.exercises.checking import Exercise, random


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor]:
    """Shapes: query (..., T, d_k), key (..., S, d_k), value (..., S, d_v), mask (..., T, S).

    Returns: contexts (..., T, d_v) and weights (..., T, S).
    """
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if is_causal:
        T, S = scores.shape[-2:]
        past = torch.ones(T, S, dtype=torch.bool).tril(S - T)
        mask = past if mask is None else mask & past
    weights = masked_softmax(scores, mask)
    return weights @ value, weights


exercise = Exercise(attention, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def drawn(*batch: int, T: int, S: int, d_k: int, d_v: int) -> tuple[Tensor, Tensor, Tensor]:
    return random(*batch, T, d_k), random(*batch, S, d_k), random(*batch, S, d_v)


@exercise.stage("no mask at all, as before")
def no_mask():
    return [(*drawn(2, T=3, S=4, d_k=5, d_v=2), None, False)]


@exercise.stage("a mask of padding")
def padding():
    real = torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0]]).bool()[:, None]
    return [(*drawn(2, T=3, S=4, d_k=5, d_v=2), real, False)]


@exercise.stage("the future, with as many keys as queries")
def the_future():
    return [
        (*drawn(T=2, S=2, d_k=3, d_v=3), None, True),
        (*drawn(2, 3, T=5, S=5, d_k=4, d_v=2), None, True),
    ]


@exercise.stage("the future, where the queries are the last of more keys")
def the_last_queries():
    return [
        (*drawn(T=1, S=4, d_k=3, d_v=2), None, True),
        (*drawn(2, T=2, S=5, d_k=4, d_v=3), None, True),
    ]


@exercise.stage("padding and the future together")
def both():
    real = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]).bool()[:, None, None]
    return [(*drawn(2, 3, T=5, S=5, d_k=4, d_v=2), real, True)]


@exercise.stage("queries for which nothing is allowed")
def nowhere():
    in_front = torch.tensor([[0, 0, 1, 1]]).bool()
    return [
        (*drawn(2, T=3, S=4, d_k=3, d_v=2), torch.zeros(3, 4).bool(), False),
        (*drawn(2, T=4, S=4, d_k=3, d_v=2), in_front, True),
    ]


# What goes wrong ----------------------------------------------------------------------------------


def masked(query, key, value, mask, is_causal, *, softmax=masked_softmax, triangle=None):
    """Attend with another softmax or another triangle in place of the usual one."""
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if is_causal:
        T, S = scores.shape[-2:]
        whole = torch.ones(T, S, dtype=torch.bool)
        past = whole.tril(S - T) if triangle is None else triangle(whole)
        mask = past if mask is None else mask & past
    weights = scores.softmax(-1) if mask is None else softmax(scores, mask)
    return weights @ value, weights


@exercise.mistake("your mask is the wrong way round: True means allowed.")
def upside_down(query, key, value, mask, is_causal):
    return masked(
        query, key, value, mask, is_causal, softmax=lambda e, mask: masked_softmax(e, ~mask)
    )


@exercise.mistake("a query may attend to its own position: the diagonal belongs to the past.")
def without_itself(query, key, value, mask, is_causal):
    return masked(
        query, key, value, mask, is_causal, triangle=lambda m: m.tril(m.shape[1] - len(m) - 1)
    )


@exercise.mistake("your triangle is on the wrong side: a query sees the future and not the past.")
def only_the_future(query, key, value, mask, is_causal):
    return masked(
        query, key, value, mask, is_causal, triangle=lambda m: m.triu(m.shape[1] - len(m))
    )


@exercise.mistake(
    "with fewer queries than keys, the queries are the last ones: the last query sees the last key."
)
def aligned_to_the_first(query, key, value, mask, is_causal):
    return masked(query, key, value, mask, is_causal, triangle=torch.tril)


@exercise.mistake(
    "one position of the future is let in: the triangle ends one position too far right."
)
def one_too_many(query, key, value, mask, is_causal):
    return masked(
        query, key, value, mask, is_causal, triangle=lambda m: m.tril(m.shape[1] - len(m) + 1)
    )


@exercise.mistake(
    "the weights are set to 0 after the softmax: the remaining ones no longer sum to 1."
)
def after_the_softmax(query, key, value, mask, is_causal):
    return masked(query, key, value, mask, is_causal, softmax=lambda e, mask: e.softmax(-1) * mask)


@exercise.mistake("a score of 0 masks nothing, since e⁰ = 1: a forbidden key gets -∞.")
def scores_of_zero(query, key, value, mask, is_causal):
    return masked(
        query, key, value, mask, is_causal, softmax=lambda e, mask: (e * mask).softmax(-1)
    )


def filled_with(number: float):
    """A softmax in which masked keys get this score."""
    return lambda scores, mask: scores.masked_fill(~mask, number).softmax(-1)


@exercise.mistake(
    "a query for which nothing is allowed gets NaN from a softmax of -∞ alone: its weights should"
    " be 0."
)
def not_a_number(*inputs):
    return masked(*inputs, softmax=filled_with(-math.inf))


@exercise.mistake(
    "a query for which nothing is allowed gets the mean of the forbidden values: its weights "
    "should be 0."
)
def a_large_number(*inputs):
    return masked(*inputs, softmax=filled_with(-1e9))


@exercise.mistake("with `is_causal` the other mask is forgotten: both have to allow a key.")
def one_mask_forgotten(query, key, value, mask, is_causal):
    return masked(query, key, value, None if is_causal else mask, is_causal)


@exercise.mistake("you allow a key if one of the two masks does: both have to.")
def either_allows(query, key, value, mask, is_causal):
    if not is_causal or mask is None:
        return attention(query, key, value, mask, is_causal)
    T, S = query.shape[-2], key.shape[-2]
    return attention(query, key, value, mask | torch.ones(T, S).bool().tril(S - T))


@exercise.mistake("the future is not masked: `is_causal` makes no difference.")
def not_causal(query, key, value, mask, is_causal):
    return attention(query, key, value, mask)


@exercise.mistake("the mask makes no difference.")
def mask_ignored(query, key, value, mask, is_causal):
    return attention(query, key, value, None, is_causal)


@exercise.mistake("the scale is gone: the scores are divided by √d_k with a mask, too.")
def not_scaled(query, key, value, mask, is_causal):
    return attention(query * math.sqrt(query.shape[-1]), key, value, mask, is_causal)


@exercise.mistake(
    "you take True in the mask for forbidden, as some of the library's masks do: here it means "
    "allowed."
)
def hides_what_is_true(query, key, value, mask, is_causal):
    return attention(query, key, value, None if mask is None else ~mask, is_causal)


@exercise.mistake("you add the mask to the scores, as 1 and 0: nothing is hidden by that.")
def mask_added(query, key, value, mask, is_causal):
    return masked(
        query, key, value, mask, is_causal, softmax=lambda s, m: (s + m.to(s)).softmax(-1)
    )
