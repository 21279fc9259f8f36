"""The additive score: a small network says how well a key fits a query."""

import math

from torch import Tensor

from utils.exercises.checking import Exercise, looping, random


def additive_score(query: Tensor, keys: Tensor, W_a: Tensor, U_a: Tensor, v: Tensor) -> Tensor:
    """Shapes: query (B, T, N), keys (B, S, N), W_a and U_a (M, N), v (M,); returns (B, T, S)."""
    asked = query @ W_a.T  # (B, T, M)
    offered = keys @ U_a.T  # (B, S, M)
    pairs = asked[:, :, None] + offered[:, None]  # (B, T, S, M)
    return pairs.tanh() @ v


exercise = Exercise(
    additive_score,
    runs=True,
    but=looping(lambda: drawn(1, 1, 1, 3, 2), lambda: drawn(2, 3, 4, 3, 2), "queries or keys"),
)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, T: int, S: int, N: int, M: int) -> tuple[Tensor, ...]:
    matrices = random(M, N), random(M, N), random(M)
    return random(B, T, N), random(B, S, N), *matrices


@exercise.stage("one query and one key")
def one_pair():
    return [drawn(1, 1, 1, 2, 3)]


@exercise.stage("one query and four keys")
def one_query():
    return [drawn(1, 1, 4, 3, 2)]


@exercise.stage("several queries and keys, in a batch")
def several():
    return [drawn(2, 3, 5, 4, 6), drawn(3, 4, 2, 5, 7), drawn(2, 3, 3, 4, 4)]


# What goes wrong ----------------------------------------------------------------------------------


def hidden(query: Tensor, keys: Tensor, W_a: Tensor, U_a: Tensor) -> Tensor:
    """The input of the tanh, for each pair (B, T, S, M)."""
    return (query @ W_a.T)[:, :, None] + (keys @ U_a.T)[:, None]


@exercise.mistake(
    "there is no tanh: the query then adds the same number to all of its scores, and the softmax "
    "ignores it."
)
def no_tanh(query, keys, W_a, U_a, v):
    return hidden(query, keys, W_a, U_a) @ v


@exercise.mistake("v comes before the tanh: the tanh should act on each of the M numbers.")
def tanh_of_the_score(query, keys, W_a, U_a, v):
    return (hidden(query, keys, W_a, U_a) @ v).tanh()


@exercise.mistake("query and keys each have a tanh: it should come once, after the sum.")
def two_tanhs(query, keys, W_a, U_a, v):
    return ((query @ W_a.T).tanh()[:, :, None] + (keys @ U_a.T).tanh()[:, None]) @ v


@exercise.mistake("the two matrices are swapped: W_a belongs to the query, U_a to the keys.")
def exchanged(query, keys, W_a, U_a, v):
    return additive_score(query, keys, U_a, W_a, v)


@exercise.mistake(
    "v is missing: you add the M numbers up as they are, but v tells how much each counts."
)
def no_v(query, keys, W_a, U_a, v):
    return hidden(query, keys, W_a, U_a).tanh().sum(-1)


@exercise.mistake("query and key are multiplied, number by number: they should be added.")
def multiplied(query, keys, W_a, U_a, v):
    return ((query @ W_a.T)[:, :, None] * (keys @ U_a.T)[:, None]).tanh() @ v


@exercise.mistake("that is a softmax of the scores: return the scores themselves.")
def weights_already(query, keys, W_a, U_a, v):
    return additive_score(query, keys, W_a, U_a, v).softmax(-1)


@exercise.mistake("queries and keys are swapped: each query should have a row of scores.")
def transposed(query, keys, W_a, U_a, v):
    return additive_score(query, keys, W_a, U_a, v).mT


@exercise.mistake(
    "the first query meets only the first key, the second only the second: each query meets each "
    "key, so both need an axis of their own."
)
def side_by_side(query, keys, W_a, U_a, v):
    return (query @ W_a.T + keys @ U_a.T).tanh() @ v


@exercise.mistake("the matrices are transposed: each row of W_a gives one of the M numbers.")
def matrices_transposed(query, keys, W_a, U_a, v):
    return (query @ W_a)[:, :, None].add((keys @ U_a)[:, None]).tanh() @ v


@exercise.mistake("that is the dot product of the two projections: they should be added.")
def dot_product(query, keys, W_a, U_a, v):
    return (query @ W_a.T) @ (keys @ U_a.T).mT


@exercise.mistake("one matrix serves both: W_a belongs to the query, U_a to the keys.")
def one_matrix(query, keys, W_a, U_a, v):
    return additive_score(query, keys, W_a, W_a, v)


@exercise.mistake("query and key are subtracted: they should be added.")
def subtracted(query, keys, W_a, U_a, v):
    return additive_score(query, keys, W_a, -U_a, v)


@exercise.mistake("v is missing: you take the mean of the M numbers, but v tells how they count.")
def mean_for_v(query, keys, W_a, U_a, v):
    return hidden(query, keys, W_a, U_a).tanh().mean(-1)


@exercise.mistake("that is a sigmoid: the additive score uses tanh, which can be negative.")
def sigmoid_for_tanh(query, keys, W_a, U_a, v):
    return hidden(query, keys, W_a, U_a).sigmoid() @ v


@exercise.mistake("that is a ReLU: the additive score uses tanh.")
def relu_for_tanh(query, keys, W_a, U_a, v):
    return hidden(query, keys, W_a, U_a).relu() @ v


@exercise.mistake("you divide the scores by √M: the additive score isn't scaled.")
def scaled(query, keys, W_a, U_a, v):
    return additive_score(query, keys, W_a, U_a, v) / math.sqrt(len(v))
