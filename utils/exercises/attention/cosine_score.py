"""Attention weights from the cosine between query and key, times a sharpness."""

import math

from torch import Tensor

from utils.exercises.checking import Exercise, random


def cosine_weights(query: Tensor, keys: Tensor, beta: float) -> Tensor:
    """Return weights (B, T, S), the softmax of β times the cosine.

    Shapes: query (B, T, d), keys (B, S, d).
    """
    return (beta * unit(query) @ unit(keys).mT).softmax(-1)


def unit(x: Tensor, axis: int = -1) -> Tensor:
    return x / x.norm(dim=axis, keepdim=True)


exercise = Exercise(cosine_weights)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, T: int, S: int, d: int, beta: float) -> tuple[Tensor, Tensor, float]:
    return random(B, T, d), random(B, S, d), beta


@exercise.stage("one query")
def one_query():
    return [drawn(1, 1, 3, 4, 2.0)]


@exercise.stage("several queries and sources")
def several_queries():
    return [drawn(2, 3, 5, 6, 3.0), drawn(3, 4, 2, 5, 0.5), drawn(4, 4, 6, 3, 5.0)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("that is the dot product: long keys win, whatever their direction.")
def dot_product(query, keys, beta):
    return (beta * query @ keys.mT).softmax(-1)


@exercise.mistake("the query keeps its length, which sharpens the weights; only β should.")
def length_of_the_query(query, keys, beta):
    return (beta * query @ unit(keys).mT).softmax(-1)


@exercise.mistake("the keys keep their lengths, so long ones win.")
def lengths_of_the_keys(query, keys, beta):
    return (beta * unit(query) @ keys.mT).softmax(-1)


@exercise.mistake("you divided by the sum of squares; a length is the root of that.")
def no_root(query, keys, beta):
    query, keys = (x / x.square().sum(-1, keepdim=True) for x in (query, keys))
    return (beta * query @ keys.mT).softmax(-1)


@exercise.mistake("you took lengths over the positions: a vector's numbers are on the last axis.")
def lengths_over_positions(query, keys, beta):
    return (beta * unit(query, 1) @ unit(keys, 1).mT).softmax(-1)


@exercise.mistake("your softmax runs over the queries: the weights of one query should sum to 1.")
def softmax_over_queries(query, keys, beta):
    return (beta * unit(query) @ unit(keys).mT).softmax(1)


@exercise.mistake("a cosine lies between -1 and 1 in any width: it needs no √d.")
def scaled(query, keys, beta):
    return cosine_weights(query, keys, beta / math.sqrt(query.shape[-1]))


@exercise.mistake("a larger β should make the weights sharper, but yours get flatter.")
def divided_by_beta(query, keys, beta):
    return cosine_weights(query, keys, 1 / beta)


@exercise.mistake("those are the scores; what turns them into weights?")
def no_softmax(query, keys, beta):
    return beta * unit(query) @ unit(keys).mT


@exercise.mistake("you divide by one length for all vectors: each has its own.")
def one_length_for_all(query, keys, beta):
    return (beta * (query / query.norm()) @ (keys / keys.norm()).mT).softmax(-1)


@exercise.mistake("β is missing: without it no weight can be sharp, since a cosine is at most 1.")
def no_sharpness(query, keys, beta):
    return cosine_weights(query, keys, 1.0)


@exercise.mistake("β comes after the softmax: your rows sum to β, and are as flat as before.")
def sharpened_afterwards(query, keys, beta):
    return beta * cosine_weights(query, keys, 1.0)
