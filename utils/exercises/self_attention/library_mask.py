"""A padding mask in the form that `nn.MultiheadAttention` takes."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise


def library_mask(target: Tensor, source: Tensor, n_heads: int) -> Tensor:
    """Return a mask (B·h, T, S), True = blocked, all heads of a sequence one after the other.

    Shapes: ids target (B, T) and source (B, S), padded with 0.
    """
    return blocked(target, source).repeat_interleave(n_heads, dim=0)


def blocked(target: Tensor, source: Tensor) -> Tensor:
    return (source == 0)[:, None].expand(-1, target.shape[1], -1)  # (B, T, S)


exercise = Exercise(library_mask, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def padded(width: int, *lengths: int) -> Tensor:
    """Draw ids (B, width), with 0 behind each length."""
    ids = torch.randint(1, 9, (len(lengths), width))
    return ids.masked_fill(torch.arange(width) >= torch.tensor(lengths)[:, None], 0)


@exercise.stage("one sequence and one head")
def one_sequence():
    return [(padded(2, 2), padded(4, 3), 1)]


@exercise.stage("a padded target")
def padded_target():
    return [(padded(3, 2), padded(4, 3), 1)]


@exercise.stage("a source padded in front")
def padded_in_front():
    return [(padded(3, 2), padded(4, 3).flip(1), 1)]


@exercise.stage("several sequences and heads")
def several_heads():
    return [
        (padded(3, 3, 1), padded(5, 2, 4), 3),
        (padded(4, 4, 2, 3), padded(6, 5, 1, 6), 2),
        (padded(3, 1, 3, 2), padded(3, 3, 1, 2), 3),
        (padded(4, 4, 2).flip(1), padded(5, 3, 4).flip(1), 2),
    ]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("it is True where attention is allowed, as in this book: the library's blocks.")
def inverted(target, source, n_heads):
    return ~library_mask(target, source, n_heads)


@exercise.mistake(
    "the rows come in another order: with two sequences, whose mask does the second head of the "
    "first one get?"
)
def heads_first(target, source, n_heads):
    return blocked(target, source).repeat(n_heads, 1, 1)


@exercise.mistake(
    "two things at once: the library's True blocks, and its rows come sequence by sequence."
)
def inverted_and_heads_first(target, source, n_heads):
    return ~heads_first(target, source, n_heads)


@exercise.mistake(
    "padding may be in front, too: the number of symbols doesn't tell where they are."
)
def from_lengths(target, source, n_heads):
    return library_mask(target, source.sort(descending=True).values, n_heads)


@exercise.mistake("that is the padding of the target; the keys are the source's.")
def of_the_target(target, source, n_heads):
    return library_mask(source, target, n_heads)


@exercise.mistake("you block the queries that are padding, and leave such keys open.")
def of_the_queries(target, source, n_heads):
    return library_mask(source, target, n_heads).mT


@exercise.mistake(
    "a query that is padding is blocked everywhere: the library turns its row into NaN."
)
def padded_queries_too(target, source, n_heads):
    rows = (target == 0)[:, :, None].expand(-1, -1, source.shape[1])
    return (blocked(target, source) | rows).repeat_interleave(n_heads, dim=0)


@exercise.mistake(
    "you block a key only for queries that are padding themselves: no query should attend to it."
)
def only_between_padding(target, source, n_heads):
    rows = (target == 0)[:, :, None].expand(-1, -1, source.shape[1])
    return (blocked(target, source) & rows).repeat_interleave(n_heads, dim=0)


@exercise.mistake("queries and keys are exchanged: a row belongs to a position of the target.")
def turned(target, source, n_heads):
    return library_mask(target, source, n_heads).mT


@exercise.mistake(
    "you made one mask for each sequence: the library wants one for each head of it, (B·h, T, S)."
)
def heads_forgotten(target, source, n_heads):
    return blocked(target, source)


@exercise.mistake(
    "your heads have an axis of their own: here they share the first with the batch, (B·h, T, S)."
)
def heads_on_an_axis(target, source, n_heads):
    return library_mask(target, source, n_heads).unflatten(0, (-1, n_heads))


@exercise.mistake("your mask has one row, (B·h, 1, S): the library wants one for each query.")
def one_row(target, source, n_heads):
    return library_mask(target, source, n_heads)[:, :1]
