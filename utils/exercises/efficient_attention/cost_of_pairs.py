"""At which length do the pairs cost as much as all the rest of a block?"""

from utils.exercises.checking import Prediction


def length(D: int = 512, F: int = 2048) -> int:
    """Return T where 2·T²·D multiply-adds are as many as T·(4·D² + 2·D·F)."""
    return (4 * D**2 + 2 * D * F) // (2 * D)


exercise = Prediction(length)


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "that is without the feed-forward layer, whose two matrices are most of the rest."
)
def projections_alone():
    return 1024


@exercise.mistake(
    "some of the rest is missing: four projections, and two matrices, each from one width to the "
    "other."
)
def one_missing():
    return 2048


@exercise.mistake(
    "the feed-forward layer has four times as many hidden units as the block is wide."
)
def narrow():
    return 1536


@exercise.mistake("each pair is used twice: for its score, and in the average of the values.")
def one_product():
    return 6144


@exercise.mistake("the heads share the width: eight of 64 cost as much as one of 512.")
def each_head_as_wide():
    return 384


@exercise.mistake("those are the pairs of one head; there are eight.")
def one_head():
    return 24576


@exercise.mistake("the heads' contexts go through a projection, too: how many are there in all?")
def three_projections():
    return 2816


@exercise.mistake(
    "that compares one T·T·D with one T·D·D: how many of each are there in the whole block?"
)
def one_of_each():
    return 512
