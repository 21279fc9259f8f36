"""Write the order in: to each word its position's row of a table is added."""

import math

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def give_order(x: Tensor, table: Tensor, start: int = 0) -> Tensor:
    """Shapes: x (B, T, D), table (n, D); the first word of each text is at position `start`.

    Returns: the words (B, T, D), each with the row of its position added.
    """
    return x + table[start : start + x.shape[1]]


exercise = Exercise(give_order, runs=True)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one text with a row for each word")
def one_text():
    return [(random(1, 4, 3), random(4, 3), 0)]


@exercise.stage("a table with more rows than the texts have words")
def more_rows():
    return [(random(2, 3, 5), random(7, 5), 0), (random(3, 5, 4), random(9, 4), 0)]


@exercise.stage("texts that begin further on")
def further_on():
    return [(random(2, 3, 4), random(8, 4), 2), (random(4, 5, 3), random(9, 3), 4)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("the texts begin at position `start`: your first word always gets row 0.")
def start_ignored(x, table, start=0):
    return give_order(x, table)


@exercise.mistake("you take the last rows of the table: the first word gets row `start`.")
def last_rows(x, table, start=0):
    return x + table[-x.shape[1] :]


@exercise.mistake("all words get the same row: each position has a row of its own.")
def same_row(x, table, start=0):
    return x + table[start]


@exercise.mistake(
    "each text gets a row of its own, for all of its words: the rows belong to positions, which "
    "all texts share."
)
def row_of_the_text(x, table, start=0):
    return x + table[torch.arange(start, start + len(x)) % len(table)][:, None]


@exercise.mistake("rows are counted from 0: the first word gets row `start`, not the one after it.")
def counted_from_1(x, table, start=0):
    return x + table.roll(-1, 0)[start : start + x.shape[1]]


@exercise.mistake(
    "`start` moves the words instead of the rows: their order stays, and the rows begin at `start`."
)
def words_moved(x, table, start=0):
    return give_order(x.roll(-start, 1), table)


@exercise.mistake("the words are gone: the rows are added to them, and don't replace them.")
def rows_alone(x, table, start=0):
    return give_order(0 * x, table, start)


@exercise.mistake("rows and words are multiplied: they are added.")
def multiplied(x, table, start=0):
    return x * table[start : start + x.shape[1]]


@exercise.mistake(
    "laid side by side, words and rows are twice as wide: the layer expects D numbers, so add them."
)
def side_by_side(x, table, start=0):
    rows = table[start : start + x.shape[1]].expand_as(x)
    return torch.cat([x, rows], dim=-1)


@exercise.mistake("the rows run backwards: the first word gets the first of them.")
def backwards(x, table, start=0):
    return x + table[start : start + x.shape[1]].flip(0)


@exercise.mistake("you multiply the words by √D, as Day 6 will: here they are added as they are.")
def words_scaled(x, table, start):
    return give_order(x * math.sqrt(x.shape[-1]), table, start)


@exercise.mistake("you add the number of the position: add its row of the table.")
def numbers_added(x, table, start):
    return x + torch.arange(start, start + x.shape[1], dtype=x.dtype)[:, None]


@exercise.mistake("your slice ends at T, wherever it starts: it should have T rows.")
def slice_to_the_length(x, table, start):
    return x + table[start : x.shape[1]]
