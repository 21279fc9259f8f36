"""Scores that no long vector can drive up: queries and keys through an RMS norm."""

import math

from torch import Tensor

from utils.exercises.checking import Exercise, random


def qk_norm_scores(q: Tensor, k: Tensor, g_q: Tensor, g_k: Tensor, eps: float) -> Tensor:
    """Give each head's queries and keys an RMS norm with a gain, then score them as ever.

    Shapes: q (B, h, T, d_k), k (B, h, S, d_k), gains g_q and g_k (d_k,) to scores (B, h, T, S).
    """
    q, k = (
        gain * x / (x.square().mean(-1, keepdim=True) + eps).sqrt()
        for gain, x in ((g_q, q), (g_k, k))
    )
    return q @ k.mT / math.sqrt(q.shape[-1])


exercise = Exercise(qk_norm_scores)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one head, one query, one key")
def one_pair():
    return [(random(1, 1, 1, 3), random(1, 1, 1, 3), random(3), random(3), 0.01)]


@exercise.stage("small vectors, where ε counts")
def small_vectors():
    return [(0.1 * random(1, 1, 2, 4), 0.2 * random(1, 1, 3, 4), random(4), random(4), 0.1)]


@exercise.stage("several heads and sequences")
def several_heads():
    return [
        (1 + random(2, 3, 4, 6), random(2, 3, 5, 6), random(6), random(6), 1e-3),
        (5 * random(3, 2, 2, 5), 1 + random(3, 2, 2, 5), random(5), random(5), 0.5),
    ]


# What goes wrong ----------------------------------------------------------------------------------


def scored(q, k):
    return q @ k.mT / math.sqrt(q.shape[-1])


def sized(x, eps, over=-1):
    return x / (x.square().mean(over, keepdim=True) + eps).sqrt()


@exercise.mistake("these are the plain scores: a vector twice as long still counts twice as much.")
def no_norm(q, k, g_q, g_k, eps):
    return scored(q, k)


@exercise.mistake("the keys are normalised, the queries not: a long query still sharpens its row.")
def keys_alone(q, k, g_q, g_k, eps):
    return scored(q, g_k * sized(k, eps))


@exercise.mistake("the queries are normalised, the keys not: a long key still draws all looks.")
def queries_alone(q, k, g_q, g_k, eps):
    return scored(g_q * sized(q, eps), k)


@exercise.mistake(
    "one size for all heads of a position: each head has queries and keys of its own."
)
def over_the_heads(q, k, g_q, g_k, eps):
    return scored(g_q * sized(q, eps, (1, 3)), g_k * sized(k, eps, (1, 3)))


@exercise.mistake("you average over the positions: each query and each key has a size of its own.")
def over_positions(q, k, g_q, g_k, eps):
    return scored(g_q * sized(q, eps, 2), g_k * sized(k, eps, 2))


@exercise.mistake("that is layer norm: this one takes no mean away.")
def centred(q, k, g_q, g_k, eps):
    q, k = (x - x.mean(-1, keepdim=True) for x in (q, k))
    return scored(g_q * sized(q, eps), g_k * sized(k, eps))


@exercise.mistake("ε is added to the root; it belongs to what the root is taken of.")
def eps_outside(q, k, g_q, g_k, eps):
    q, k = (x / (x.square().mean(-1, keepdim=True).sqrt() + eps) for x in (q, k))
    return scored(g_q * q, g_k * k)


@exercise.mistake("ε is missing: a vector of zeros would be divided by 0.")
def no_eps(q, k, g_q, g_k, eps):
    return scored(g_q * sized(q, 0.0), g_k * sized(k, 0.0))


@exercise.mistake("ε is added to the sum of the squares; it belongs to their mean.")
def eps_to_the_sum(q, k, g_q, g_k, eps):
    return qk_norm_scores(q, k, g_q, g_k, eps / q.shape[-1])


@exercise.mistake("the root is forgotten: divided by the mean square, long vectors become short.")
def no_root(q, k, g_q, g_k, eps):
    q, k = (x / (x.square().mean(-1, keepdim=True) + eps) for x in (q, k))
    return scored(g_q * q, g_k * k)


@exercise.mistake("these are weights: scores are what comes before the softmax.")
def softmaxed(q, k, g_q, g_k, eps):
    return qk_norm_scores(q, k, g_q, g_k, eps).softmax(-1)


@exercise.mistake("the gains are missing: no head could make its scores sharper or flatter.")
def no_gains(q, k, g_q, g_k, eps):
    return scored(sized(q, eps), sized(k, eps))


@exercise.mistake("some programs store the gain less 1; here it is the gain itself.")
def gain_less_one(q, k, g_q, g_k, eps):
    return scored((1 + g_q) * sized(q, eps), (1 + g_k) * sized(k, eps))


@exercise.mistake(
    "that divides by the length of the vector, not by its root mean square: cosines, which stay "
    "below 1."
)
def cosines(q, k, g_q, g_k, eps):
    q, k = (x / (x.square().sum(-1, keepdim=True) + eps).sqrt() for x in (q, k))
    return scored(g_q * q, g_k * k)


@exercise.mistake("the scores are not divided by √d_k: a norm of 1 a number is √d_k for a vector.")
def not_scaled(q, k, g_q, g_k, eps):
    return (g_q * sized(q, eps)) @ (g_k * sized(k, eps)).mT


@exercise.mistake("you normalise the rows of scores; what is normalised is queries and keys.")
def of_the_scores(q, k, g_q, g_k, eps):
    return sized(scored(g_q * q, g_k * k), eps)


@exercise.mistake("one gain serves both in yours: queries have g_q, and keys have g_k.")
def one_gain(q, k, g_q, g_k, eps):
    return qk_norm_scores(q, k, g_q, g_q, eps)


@exercise.mistake("the keys have a gain, too, g_k.")
def gain_of_queries_alone(q, k, g_q, g_k, eps):
    return scored(g_q * sized(q, eps), sized(k, eps))


@exercise.mistake("the scores are divided by d_k: divide by its root.")
def divided_by_the_width(q, k, g_q, g_k, eps):
    return qk_norm_scores(q, k, g_q, g_k, eps) / math.sqrt(q.shape[-1])


@exercise.mistake("you apply the gains before the norm, which removes most of their effect.")
def gains_before_the_norm(q, k, g_q, g_k, eps):
    return scored(sized(g_q * q, eps), sized(g_k * k, eps))


@exercise.mistake(
    "that is the variance, which takes the mean away: average the squares themselves."
)
def variance(q, k, g_q, g_k, eps):
    q, k = (x / (x.var(-1, correction=0, keepdim=True) + eps).sqrt() for x in (q, k))
    return scored(g_q * q, g_k * k)


@exercise.mistake(
    "you divide by the root of the number of keys: the scale comes from the width of a head, d_k."
)
def scaled_by_the_keys(q, k, g_q, g_k, eps):
    return qk_norm_scores(q, k, g_q, g_k, eps) * math.sqrt(q.shape[-1] / k.shape[2])
