"""Linear attention whose state forgets: retention, with a normaliser."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise
from utils.exercises.efficient_attention.drawn import heads
from utils.exercises.efficient_attention.pairs import averaged, steps_back


def forgetting_attention(phi_q: Tensor, phi_k: Tensor, value: Tensor, gamma: Tensor) -> Tensor:
    """Let a key that lies n positions back count γⁿ times.

    Shapes: phi_q and phi_k (B, h, T, m), value (B, h, T, d_v), gamma (h,) to (B, h, T, d_v).
    """
    return averaged(decayed(phi_q, phi_k, gamma), value)


def decayed(phi_q: Tensor, phi_k: Tensor, gamma: Tensor) -> Tensor:
    """Return the weights γ^(t - s) φ(q_t)·φ(k_s), 0 for s > t: (B, h, T, T)."""
    back = steps_back(phi_q.shape[2]).clamp(min=0)
    return (gamma[:, None, None] ** back * (phi_q @ phi_k.mT)).tril()


exercise = Exercise(forgetting_attention)


# What it is tried on ------------------------------------------------------------------------------


def features(B: int, h: int, T: int, m: int, d_v: int, gamma: Tensor | None = None) -> tuple:
    q, k, v = heads(B, h, T, T, m, d_v)
    gamma = 0.4 + 0.5 * torch.rand(h).double() if gamma is None else gamma
    return q.abs() + 0.1, k.abs() + 0.1, v, gamma


@exercise.stage("one position")
def one_position():
    return [features(1, 2, 1, 3, 4)]


@exercise.stage("two positions")
def two_positions():
    return [features(1, 2, 2, 3, 2)]


@exercise.stage("γ = 0, γ = 1, and a long text")
def gamma_at_the_ends():
    """Draw for heads that forget all and nothing, and for a text too long for γ^-s."""
    ends, half = (torch.tensor(x, dtype=torch.float64) for x in ([0.0, 1.0], [0.5]))
    return [features(1, 2, 4, 3, 2, ends), features(1, 1, 1200, 2, 1, half)]


@exercise.stage("several")
def several():
    return [features(3, 2, 7, 4, 5), features(2, 4, 5, 6, 3)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("your normaliser is missing: the weights of a query should sum to 1.")
def no_normaliser(phi_q, phi_k, value, gamma):
    return decayed(phi_q, phi_k, gamma) @ value


@exercise.mistake("your divisor doesn't decay: it is a sum of the same weights.")
def normaliser_kept(phi_q, phi_k, value, gamma):
    total = (phi_q @ phi_k.mT).tril().sum(-1, keepdim=True)
    return decayed(phi_q, phi_k, gamma) @ value / total


@exercise.mistake("your sum includes the future.")
def future(phi_q, phi_k, value, gamma):
    apart = steps_back(phi_q.shape[2]).abs()
    return averaged(gamma[:, None, None] ** apart * (phi_q @ phi_k.mT), value)


@exercise.mistake(
    "you read before the position's own key is added; the first position finds nothing."
)
def read_too_early(phi_q, phi_k, value, gamma):
    return averaged(decayed(phi_q, phi_k, gamma).tril(-1), value)


@exercise.mistake("the new key decays, and the old ones stay: it should be the other way round.")
def the_new_decays(phi_q, phi_k, value, gamma):
    s = torch.arange(phi_k.shape[2])[:, None]
    return averaged((phi_q @ (gamma[:, None, None] ** s * phi_k).mT).tril(), value)


@exercise.mistake("nothing decays: that is linear attention.")
def no_decay(phi_q, phi_k, value, gamma):
    return forgetting_attention(phi_q, phi_k, value, torch.ones_like(gamma))


@exercise.mistake(
    "correct as algebra, but in a long text γ^-s overflows, and for γ = 0 it doesn't exist: raise "
    "γ to the power t - s."
)
def split_in_two(phi_q, phi_k, value, gamma):
    t = torch.arange(phi_k.shape[2])[:, None]
    gamma = gamma[:, None, None]
    return averaged(((gamma**t * phi_q) @ (gamma**-t * phi_k).mT).tril(), value)


@exercise.mistake(
    "correct as algebra, but for γ = 0 nothing is left of a position's own key, which should "
    "count γ⁰ = 1 times: it must not decay before it is read, and 0 times the logarithm of 0 is "
    "NaN."
)
def decayed_at_once(phi_q, phi_k, value, gamma):
    return averaged(gamma[:, None, None] * decayed(phi_q, phi_k, gamma), value)


@exercise.mistake("all heads forget at the same rate: each has a γ of its own.")
def one_gamma(phi_q, phi_k, value, gamma):
    return forgetting_attention(phi_q, phi_k, value, gamma[:1].expand_as(gamma))


@exercise.mistake("the weights don't sum to 1: the divisor needs the query's features, too.")
def normaliser_without_the_query(phi_q, phi_k, value, gamma):
    totals = decayed(torch.ones_like(phi_q), phi_k, gamma).sum(-1, keepdim=True)
    return decayed(phi_q, phi_k, gamma) @ value / totals


@exercise.mistake(
    "correct as algebra, but where γ is 1, you give the new key a weight of 1 - γ = 0, and 0 / 0 "
    "is NaN: here it counts whole."
)
def running_average(phi_q, phi_k, value, gamma):
    return averaged((1 - gamma)[:, None, None] * decayed(phi_q, phi_k, gamma), value)


@exercise.mistake(
    "you add a small number to the divisor. All features are positive, so it isn't needed, and it "
    "makes the weights sum to less than 1."
)
def small_number_added(phi_q, phi_k, value, gamma):
    weights = decayed(phi_q, phi_k, gamma)
    return weights @ value / (weights.sum(-1, keepdim=True) + 1e-6)


@exercise.mistake("γ is the share that is kept: you decay by 1 - γ, the share that is lost.")
def lost_for_kept(phi_q, phi_k, value, gamma):
    return forgetting_attention(phi_q, phi_k, value, 1 - gamma)
