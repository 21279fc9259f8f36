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
