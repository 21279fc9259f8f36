"""Attention after one look, of query t at key s, is taken away."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def without_edge(weights: Tensor, value: Tensor, t: int, s: int) -> Tensor:
    """Return the context (B, h, T, d_v) as if key s had been masked for query t.

    A query that looked at nothing else gets zeros.
    Shapes: weights (B, h, T, S), value (B, h, S, d_v).
    """
    return normalised(cut(weights, t, s)) @ value


def cut(weights: Tensor, t: int | slice, s: int | slice) -> Tensor:
    left = weights.clone()
    left[:, :, t, s] = 0
    return left


def normalised(left: Tensor) -> Tensor:
    total = left.sum(-1, keepdim=True)
    return left / total.masked_fill(total == 0, 1)


exercise = Exercise("5.14", without_edge, gradient=False)  # off the simplex right ways differ


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, h: int, T: int, S: int, d_v: int, t: int, s: int) -> tuple:
    return random(B, h, T, S).softmax(-1), random(B, h, S, d_v), t, s


def drawn_with_an_only_edge(B: int, h: int, T: int, S: int, d_v: int, t: int, s: int) -> tuple:
    """Draw with a first head that looks from t at nothing but s."""
    weights, value, t, s = drawn(B, h, T, S, d_v, t, s)
    weights[:, 0, t] = F.one_hot(torch.tensor(s), S).double()
    return weights, value, t, s


@exercise.stage("one head")
def one_head():
    return [drawn(1, 1, 2, 3, 2, 1, 0)]


@exercise.stage("several heads")
def several_heads():
    return [drawn(2, 3, 4, 5, 6, 3, 1), drawn(3, 2, 5, 4, 3, 0, 2)]


@exercise.stage("a query that saw nothing else")
def only_edge():
    return [drawn_with_an_only_edge(2, 3, 4, 5, 2, 2, 1)]


@exercise.stage("as many queries as keys")
def square():
    return [drawn(3, 3, 3, 3, 4, 1, 2)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "the other keys of that query don't share what was taken: its weights sum to less than 1."
)
def not_renormalised(weights, value, t, s):
    return cut(weights, t, s) @ value


@exercise.mistake("no query sees the key any more; only one was to lose it.")
def without_key(weights, value, t, s):
    return normalised(cut(weights, slice(None), s)) @ value


@exercise.mistake("query and key are exchanged.")
def exchanged(weights, value, t, s):
    return without_edge(weights, value, s, t)


@exercise.mistake("the query sees nothing at all; it was to lose one key.")
def without_query(weights, value, t, s):
    return cut(weights, t, slice(None)) @ value


@exercise.mistake(
    "you share what was taken equally; a softmax without that key keeps the others' ratios."
)
def shared_equally(weights, value, t, s):
    left, taken = weights.clone(), weights[:, :, t, s, None]
    left[:, :, t] += taken / (left.shape[-1] - 1)
    return cut(left, t, s) @ value


@exercise.mistake("a query that has nothing left divides 0 by 0; it should get zeros.")
def not_a_number(weights, value, t, s):
    left = cut(weights, t, s)
    return left / left.sum(-1, keepdim=True) @ value


@exercise.mistake("that is the context as it was.")
def nothing_cut(weights, value, t, s):
    return weights @ value
