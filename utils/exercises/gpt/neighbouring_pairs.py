"""Llama's rotary pairs are halves, ours are neighbours: the rows that make the same scores."""

from torch import Tensor

from utils.exercises.checking import Exercise, random


def neighbouring_pairs(
    W_q: Tensor, W_k: Tensor, W_v: Tensor, n_heads: int, n_kv_heads: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Reorder rows, so that `Rotary` turns as pairs what was made for pairs of halves.

    In each head of d_k rows, pair i is (i, i + d_k/2) in what is given and (2i, 2i + 1) in what is
    returned; the scores then stay as they were.
    Shapes: W_q (h·d_k, D), W_k and W_v (n_kv_heads·d_k, D); the same are returned.
    """

    def reordered(W, n):
        return W.unflatten(0, (n, 2, -1)).transpose(1, 2).flatten(0, 2)

    return reordered(W_q, n_heads), reordered(W_k, n_kv_heads), W_v


exercise = Exercise(neighbouring_pairs)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one head of two pairs")
def one_head():
    return [(random(4, 3), random(4, 3), random(4, 3), 1, 1)]


@exercise.stage("one head of three pairs")
def three_pairs():
    return [(random(6, 5), random(6, 5), random(6, 5), 1, 1)]


@exercise.stage("several heads")
def several_heads():
    return [(random(24, 10), random(24, 10), random(24, 10), 3, 3)]


@exercise.stage("fewer heads of keys")
def shared_keys():
    return [(random(48, 7), random(24, 7), random(24, 7), 6, 3)]


# What goes wrong ----------------------------------------------------------------------------------


def with_rows(W_q, W_k, W_v, n_heads, n_kv_heads, rows):
    """Reorder queries and keys by a function of rows (n, d_k, D) to the same."""
    q, k = (
        rows(W.unflatten(0, (n, -1))).flatten(0, 1) for W, n in ((W_q, n_heads), (W_k, n_kv_heads))
    )
    return q, k, W_v


@exercise.mistake("values are not turned by their position, so their rows stay where they are.")
def values_too(W_q, W_k, W_v, n_heads, n_kv_heads):
    q, k, _ = neighbouring_pairs(W_q, W_k, W_v, n_heads, n_kv_heads)
    return q, k, neighbouring_pairs(W_v, W_v, W_v, n_kv_heads, n_kv_heads)[0]


@exercise.mistake("the keys are as they were: a score multiplies rows of queries with theirs.")
def queries_alone(W_q, W_k, W_v, n_heads, n_kv_heads):
    return neighbouring_pairs(W_q, W_k, W_v, n_heads, n_kv_heads)[0], W_k, W_v


@exercise.mistake("the queries are as they were: a score multiplies their rows with those of keys.")
def keys_alone(W_q, W_k, W_v, n_heads, n_kv_heads):
    return W_q, neighbouring_pairs(W_q, W_k, W_v, n_heads, n_kv_heads)[1], W_v


@exercise.mistake("all is as it was, and two rows of a pair are still half a head apart.")
def unchanged(W_q, W_k, W_v, n_heads, n_kv_heads):
    return W_q, W_k, W_v


@exercise.mistake("that is the way back: it makes halves of neighbours.")
def way_back(W_q, W_k, W_v, n_heads, n_kv_heads):
    return with_rows(
        *(W_q, W_k, W_v, n_heads, n_kv_heads),
        lambda heads: heads.unflatten(1, (-1, 2)).transpose(1, 2).flatten(1, 2),
    )


@exercise.mistake("you cut the whole matrix in halves: a pair belongs to one head.")
def across_heads(W_q, W_k, W_v, n_heads, n_kv_heads):
    return neighbouring_pairs(W_q, W_k, W_v, 1, 1)


@exercise.mistake("the keys have fewer heads than the queries: where does each of them begin?")
def as_many_heads_of_keys(W_q, W_k, W_v, n_heads, n_kv_heads):
    return neighbouring_pairs(W_q, W_k, W_v, n_heads, n_heads)


@exercise.mistake("the right pairs, each the other way round: it would turn backwards.")
def pairs_reversed(W_q, W_k, W_v, n_heads, n_kv_heads):
    return with_rows(
        *(W_q, W_k, W_v, n_heads, n_kv_heads),
        lambda heads: heads.unflatten(1, (2, -1)).flip(1).transpose(1, 2).flatten(1, 2),
    )


@exercise.mistake("the halves are exchanged, and its pairs are still half a head apart.")
def halves_exchanged(W_q, W_k, W_v, n_heads, n_kv_heads):
    return with_rows(
        *(W_q, W_k, W_v, n_heads, n_kv_heads),
        lambda heads: heads.roll(heads.shape[1] // 2, 1),
    )


@exercise.mistake("you reorder the columns, which belong to the width of the model, not to heads.")
def columns(W_q, W_k, W_v, n_heads, n_kv_heads):
    q, k = (
        W.unflatten(1, (n, 2, -1)).transpose(2, 3).flatten(1, 3)
        for W, n in ((W_q, n_heads), (W_k, n_kv_heads))
    )
    return q, k, W_v


@exercise.mistake("rows have moved from head to head: they should move only within their own.")
def heads_moved(W_q, W_k, W_v, n_heads, n_kv_heads):
    def moved(W, n):
        return W.unflatten(0, (n, 2, -1)).permute(2, 0, 1, 3).flatten(0, 2)

    return moved(W_q, n_heads), moved(W_k, n_kv_heads), W_v
