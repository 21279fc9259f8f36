"""A step with a cache: one new position attends to all that are held, and is held from then on."""

import math

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def cached_step(
    q: Tensor, k: Tensor, v: Tensor, keys: Tensor, values: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Shapes: q and k (..., 1, d_k), v (..., 1, d_v), keys (..., S, d_k), values (..., S, d_v).

    Returns: the context (..., 1, d_v), and the keys and values to be held, S + 1 of each.
    """
    keys = torch.cat([keys, k], dim=-2)
    values = torch.cat([values, v], dim=-2)
    weights = (q @ keys.mT / math.sqrt(q.shape[-1])).softmax(dim=-1)
    return weights @ values, keys, values


exercise = Exercise(cached_step, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def new_position(*batch: int, S: int, d_k: int, d_v: int) -> tuple[Tensor, ...]:
    new = random(*batch, 1, d_k), random(*batch, 1, d_k), random(*batch, 1, d_v)
    return *new, random(*batch, S, d_k), random(*batch, S, d_v)


@exercise.stage("a first position, nothing held")
def first_position():
    return [new_position(S=0, d_k=2, d_v=3)]


@exercise.stage("a position after three others")
def behind_others():
    return [new_position(S=3, d_k=4, d_v=2)]


@exercise.stage("with axes for sequences and heads")
def in_heads():
    return [new_position(2, 3, S=5, d_k=4, d_v=6), new_position(3, 2, S=2, d_k=5, d_v=4)]


# What goes wrong ----------------------------------------------------------------------------------


def looked(q, keys, values, scale):
    return (q @ keys.mT * scale).softmax(dim=-1) @ values


@exercise.mistake(
    "the new position doesn't see itself: append its key and value first, then attend."
)
def looked_first(q, k, v, keys, values):
    _, new_keys, new_values = cached_step(q, k, v, keys, values)
    return looked(q, keys, values, q.shape[-1] ** -0.5), new_keys, new_values


@exercise.mistake(
    "the new position sees itself alone: it should attend to everything that is held."
)
def itself_alone(q, k, v, keys, values):
    _, keys, values = cached_step(q, k, v, keys, values)
    return v, keys, values


@exercise.mistake(
    "the context is correct, but nothing new is held: return the longer keys and values."
)
def nothing_held(q, k, v, keys, values):
    return cached_step(q, k, v, keys, values)[0], keys, values


@exercise.mistake("you return the new key and value alone: at the next step, the past is gone.")
def past_forgotten(q, k, v, keys, values):
    return cached_step(q, k, v, keys, values)[0], k, v


@exercise.mistake("the new key and value come first: append them at the end, as in the text.")
def in_front(q, k, v, keys, values):
    context, _, _ = cached_step(q, k, v, keys, values)
    return context, torch.cat([k, keys], dim=-2), torch.cat([v, values], dim=-2)


@exercise.mistake("the new value comes first, and its key last: they belong together.")
def value_in_front(q, k, v, keys, values):
    keys, values = torch.cat([keys, k], dim=-2), torch.cat([v, values], dim=-2)
    return looked(q, keys, values, q.shape[-1] ** -0.5), keys, values


@exercise.mistake("the scores are not scaled by the root of the width.")
def not_scaled(q, k, v, keys, values):
    _, keys, values = cached_step(q, k, v, keys, values)
    return looked(q, keys, values, 1.0), keys, values


@exercise.mistake("the scores are divided by the width: divide by its root.")
def scaled_twice(q, k, v, keys, values):
    _, keys, values = cached_step(q, k, v, keys, values)
    return looked(q, keys, values, 1 / q.shape[-1]), keys, values


@exercise.mistake("there is no softmax: the weights should be positive, and sum to 1.")
def no_softmax(q, k, v, keys, values):
    _, keys, values = cached_step(q, k, v, keys, values)
    return q @ keys.mT / math.sqrt(q.shape[-1]) @ values, keys, values


@exercise.mistake("your softmax runs over the queries: there is only one, so all weights are 1.")
def over_the_queries(q, k, v, keys, values):
    _, keys, values = cached_step(q, k, v, keys, values)
    weights = (q @ keys.mT / math.sqrt(q.shape[-1])).softmax(dim=-2)
    return weights @ values, keys, values


@exercise.mistake("you hold the query: it is needed once, when it comes. Hold the key.")
def query_held(q, k, v, keys, values):
    return cached_step(q, q, v, keys, values)


@exercise.mistake("keys and values are exchanged: return the keys first.")
def exchanged(q, k, v, keys, values):
    context, keys, values = cached_step(q, k, v, keys, values)
    return context, values, keys


@exercise.mistake("return the keys and values, too: the next step needs them.")
def context_alone(q, k, v, keys, values):
    return cached_step(q, k, v, keys, values)[0]


@exercise.mistake("positions are on the last axis but one, wherever the heads are: dim=-2.")
def joined_along_axis_1(q, k, v, keys, values):
    keys, values = torch.cat([keys, k], dim=1), torch.cat([values, v], dim=1)
    return looked(q, keys, values, q.shape[-1] ** -0.5), keys, values


@exercise.mistake(
    "your causal mask hides all keys but the first: the one query is the last position."
)
def wrong_corner(q, k, v, keys, values):
    _, keys, values = cached_step(q, k, v, keys, values)
    return values[..., :1, :], keys, values


@exercise.mistake("you take the root of the number of keys: scale by the width of a key, d_k.")
def scaled_by_the_length(q, k, v, keys, values):
    _, keys, values = cached_step(q, k, v, keys, values)
    return looked(q, keys, values, keys.shape[-2] ** -0.5), keys, values


@exercise.mistake("the scores are multiplied by the root of the width: divide by it.")
def scaled_up(q, k, v, keys, values):
    _, keys, values = cached_step(q, k, v, keys, values)
    return looked(q, keys, values, q.shape[-1] ** 0.5), keys, values


@exercise.mistake("+ adds the new key to every key that is held: torch.cat appends it.")
def added(q, k, v, keys, values):
    keys, values = keys + k, values + v
    return looked(q, keys, values, q.shape[-1] ** -0.5), keys, values


@exercise.mistake(
    "there may be no axes for sequences and heads: count from the end, dim=-2, not 2."
)
def joined_along_axis_2(q, k, v, keys, values):
    keys, values = torch.cat([keys, k], dim=2), torch.cat([values, v], dim=2)
    return looked(q, keys, values, q.shape[-1] ** -0.5), keys, values


@exercise.mistake("without a dim, torch.cat joins along the first axis: positions are on dim=-2.")
def joined_along_the_first(q, k, v, keys, values):
    keys, values = torch.cat([keys, k]), torch.cat([values, v])
    return looked(q, keys, values, q.shape[-1] ** -0.5), keys, values


@exercise.mistake("you join along the features, but a new position makes no key wider: dim=-2.")
def joined_along_the_features(q, k, v, keys, values):
    keys, values = torch.cat([keys, k], dim=-1), torch.cat([values, v], dim=-1)
    return looked(q, keys, values, q.shape[-1] ** -0.5), keys, values


@exercise.mistake("all keys attend: only the one new query should, which came as q.")
def all_look(q, k, v, keys, values):
    _, keys, values = cached_step(q, k, v, keys, values)
    return looked(keys, keys, values, q.shape[-1] ** -0.5), keys, values


@exercise.mistake("the new key is held, but its value isn't: append both.")
def value_not_held(q, k, v, keys, values):
    context, keys, _ = cached_step(q, k, v, keys, values)
    return context, keys, values


@exercise.mistake("you take the root of d_v, the width of a value: scale by that of a key, d_k.")
def scaled_by_the_values(q, k, v, keys, values):
    _, keys, values = cached_step(q, k, v, keys, values)
    return looked(q, keys, values, v.shape[-1] ** -0.5), keys, values


@exercise.mistake("these are the weights: the context is their average of the values.")
def weights_for_context(q, k, v, keys, values):
    _, keys, values = cached_step(q, k, v, keys, values)
    return (q @ keys.mT / math.sqrt(q.shape[-1])).softmax(dim=-1), keys, values


@exercise.mistake("the context has lost an axis: it is still (..., 1, d_v), with one position.")
def axis_lost(q, k, v, keys, values):
    c, K, V = cached_step(q, k, v, keys, values)
    return c[..., 0, :], K, V


@exercise.mistake("the order is: the context, then the keys, then the values.")
def cache_first(q, k, v, keys, values):
    c, K, V = cached_step(q, k, v, keys, values)
    return K, V, c
