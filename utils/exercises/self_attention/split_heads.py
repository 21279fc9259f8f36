"""Cut the width into heads, without moving a number from one position to another."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Shapes: x (B, T, D) to (B, h, T, d), d = D / h; head 1 has the first d columns."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


exercise = Exercise(split_heads, runs=True)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one head, which is the whole width")
def one_head():
    return [(random(1, 2, 3), 1)]


@exercise.stage("two heads at two positions")
def two_heads():
    return [(random(1, 2, 6), 2)]


@exercise.stage("several sequences, heads and positions")
def several():
    return [(random(2, 5, 12), 3), (random(3, 4, 10), 5)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "a plain view into that shape cuts along the positions: a head gets some of the positions with "
    "their whole width, not all of them with a part of it."
)
def plain_view(x, n_heads):
    B, T, D = x.shape
    return x.reshape(B, n_heads, T, D // n_heads)


@exercise.mistake("the axes are still in the order (B, T, h, d): heads come before positions.")
def not_transposed(x, n_heads):
    return x.unflatten(-1, (n_heads, -1))


@exercise.mistake(
    "each head takes every h-th column: it should take neighbouring columns, as the library's "
    "heads do."
)
def every_other_column(x, n_heads):
    return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)


@exercise.mistake("the axes are in the order (h, B, T, d): the batch comes first.")
def heads_first(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1))


@exercise.mistake("each head has d rows of T numbers: the last two axes are swapped.")
def turned(x, n_heads):
    return split_heads(x, n_heads).mT


@exercise.mistake("`n_heads` is taken for the width of a head.")
def heads_are_widths(x, n_heads):
    return x.unflatten(-1, (-1, n_heads)).transpose(1, 2)


@exercise.mistake("the heads are in the opposite order: the first has the first columns.")
def backwards(x, n_heads):
    return split_heads(x, n_heads).flip(1)


@exercise.mistake("each head has the whole width: it should have its own part of it.")
def copied(x, n_heads):
    return x[:, None].expand(-1, n_heads, -1, -1)


@exercise.mistake(
    "the axes are swapped before the width is cut: cut first, then swap heads and positions."
)
def transposed_first(x, n_heads):
    B, T, D = x.shape
    return x.mT.reshape(B, n_heads, T, D // n_heads)


@exercise.mistake(
    "the heads are merged into the batch, (B·h, T, d): they should have an axis of their own."
)
def heads_in_the_batch(x, n_heads):
    return split_heads(x, n_heads).flatten(0, 1)


@exercise.mistake("your heads are in a list: they should be an axis of one tensor.")
def in_a_list(x, n_heads):
    return list(x.chunk(n_heads, dim=-1))
