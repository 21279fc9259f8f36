"""Predict how many blocks a GPT needs to go on with a sequence that begins again."""

from utils.exercises.checking import Prediction


def blocks_to_copy() -> int:
    """One block writes into each position what came before it, a second one looks for that."""
    return 2


exercise = Prediction(blocks_to_copy)


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "one block can find where this letter was before, but what it should fetch is the letter after "
    "it, and no position has been told yet what stood before its own letter."
)
def one_block():
    return 1


@exercise.mistake(
    "without a block, the model sees one letter, and of an invented sequence that says nothing."
)
def no_block():
    return 0


@exercise.mistake("one block for each letter: a head looks back over any distance in one step.")
def as_many_as_letters():
    return 12


@exercise.mistake(
    "one more than it takes: find the letter whose predecessor is the present one, and return it."
)
def three_blocks():
    return 3


@exercise.mistake(
    "that is more than it takes: what does a position have to know before a later one can look for "
    "it, and how many steps are these two?"
)
def four_blocks():
    return 4


@exercise.mistake(
    "one block for each letter that it has to write: it writes one at a time, and all of its "
    "blocks run again for each."
)
def as_many_as_it_writes():
    return 11


@exercise.mistake(
    "one block for each letter of the alphabet: a head compares letters of any kind, so it needs "
    "no block for each."
)
def alphabet():
    return 26
