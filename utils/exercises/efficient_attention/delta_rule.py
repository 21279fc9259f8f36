"""A state that corrects what is stored under a key: the delta rule."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise
from utils.exercises.efficient_attention.drawn import heads


def delta_rule(query: Tensor, key: Tensor, value: Tensor, beta: Tensor) -> Tensor:
    """Add to the state, under each key, β times what its value differs from what the key finds.

    Shapes: query and key (B, h, T, d_k), value (B, h, T, d_v), beta (B, h, T) to (B, h, T, d_v).
    """
    return remembered(correction, query, key, value, beta)


def correction(q: Tensor, k: Tensor, v: Tensor, b: Tensor, state: Tensor) -> Tensor:
    return b * (v - looked_up(k, state))


def remembered(change: Callable, query: Tensor, key: Tensor, value: Tensor, beta: Tensor) -> Tensor:
    """At each position, store `change(q, k, v, β, state)` under the key, then read."""
    state = key.new_zeros(*key.shape[:2], key.shape[3], value.shape[3])  # (B, h, d_k, d_v)
    outputs = []
    for q, k, v, b in zip(*(x.unbind(2) for x in (query, key, value, beta)), strict=True):
        state = state + k[..., :, None] * change(q, k, v, b[..., None], state)[..., None, :]
        outputs.append(looked_up(q, state))
    return torch.stack(outputs, dim=2)


def looked_up(x: Tensor, state: Tensor) -> Tensor:
    return (x[..., None, :] @ state)[..., 0, :]


exercise = Exercise(delta_rule)


# What it is tried on ------------------------------------------------------------------------------


def facts(B: int, h: int, T: int, d_k: int, d_v: int) -> tuple[Tensor, ...]:
    query, key, value = heads(B, h, T, T, d_k, d_v)
    beta = 0.2 + 0.7 * torch.rand(B, h, T, dtype=torch.float64)
    return query, F.normalize(key, dim=-1), value, beta


@exercise.stage("one position")
def one_position():
    return [facts(1, 1, 1, 3, 2)]


@exercise.stage("two positions")
def two_positions():
    return [facts(1, 1, 2, 3, 2)]


@exercise.stage("several")
def several():
    return [facts(2, 3, 6, 4, 5), facts(3, 2, 8, 5, 4)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "you don't remove the old value under a key before you store the new one: that is the sum of "
    "linear attention."
)
def plain_sum(*facts):
    return remembered(lambda q, k, v, b, state: b * v, *facts)


@exercise.mistake("you correct the value that the query finds: write under the key.")
def corrected_by_the_query(*facts):
    return remembered(lambda q, k, v, b, state: b * (v - looked_up(q, state)), *facts)


@exercise.mistake(
    "you read before you write: a position should find the value that it has just stored."
)
def read_before_written(query, key, value, beta):
    next_reads = delta_rule(query.roll(-1, 2), key, value, beta)[:, :, :-1]
    return F.pad(next_reads, (0, 0, 1, 0))  # at first, there is nothing to find


@exercise.mistake(
    "β weights only the new value, and all of the old one is removed: weight the difference."
)
def new_alone_weighed(*facts):
    return remembered(lambda q, k, v, b, state: b * v - looked_up(k, state), *facts)


@exercise.mistake("β changes nothing: each key replaces the whole value that it finds.")
def beta_ignored(*facts):
    return remembered(lambda q, k, v, b, state: v - looked_up(k, state), *facts)


@exercise.mistake("the whole state decays: correct only the value that the key finds.")
def everything_decays(query, key, value, beta):
    b = beta[..., None]
    log_kept = (1 - b).log().cumsum(2)  # (B, h, T, 1)
    decay = (log_kept - log_kept.mT).tril().exp().tril()
    return (decay * (query @ key.mT)) @ (b * value)


@exercise.mistake("β weights only the old value that is removed: weight the difference.")
def old_alone_weighed(*facts):
    return remembered(lambda q, k, v, b, state: v - b * looked_up(k, state), *facts)


@exercise.mistake("nothing is corrected, and β is not used: that is linear attention.")
def plain_sum_without_beta(*facts):
    return remembered(lambda q, k, v, b, state: v, *facts)


@exercise.mistake("you add the value that the key finds once more: subtract it.")
def sign(*facts):
    return remembered(lambda q, k, v, b, state: b * (v + looked_up(k, state)), *facts)


@exercise.mistake("all queries read the last state: position t should read the state up to t.")
def read_at_the_end(query, key, value, beta):
    T = query.shape[2]
    reads = [delta_rule(query[:, :, [t] * T], key, value, beta)[:, :, -1] for t in range(T)]
    return torch.stack(reads, dim=2)


@exercise.mistake("you apply β twice to the same difference.")
def beta_twice(query, key, value, beta):
    return remembered(lambda q, k, v, b, s: b * correction(q, k, v, b, s), query, key, value, beta)
