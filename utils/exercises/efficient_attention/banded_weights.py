"""The weights of a causal window, stored as a band."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def band_weights(query: Tensor, key: Tensor, window: int) -> Tensor:
    """Return each query's weights of the `window` keys before it, and of its own.

    Shapes: query and key (B, h, T, d_k) to (B, h, T, window + 1).
    """
    return softmax_of(*band(query, scaled(key), window))


def scaled(key: Tensor) -> Tensor:
    return key / math.sqrt(key.shape[3])


def band(query: Tensor, key: Tensor, window: int, first: int = 0) -> tuple[Tensor, Tensor]:
    """Return the products with keys t - window + first to t + first, and where there are such keys.

    Shapes: (B, h, T, window + 1) and (T, window + 1).
    """
    T = query.shape[2]
    filled = F.pad(key, (0, 0, window, first))  # position s stands at window + s
    near = filled.unfold(2, window + 1, 1)[:, :, first:]  # (B, h, T, d_k, window + 1)
    s = torch.arange(T)[:, None] + torch.arange(first - window, first + 1)
    return (query[..., None, :] @ near)[..., 0, :], (s >= 0) & (s < T)


def softmax_of(scores: Tensor, inside: Tensor, axis: int = -1) -> Tensor:
    return scores.masked_fill(~inside, -math.inf).softmax(axis)


exercise = Exercise(band_weights)


# What it is tried on ------------------------------------------------------------------------------


def query_and_key(*shape: int) -> tuple[Tensor, Tensor]:
    return random(*shape), random(*shape)


@exercise.stage("the first position")
def first_position():
    return [(*query_and_key(1, 1, 1, 3), 2)]


@exercise.stage("a window of 1")
def window_of_1():
    return [(*query_and_key(1, 1, 3, 2), 1)]


@exercise.stage("a window wider than the sequence")
def wide_window():
    return [(*query_and_key(1, 2, 3, 5), 4)]


@exercise.stage("a key of zeros")
def key_of_zeros():
    query, key = query_and_key(1, 1, 4, 3)
    return [(query, key * (torch.arange(4) != 1)[:, None], 2)]


@exercise.stage("several heads and sequences")
def several_heads():
    return [(*query_and_key(2, 3, 7, 5), 2), (*query_and_key(3, 2, 9, 4), 5)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("your window is one short: it has `window` positions before t, and t itself.")
def one_short(query, key, window):
    return band_weights(query, key, window - 1)


@exercise.mistake("your band lies after t: the window crosses the causal line.")
def future(query, key, window):
    return softmax_of(*band(query, scaled(key), window, first=window))


@exercise.mistake("your band reaches to both sides of t: half of it is the future.")
def both_sides(query, key, window):
    return softmax_of(*band(query, scaled(key), 2 * window, first=window))


@exercise.mistake(
    "the filling before the first position gets weight: its score is 0 and should be -∞."
)
def filling_seen(query, key, window):
    return band(query, scaled(key), window)[0].softmax(-1)


@exercise.mistake(
    "a key may be all zeros: find out from the position whether there is a key, not from its score."
)
def zeros_hidden(query, key, window):
    scores, _ = band(query, scaled(key), window)
    return softmax_of(scores, scores != 0)


@exercise.mistake(
    "before the first position, the end of the text comes in again: position 0 sees the future."
)
def around_the_end(query, key, window):
    T = query.shape[2]
    s = (torch.arange(T)[:, None] + torch.arange(-window, 1)) % T
    near = scaled(key)[:, :, s]  # (B, h, T, window + 1, d_k)
    return (near @ query[..., None])[..., 0].softmax(-1)


@exercise.mistake("the scores are not scaled.")
def not_scaled(query, key, window):
    return softmax_of(*band(query, key, window))


@exercise.mistake("your columns run backwards: the last one is the position itself.")
def columns_reversed(query, key, window):
    return band_weights(query, key, window).flip(-1)


@exercise.mistake("your softmax runs over the positions: the weights of one query should sum to 1.")
def over_positions(query, key, window):
    return softmax_of(*band(query, scaled(key), window), axis=2)


@exercise.mistake(
    "after masking, the rest of a row doesn't sum to 1: mask before the softmax, not after it."
)
def masked_too_late(query, key, window):
    scores, inside = band(query, scaled(key), window)
    return scores.softmax(-1) * inside


@exercise.mistake(
    "near the beginning, your rows start at their first key: in each row, the last column is the "
    "position itself."
)
def pushed_to_the_left(query, key, window):
    weights = band_weights(query, key, window)
    for t in range(min(window, query.shape[2])):
        weights[:, :, t] = weights[:, :, t].roll(t - window, -1)
    return weights


@exercise.mistake("these are the scores: weights are positive, and those of a query sum to 1.")
def no_softmax(query, key, window):
    scores, inside = band(query, scaled(key), window)
    return scores * inside


@exercise.mistake("the scores are divided by d_k: did you leave out the root, or scale twice?")
def scaled_twice(query, key, window):
    return softmax_of(*band(query, scaled(scaled(key)), window))


@exercise.mistake("that is the whole matrix (T, T): store the band alone, `window` + 1 columns.")
def whole_matrix(query, key, window):
    back = torch.arange(query.shape[2])[:, None] - torch.arange(key.shape[2])
    return softmax_of(query @ scaled(key).mT, (back >= 0) & (back <= window))
