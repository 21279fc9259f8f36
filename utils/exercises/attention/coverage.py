"""Additive attention that is told how much weight each position has received so far."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def coverage_weights(
    queries: Tensor, keys: Tensor, W: Tensor, U: Tensor, w: Tensor, v: Tensor
) -> Tensor:
    """Return weights (B, T, S).

    Shapes: queries (B, T, N), keys (B, S, N), W and U (N, N), w and v (N,).
    """
    covered, steps = keys.new_zeros(keys.shape[:2]), []  # (B, S)
    for s in queries.unbind(1):
        hidden = torch.tanh((s @ W.T)[:, None] + keys @ U.T + covered[..., None] * w)  # (B, S, N)
        steps.append((hidden @ v).softmax(-1))
        covered = covered + steps[-1]
    return torch.stack(steps, dim=1)


exercise = Exercise(coverage_weights)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, T: int, S: int, N: int) -> tuple[Tensor, ...]:
    inputs = random(B, T, N), random(B, S, N), random(N, N), random(N, N)
    return *inputs, 3 * random(N), random(N)


@exercise.stage("one step, nothing covered")
def one_step():
    return [drawn(1, 1, 3, 2)]


@exercise.stage("two steps")
def two_steps():
    return [drawn(1, 2, 3, 4)]


@exercise.stage("several steps")
def several_steps():
    return [drawn(2, 4, 5, 3), drawn(3, 3, 4, 6)]


# What goes wrong ----------------------------------------------------------------------------------


def tanh_of_all(s: Tensor, h: Tensor, c: Tensor) -> Tensor:
    return torch.tanh(s + h + c)


def add_weights(covered: Tensor, scores: Tensor) -> Tensor:
    return covered + scores.softmax(-1)


def attended(queries, keys, W, U, w, v, hidden=tanh_of_all, cover=add_weights):
    """Attend step by step; mistakes change the last two arguments."""
    covered, steps = keys.new_zeros(keys.shape[:2]), []
    for s in queries.unbind(1):
        scores = hidden((s @ W.T)[:, None], keys @ U.T, covered[..., None] * w) @ v
        steps.append(scores.softmax(-1))
        covered = cover(covered, scores)
    return torch.stack(steps, dim=1)


@exercise.mistake("your coverage remembers one step: it should sum over all of them.")
def last_step_only(*inputs):
    return attended(*inputs, cover=lambda covered, scores: scores.softmax(-1))


@exercise.mistake("nothing is ever covered: that is plain additive attention.")
def nothing_covered(*inputs):
    return attended(*inputs, cover=lambda covered, scores: covered)


@exercise.mistake("you add up the scores; coverage is the sum of the weights.")
def scores_added_up(*inputs):
    return attended(*inputs, cover=torch.add)


@exercise.mistake("the coverage comes in after the tanh: it should go through it with the others.")
def behind_the_tanh(*inputs):
    return attended(*inputs, hidden=lambda s, h, c: torch.tanh(s + h) + c)


@exercise.mistake(
    "without the tanh, the query adds one number to all scores, and the softmax ignores it."
)
def no_tanh(*inputs):
    return attended(*inputs, hidden=lambda s, h, c: s + h + c)


@exercise.mistake("you sum over the hidden units: each should have a weight of its own, in v.")
def no_v(queries, keys, W, U, w, v):
    return coverage_weights(queries, keys, W, U, w, torch.ones_like(v))


@exercise.mistake("query and keys are added as they are; each needs its matrix first.")
def no_projections(queries, keys, W, U, w, v):
    one = torch.eye(len(W), dtype=W.dtype)
    return coverage_weights(queries, keys, one, one, w, v)


@exercise.mistake("the matrices are transposed: W s is `s @ W.T` for states in rows.")
def transposed(queries, keys, W, U, w, v):
    return coverage_weights(queries, keys, W.T, U.T, w, v)


@exercise.mistake("w is missing: each hidden unit multiplies the coverage by a number of its own.")
def no_w(queries, keys, W, U, w, v):
    return coverage_weights(queries, keys, W, U, torch.ones_like(w), v)
