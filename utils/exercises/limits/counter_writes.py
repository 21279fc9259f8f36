"""What do the letters write into two cells of an LSTM, so that it reads aⁿbⁿ?"""

import torch
from torch import Tensor

from utils.data.formal import Blocks
from utils.exercises.checking import Exercise
from utils.exercises.limits.by_hand import run_on


def counter_writes() -> tuple[tuple[float, float], tuple[float, float]]:
    """Return a row for each of two cells: what an a adds to it, and what a b adds, from -1 to 1.

    All gates are open, and both cells begin with 0. In a word aⁿbⁿ, the first cell should be 0
    exactly where as many b as a have been read, and the second cell as long as there was no b.
    """
    return (1.0, -1.0), (0.0, 1.0)


def cells(writes: Tensor, word: Tensor) -> tuple[Tensor, Tensor]:
    """Both cells after each symbol, in units of the largest number that is written into each.

    So all multiples give the same. Of two that are equally large, the unit is the first letter's.
    Shapes: writes (2, 2), a word's ids (T,) to two times (T,).
    Raises: ValueError if a number can't be written by an LSTM.
    """
    if writes.abs().max() > 1:
        raise ValueError("an LSTM writes tanh(…), which is from -1 to 1: a number is beyond that.")
    unit = writes.gather(1, writes.abs().argmax(dim=1, keepdim=True))
    writes = writes / torch.where(unit == 0, 1, unit)
    first, second = writes[:, word].cumsum(dim=1)
    return first, second


on_word = run_on(cells, (2, 2), "two rows of two numbers, a row for each cell")
exercise = Exercise(on_word(counter_writes), gradient=False, through=on_word)


# What it is tried on ------------------------------------------------------------------------------


def words(*texts: str) -> list[tuple[Tensor]]:
    return [(Blocks("ab").encode(text)[0],) for text in texts]


@exercise.stage("a word that is complete")
def complete():
    return words("ab", "aaabbb")


@exercise.stage("a word that still lacks a b")
def incomplete():
    return words("aa", "aaaab")


@exercise.stage("a word of two hundred symbols")
def long():
    return words(100 * "a" + 100 * "b")


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "your first cell counts the a, and a b doesn't change it: then it is never 0 again."
)
@on_word
def b_not_subtracted():
    return (1, 0), (0, 1)


@exercise.mistake("your first cell counts both letters together: then it is never 0 again.")
@on_word
def letters_together():
    return (1, 1), (0, 1)


@exercise.mistake("rows and columns are exchanged: a row is a cell, and a column a letter.")
@on_word
def transposed():
    return (1, 0), (-1, 1)


@exercise.mistake("the two cells are exchanged: the first is the one that compares the letters.")
@on_word
def cells_exchanged():
    return (0, 1), (1, -1)


@exercise.mistake("your second cell counts the a: it should tell whether there was a b.")
@on_word
def a_in_the_second():
    return (1, -1), (1, 0)


@exercise.mistake("your second cell counts both letters: it isn't 0 while there are only a.")
@on_word
def both_in_the_second():
    return (1, -1), (1, 1)


@exercise.mistake("both cells hold the same: then nothing tells whether there was a b.")
@on_word
def twice_the_same():
    return (1, -1), (1, -1)


@exercise.mistake("nothing is written into your second cell: it says that there was never a b.")
@on_word
def second_empty():
    return (1, -1), (0, 0)


@exercise.mistake(
    "nothing is written into your first cell: it says that there are always as many of both."
)
@on_word
def first_empty():
    return (0, 0), (0, 1)


@exercise.mistake(
    "in your first cell, a b takes away twice what an a brings: it is 0 after half as many."
)
@on_word
def b_twice():
    return (0.5, -1), (0, 1)


@exercise.mistake(
    "in your first cell, a b takes away half of what an a brings: something is left at the end."
)
@on_word
def b_half():
    return (1, -0.5), (0, 1)


@exercise.mistake("both cells count the b, and nothing remembers how many a there were.")
@on_word
def only_b():
    return (0, -1), (0, 1)


@exercise.mistake("both cells count all symbols: two letters that do the same can't be told apart.")
@on_word
def all_symbols():
    return (1, 1), (1, 1)


@exercise.mistake("each letter has its own counter in yours, and the first cell counts the b.")
@on_word
def counters_exchanged():
    return (0, 1), (1, 0)


@exercise.mistake("both cells count the a: how does a b show?")
@on_word
def only_a():
    return (1, 0), (1, 0)
