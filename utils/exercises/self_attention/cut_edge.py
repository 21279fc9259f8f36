"""Attention without one link, that of query t to key s."""

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


exercise = Exercise(without_edge, gradient=False)  # off the simplex right ways differ


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, h: int, T: int, S: int, d_v: int, t: int, s: int) -> tuple:
    """Draw in single precision: numbers that are tiny next to 1 count in the last stage only."""
    return random(B, h, T, S).softmax(-1).float(), random(B, h, S, d_v).float(), t, s


def drawn_with_an_only_edge(B: int, h: int, T: int, S: int, d_v: int, t: int, s: int) -> tuple:
    """Draw with a first head that attends from t to nothing but s."""
    weights, value, t, s = drawn(B, h, T, S, d_v, t, s)
    weights[:, 0, t] = F.one_hot(torch.tensor(s), S).float()
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


@exercise.stage("a query that saw hardly anything else")
def hardly_anything_else():
    weights, value = random(2, 2, 3, 4).softmax(-1), 1e-3 * random(2, 2, 4, 3)
    weights[:, :, 1] *= 9e-7  # less than a millionth is left beside key 2
    weights[:, :, 1, 2] += 1 - 9e-7
    return [(weights, value, 1, 2)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "the other keys of that query don't share the weight that was taken away: its weights sum to "
    "less than 1."
)
def not_renormalised(weights, value, t, s):
    return cut(weights, t, s) @ value


@exercise.mistake("no query sees the key any more; only one should lose it.")
def without_key(weights, value, t, s):
    return normalised(cut(weights, slice(None), s)) @ value


@exercise.mistake("query and key are swapped: t is the query, s is the key.")
def exchanged(weights, value, t, s):
    return without_edge(weights, value, s, t)


@exercise.mistake("the query sees nothing at all; it should lose only one key.")
def without_query(weights, value, t, s):
    return cut(weights, t, slice(None)) @ value


@exercise.mistake(
    "you share the weight equally; a softmax without that key keeps the ratios of the others."
)
def shared_equally(weights, value, t, s):
    left, taken = weights.clone(), weights[:, :, t, s, None]
    left[:, :, t] += taken / (left.shape[-1] - 1)
    return cut(left, t, s) @ value


@exercise.mistake("a query that has nothing left divides 0 by 0; it should get zeros.")
def not_a_number(weights, value, t, s):
    left = cut(weights, t, s)
    return left / left.sum(-1, keepdim=True) @ value


@exercise.mistake("that is the context with nothing cut.")
def nothing_cut(weights, value, t, s):
    return weights @ value


@exercise.mistake(
    "you set the value to zero: then no query gets anything from that key, and its weight isn't "
    "shared among the others."
)
def value_blanked(weights, value, t, s):
    return weights @ value.index_fill(2, torch.tensor([s]), 0)


@exercise.mistake("you take a softmax of weights, as if they were scores: that levels them.")
def softmax_of_weights(weights, value, t, s):
    left = weights.clone()
    left[:, :, t, s] = -torch.inf
    return left.softmax(-1) @ value


@exercise.mistake("the row of query t is levelled by a second softmax: weights are not scores.")
def softmax_of_the_row(weights, value, t, s):
    left = weights.clone()
    left[:, :, t, s] = -torch.inf
    left[:, :, t] = left[:, :, t].softmax(-1)
    return left @ value


@exercise.mistake(
    "a query that attended almost only to s has little left, and you take it for nothing: only a "
    "sum of exactly 0 needs care."
)
def rounded_up(weights, value, t, s):
    left = cut(weights, t, s)
    return left / left.sum(-1, keepdim=True).clamp_min(1e-6) @ value


@exercise.mistake(
    "a billionth, added to every sum, is not small next to the rest of a query that attended "
    "almost only to s."
)
def a_billionth(weights, value, t, s):
    left = cut(weights, t, s)
    return left / (left.sum(-1, keepdim=True) + 1e-9) @ value


@exercise.mistake(
    "the number that you add to the sum, to avoid dividing by 0, counts where hardly anything is "
    "left: the weights of that query no longer sum to 1."
)
def a_little_added(weights, value, t, s):
    left = cut(weights, t, s)
    return left / (left.sum(-1, keepdim=True) + 1e-8) @ value
