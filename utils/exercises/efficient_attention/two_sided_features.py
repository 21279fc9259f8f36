"""Softmax attention, estimated by features that look along each direction and against it."""

import math

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.exercises.efficient_attention.drawn import heads, on_grid
from utils.exercises.efficient_attention.pairs import averaged


def two_sided_attention(query: Tensor, key: Tensor, value: Tensor, omega: Tensor) -> Tensor:
    """Attend with weights φ(q)ᵀφ(k), also where features, taken as they stand, round to 0.

    Shapes: query (B, h, T, d_k), key (B, h, S, d_k), value (B, h, S, d_v), omega (m, d_k) to
    (B, h, T, d_v).
    """
    return by_logarithms(*exponents(query, key, omega), value)


def exponents(query: Tensor, key: Tensor, omega: Tensor, power: float = -0.25) -> list[Tensor]:
    """Return the logarithms of the features (…, 2m), without the constant that cancels."""
    logarithms = []
    for x in (query, key):
        x = x * x.shape[3] ** power
        projected = x @ omega.T
        half = x.square().sum(-1, keepdim=True) / 2
        logarithms.append(torch.cat([projected, -projected], dim=-1) - half)
    return logarithms


def by_logarithms(log_q: Tensor, log_k: Tensor, value: Tensor) -> Tensor:
    largest = log_k.amax(2, keepdim=True)  # of each feature, over the keys: (B, h, 1, 2m)
    log_q = log_q + largest
    phi_q = (log_q - log_q.amax(3, keepdim=True)).exp()
    return averaged(phi_q @ (log_k - largest).exp().mT, value)


exercise = Exercise(two_sided_attention)


# What it is tried on ------------------------------------------------------------------------------


def to_estimate(B: int, h: int, T: int, S: int, d_k: int, d_v: int, m: int) -> tuple[Tensor, ...]:
    return *heads(B, h, T, S, d_k, d_v), random(m, d_k)


def long_keys(B: int, h: int, T: int, S: int, d_v: int, m: int) -> tuple[Tensor, ...]:
    """Draw keys of equal norms, so large that e^(-|k|² / 2) is 0 in double precision.

    On grids and with d_k = 16, whose fourth root is 2, single precision makes no error.
    """
    order = torch.rand(B, h, S, 16).argsort(-1)  # numbers 20 to 35 in some order, with signs
    key = (20.0 + order.double()) * (2 * torch.randint(0, 2, (B, h, S, 16)) - 1)
    query, omega = on_grid(B, h, T, 16), on_grid(m, 16)
    return query, key, random(B, h, S, d_v), omega


@exercise.stage("one feature")
def one_feature():
    return [to_estimate(1, 1, 1, 2, 3, 2, 1)]


@exercise.stage("large keys")
def large_keys():
    return [long_keys(1, 2, 3, 5, 4, 6)]


@exercise.stage("large keys in one head only")
def unlike_heads():
    query, key, value, omega = long_keys(1, 2, 3, 5, 4, 6)
    return [(query, torch.cat([key[:, :1] / 16, key[:, 1:]], dim=1), value, omega)]


@exercise.stage("several heads and sequences")
def several_heads():
    return [to_estimate(2, 3, 4, 5, 6, 2, 7), to_estimate(3, 2, 6, 4, 5, 3, 8)]


# What goes wrong ----------------------------------------------------------------------------------


def plain_features(query: Tensor, key: Tensor, omega: Tensor) -> list[Tensor]:
    return [x.exp() / math.sqrt(2 * len(omega)) for x in exponents(query, key, omega)]


@exercise.mistake(
    "where keys are large, all features round to 0, and 0 / 0 is NaN: bring the exponents near 0 "
    "before you take the exponential."
)
def no_maximum(query, key, value, omega):
    phi_q, phi_k = plain_features(query, key, omega)
    return averaged(phi_q @ phi_k.mT, value)


@exercise.mistake(
    "you take one maximum for all heads: next to a head with larger keys, the others round to 0."
)
def one_maximum(query, key, value, omega):
    log_q, log_k = exponents(query, key, omega)
    phi_q = (log_q - log_q.amax(3, keepdim=True)).exp()
    return averaged(phi_q @ (log_k - log_k.amax()).exp().mT, value)


@exercise.mistake(
    "you subtract from each key a maximum of its own, which doesn't cancel: it changes one key's "
    "weight among the others."
)
def each_keys_maximum(query, key, value, omega):
    phi_q, phi_k = ((x - x.amax(3, keepdim=True)).exp() for x in exponents(query, key, omega))
    return averaged(phi_q @ phi_k.mT, value)


def with_norms(part: float, power: float, query, key, value, omega) -> Tensor:
    """Subtract this part of |x|², of an x that is scaled by this power of d_k."""
    logarithms = []
    for x in (query, key):
        projected = x * x.shape[3] ** -0.25 @ omega.T
        norm = part * (x * x.shape[3] ** power).square().sum(-1, keepdim=True)
        logarithms.append(torch.cat([projected, -projected], dim=-1) - norm)
    return by_logarithms(*logarithms, value)


@exercise.mistake("|x|² / 2 is missing in the exponent: large keys get too much weight.")
def no_norm(query, key, value, omega):
    return with_norms(0.0, -0.25, query, key, value, omega)


@exercise.mistake("the scores are not scaled: estimate the softmax of q·k / √d_k.")
def not_scaled(query, key, value, omega):
    return by_logarithms(*exponents(query, key, omega, power=0), value)


@exercise.mistake("you divide both query and key by √d_k, and so their product by d_k.")
def scaled_twice(query, key, value, omega):
    return by_logarithms(*exponents(query, key, omega, power=-0.5), value)


@exercise.mistake("you use each ω alone: the other half of the features uses -ω.")
def one_side(query, key, value, omega):
    along = (x[..., : len(omega)] for x in exponents(query, key, omega))
    return by_logarithms(*along, value)


@exercise.mistake("your normaliser is missing: the weights of a query should sum to 1.")
def no_normaliser(query, key, value, omega):
    phi_q, phi_k = plain_features(query, key, omega)
    return phi_q @ (phi_k.mT @ value)


@exercise.mistake(
    "you subtract a number from the keys, feature by feature: it cancels only if you add it to "
    "the query's features."
)
def maxima_not_given_back(query, key, value, omega):
    log_q, log_k = exponents(query, key, omega)
    phi_q = (log_q - log_q.amax(3, keepdim=True)).exp()
    return averaged(phi_q @ (log_k - log_k.amax(2, keepdim=True)).exp().mT, value)


@exercise.mistake(
    "you add a small number to each feature, as many published programs do, but it doesn't "
    "cancel. The largest feature is 1 already, so it isn't needed."
)
def small_number_added(query, key, value, omega):
    log_q, log_k = exponents(query, key, omega)
    phi_q = (log_q - log_q.amax(3, keepdim=True)).exp() + 1e-4
    phi_k = (log_k - log_k.amax((2, 3), keepdim=True)).exp() + 1e-4
    return averaged(phi_q @ phi_k.mT, value)


@exercise.mistake("the exponent has half of |x|²: yours has all of it.")
def norm_not_halved(query, key, value, omega):
    return with_norms(1.0, -0.25, query, key, value, omega)


@exercise.mistake("|x|² / 2 belongs to the scaled x, too: x is divided by the fourth root of d_k.")
def norm_not_scaled(query, key, value, omega):
    return with_norms(0.5, 0, query, key, value, omega)


@exercise.mistake("that is softmax attention itself: estimate it from features.")
def not_estimated(query, key, value, omega):
    return (query @ key.mT / math.sqrt(query.shape[3])).softmax(-1) @ value
