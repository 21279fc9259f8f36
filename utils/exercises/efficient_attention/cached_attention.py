"""Attention that goes on from a cache, with several new symbols at once."""

import math

import torch
from torch import Tensor

from utils.efficient.blocks import attend
from utils.exercises.checking import Exercise, random


def continue_with(
    x: Tensor,
    keys: Tensor,
    values: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    positions: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the context of new symbols, and all keys and values for the next call.

    Shapes: x (B, T, D), keys and values (B, S, D), matrices (D, D), positions (max_len, D) to
    (B, T, D) and twice (B, S + T, D).
    """
    T, S = x.shape[1], keys.shape[1]
    x = x + positions[S : S + T]
    keys = torch.cat([keys, x @ W_k.T], dim=1)
    values = torch.cat([values, x @ W_v.T], dim=1)
    return attend(x @ W_q.T, keys, values, causal(T, S, S)), keys, values


def causal(T: int, S: int, diagonal: int) -> Tensor:
    return torch.ones(T, S + T, dtype=torch.bool).tril(diagonal)


exercise = Exercise(continue_with)


# What it is tried on ------------------------------------------------------------------------------


def to_continue(B: int, T: int, S: int, D: int, max_len: int) -> tuple[Tensor, ...]:
    held = random(B, T, D), random(B, S, D), random(B, S, D)
    return *held, random(D, D), random(D, D), random(D, D), random(max_len, D)


@exercise.stage("a first symbol, nothing held")
def first_symbol():
    return [to_continue(1, 1, 0, 2, 3)]


@exercise.stage("one symbol after others")
def one_symbol():
    return [to_continue(1, 1, 3, 2, 6)]


@exercise.stage("several symbols, nothing held")
def several_at_first():
    return [to_continue(2, 3, 0, 4, 5)]


@exercise.stage("several symbols after others")
def several_behind_others():
    return [to_continue(3, 2, 4, 5, 9), to_continue(4, 4, 3, 2, 8)]


# What goes wrong ----------------------------------------------------------------------------------


def placed_from(start: int, x, keys, values, W_q, W_k, W_v, positions) -> tuple:
    positions = positions.roll(keys.shape[1] - start, 0)
    return continue_with(x, keys, values, W_q, W_k, W_v, positions)


def with_diagonal(diagonal: int, x, keys, values, W_q, W_k, W_v, positions) -> tuple:
    T, S = x.shape[1], keys.shape[1]
    _, keys, values = continue_with(x, keys, values, W_q, W_k, W_v, positions)
    query = (x + positions[S : S + T]) @ W_q.T
    return attend(query, keys, values, causal(T, S, diagonal)), keys, values


@exercise.mistake("your positions start from 0 in each call: the keys that are held come first.")
def positions_from_0(x, keys, values, W_q, W_k, W_v, positions):
    return placed_from(0, x, keys, values, W_q, W_k, W_v, positions)


@exercise.mistake(
    "you take the last positions of the table: take those that follow the keys that are held."
)
def last_positions(x, keys, values, W_q, W_k, W_v, positions):
    start = len(positions) - x.shape[1]
    return placed_from(start, x, keys, values, W_q, W_k, W_v, positions)


@exercise.mistake(
    "your causal mask starts at the first key: the last query should see the last key."
)
def wrong_corner(x, keys, values, W_q, W_k, W_v, positions):
    return with_diagonal(0, x, keys, values, W_q, W_k, W_v, positions)


@exercise.mistake("the first of several new symbols sees the later ones.")
def future(x, keys, values, W_q, W_k, W_v, positions):
    end = keys.shape[1] + x.shape[1]
    return with_diagonal(end, x, keys, values, W_q, W_k, W_v, positions)


@exercise.mistake("the new symbols see only each other, and none of the keys that are held.")
def past_unseen(x, keys, values, W_q, W_k, W_v, positions):
    S = keys.shape[1]
    nothing = keys[:, :0], values[:, :0]
    context, k, v = continue_with(x, *nothing, W_q, W_k, W_v, positions[S:])
    return context, torch.cat([keys, k], dim=1), torch.cat([values, v], dim=1)


@exercise.mistake("you return the new keys and values alone: in the next call, the past is gone.")
def past_forgotten(x, keys, values, W_q, W_k, W_v, positions):
    S = keys.shape[1]
    context, k, v = continue_with(x, keys, values, W_q, W_k, W_v, positions)
    return context, k[:, S:], v[:, S:]


@exercise.mistake("the new keys come before the old ones: append them.")
def new_ones_in_front(x, keys, values, W_q, W_k, W_v, positions):
    S = keys.shape[1]
    context, k, v = continue_with(x, keys, values, W_q, W_k, W_v, positions)
    k, v = (torch.cat([y[:, S:], y[:, :S]], dim=1) for y in (k, v))
    return context, k, v


@exercise.mistake("the scores are not scaled.")
def not_scaled(x, keys, values, W_q, W_k, W_v, positions):
    W_q = W_q * math.sqrt(x.shape[2])
    return continue_with(x, keys, values, W_q, W_k, W_v, positions)


@exercise.mistake("your matrices are transposed: for a row x, the product W x is x Wᵀ.")
def transposed(x, keys, values, W_q, W_k, W_v, positions):
    return continue_with(x, keys, values, W_q.T, W_k.T, W_v.T, positions)


@exercise.mistake("your values are computed without positions: here all three read the same input.")
def values_without_positions(x, keys, values, W_q, W_k, W_v, positions):
    T, S = x.shape[1], keys.shape[1]
    _, keys, _ = continue_with(x, keys, values, W_q, W_k, W_v, positions)
    values = torch.cat([values, x @ W_v.T], dim=1)
    query = (x + positions[S : S + T]) @ W_q.T
    return attend(query, keys, values, causal(T, S, S)), keys, values


@exercise.mistake("the new symbols have no positions.")
def no_positions(x, keys, values, W_q, W_k, W_v, positions):
    return continue_with(x, keys, values, W_q, W_k, W_v, torch.zeros_like(positions))


@exercise.mistake("positions count from 0: after S symbols, the next one is at S.")
def positions_from_1(x, keys, values, W_q, W_k, W_v, positions):
    start = keys.shape[1] + 1
    return placed_from(start, x, keys, values, W_q, W_k, W_v, positions)


@exercise.mistake("all new symbols get the position of the first of them.")
def one_position_for_all(x, keys, values, W_q, W_k, W_v, positions):
    position = positions[keys.shape[1]].expand_as(positions)
    return continue_with(x, keys, values, W_q, W_k, W_v, position)


@exercise.mistake("only your queries have positions: keys and values need them, too.")
def queries_alone_placed(x, keys, values, W_q, W_k, W_v, positions):
    T, S = x.shape[1], keys.shape[1]
    keys = torch.cat([keys, x @ W_k.T], dim=1)
    values = torch.cat([values, x @ W_v.T], dim=1)
    query = (x + positions[S : S + T]) @ W_q.T
    return attend(query, keys, values, causal(T, S, S)), keys, values


@exercise.mistake("each new symbol sees the next one: your mask is off by one.")
def one_ahead(x, keys, values, W_q, W_k, W_v, positions):
    return with_diagonal(keys.shape[1] + 1, x, keys, values, W_q, W_k, W_v, positions)


@exercise.mistake(
    "the scores are divided by the width: did you leave out the root, or scale twice?"
)
def scaled_twice(x, keys, values, W_q, W_k, W_v, positions):
    W_q = W_q / math.sqrt(x.shape[2])
    return continue_with(x, keys, values, W_q, W_k, W_v, positions)


@exercise.mistake("you add positions to the keys that are held: they had theirs when they came.")
def positions_again(x, keys, values, W_q, W_k, W_v, positions):
    S = keys.shape[1]
    return continue_with(x, keys + positions[:S], values, W_q, W_k, W_v, positions)


@exercise.mistake("you project again what is held: it was projected when it came.")
def projected_again(x, keys, values, W_q, W_k, W_v, positions):
    return continue_with(x, keys @ W_k.T, values @ W_v.T, W_q, W_k, W_v, positions)


@exercise.mistake("the order is: the context, then the keys, then the values.")
def exchanged(x, keys, values, W_q, W_k, W_v, positions):
    c, k, v = continue_with(x, keys, values, W_q, W_k, W_v, positions)
    return c, v, k
