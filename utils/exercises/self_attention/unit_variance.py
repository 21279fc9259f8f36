"""Scores of variance 1, for queries and keys of any variance."""

import math

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def unit_scores(query: Tensor, key: Tensor, var_q: float, var_k: float) -> Tensor:
    """Return scores (B, h, T, S) of variance 1.

    Shapes: query (B, h, T, d_k), key (B, h, S, d_k), independent and of mean 0.
    """
    return query @ key.mT / math.sqrt(query.shape[-1] * var_q * var_k)


exercise = Exercise(unit_scores)


# What it is tried on ------------------------------------------------------------------------------


def drawn(var_q: float, var_k: float, B: int, h: int, T: int, S: int, d_k: int) -> tuple:
    """Draw in single precision: a root may be taken in it, too."""
    query, key = math.sqrt(var_q) * random(B, h, T, d_k), math.sqrt(var_k) * random(B, h, S, d_k)
    return query.float(), key.float(), var_q, var_k


@exercise.stage("one head and variances of 1")
def one_head():
    return [drawn(1.0, 1.0, 1, 1, 2, 3, 4)]


@exercise.stage("several heads")
def several_heads():
    return [drawn(1.0, 1.0, 2, 3, 4, 5, 7)]


@exercise.stage("other variances")
def other_variances():
    return [
        drawn(4.0, 0.25, 2, 3, 4, 5, 6),
        drawn(0.5, 5.0, 3, 4, 2, 5, 8),
        drawn(3.0, 2.0, 4, 4, 4, 6, 3),
    ]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("those are the plain dot products: a sum of d_k terms varies more than one.")
def not_scaled(query, key, var_q, var_k):
    return query @ key.mT


@exercise.mistake("√d_k is enough only where queries and keys have a variance of 1.")
def d_k_alone(query, key, var_q, var_k):
    return unit_scores(query, key, 1, 1)


@exercise.mistake("a head's dot product sums over the head's width, not over the model's.")
def d_model(query, key, var_q, var_k):
    return unit_scores(query, key, query.shape[1] * var_q, var_k)


@exercise.mistake(
    "you divide by the variance of the dot product, or twice by its root; once makes it 1."
)
def scaled_twice(query, key, var_q, var_k):
    return query @ key.mT / (query.shape[-1] * var_q * var_k)


@exercise.mistake("the two numbers are variances, but you take them for standard deviations.")
def deviations(query, key, var_q, var_k):
    return unit_scores(query, key, var_q**2, var_k**2)


@exercise.mistake("the variance of a product of independent numbers is not their sum.")
def variances_added(query, key, var_q, var_k):
    return unit_scores(query, key, var_q + var_k, 1)


@exercise.mistake("the scores get larger where they should get smaller: divide.")
def multiplied(query, key, var_q, var_k):
    return query @ key.mT * math.sqrt(query.shape[-1] * var_q * var_k)


@exercise.mistake("torch.sqrt wants a tensor, and this is a plain number.")
def root_of_a_number(query, key, var_q, var_k):
    return query @ key.mT / torch.sqrt(query.shape[-1] * var_q * var_k)


@exercise.mistake("a dot product is a sum of d_k products: its variance grows with d_k, too.")
def without_d_k(query, key, var_q, var_k):
    return query @ key.mT / math.sqrt(var_q * var_k)


@exercise.mistake("the scale is taken from the number of keys: the product sums over their width.")
def number_of_keys(query, key, var_q, var_k):
    return query @ key.mT / math.sqrt(key.shape[2] * var_q * var_k)


@exercise.mistake("only the query's variance is in your scale: the key's counts, too.")
def key_forgotten(query, key, var_q, var_k):
    return query @ key.mT / math.sqrt(query.shape[-1] * var_q)
