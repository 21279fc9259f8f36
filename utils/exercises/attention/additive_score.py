"""The additive score: a small network says how well a key fits a query."""

from torch import Tensor

from utils.exercises.checking import Exercise, random


def additive_score(query: Tensor, keys: Tensor, W_a: Tensor, U_a: Tensor, v: Tensor) -> Tensor:
    """Shapes: query (B, T, N), keys (B, S, N), W_a and U_a (M, N), v (M,); returns (B, T, S)."""
    asked = query @ W_a.T  # (B, T, M)
    offered = keys @ U_a.T  # (B, S, M)
    pairs = asked[:, :, None] + offered[:, None]  # (B, T, S, M)
    return pairs.tanh() @ v


exercise = Exercise(additive_score, runs=True)


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
    """What stands inside of the tanh, for each pair (B, T, S, M)."""
    return (query @ W_a.T)[:, :, None] + (keys @ U_a.T)[:, None]


@exercise.mistake(
    "there is no tanh: the query then adds the same number to all of its scores, and the softmax "
    "forgets it."
)
def no_tanh(query, keys, W_a, U_a, v):
    return hidden(query, keys, W_a, U_a) @ v


@exercise.mistake("v comes before the tanh: the tanh acts on each of the M numbers.")
def tanh_of_the_score(query, keys, W_a, U_a, v):
    return (hidden(query, keys, W_a, U_a) @ v).tanh()


@exercise.mistake("query and keys each have a tanh: it comes once, after the sum.")
def two_tanhs(query, keys, W_a, U_a, v):
    return ((query @ W_a.T).tanh()[:, :, None] + (keys @ U_a.T).tanh()[:, None]) @ v


@exercise.mistake("the two matrices are exchanged: W_a belongs to the query, U_a to the keys.")
def exchanged(query, keys, W_a, U_a, v):
    return additive_score(query, keys, U_a, W_a, v)


@exercise.mistake("without v you add the M numbers up as they are: v says how much each counts.")
def no_v(query, keys, W_a, U_a, v):
    return hidden(query, keys, W_a, U_a).tanh().sum(-1)


@exercise.mistake("query and key are multiplied, number by number: here they are added.")
def multiplied(query, keys, W_a, U_a, v):
    return ((query @ W_a.T)[:, :, None] * (keys @ U_a.T)[:, None]).tanh() @ v


@exercise.mistake("that is a softmax of the scores: what is asked for are the scores.")
def weights_already(query, keys, W_a, U_a, v):
    return additive_score(query, keys, W_a, U_a, v).softmax(-1)


@exercise.mistake("queries and keys have changed places: a query has a row of scores.")
def transposed(query, keys, W_a, U_a, v):
    return additive_score(query, keys, W_a, U_a, v).mT


@exercise.mistake(
    "the query's first number meets the first key, the second the second: each query goes with "
    "each key, so both need an axis of their own."
)
def side_by_side(query, keys, W_a, U_a, v):
    return (query @ W_a.T + keys @ U_a.T).tanh() @ v


@exercise.mistake("the matrices are transposed: a row of W_a makes one of the M numbers.")
def matrices_transposed(query, keys, W_a, U_a, v):
    return (query @ W_a)[:, :, None].add((keys @ U_a)[:, None]).tanh() @ v


@exercise.mistake("that is the dot product of what the two matrices make: here they are added.")
def dot_product(query, keys, W_a, U_a, v):
    return (query @ W_a.T) @ (keys @ U_a.T).mT


@exercise.mistake("one matrix serves both: W_a belongs to the query, U_a to the keys.")
def one_matrix(query, keys, W_a, U_a, v):
    return additive_score(query, keys, W_a, W_a, v)
