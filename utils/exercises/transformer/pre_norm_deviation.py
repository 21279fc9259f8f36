"""How large are the numbers that leave a tall stack of pre-norm blocks?"""

import math

from utils.exercises.checking import Prediction


def deviation() -> float:
    """Add the variances of the input and of 12 blocks of two sublayers, 1 each."""
    return math.sqrt(1 + 2 * 12)


exercise = Prediction(deviation, tolerance=0.01)


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("25 is the sum of the variances. What is the standard deviation?")
def variance():
    return 25.0


@exercise.mistake("a block has two sublayers.")
def one_sublayer_each():
    return math.sqrt(13)


@exercise.mistake("that is post-norm: here nothing normalises the sum.")
def post_norm():
    return 1.0


@exercise.mistake("you left out the input: it is part of the sum.")
def no_input():
    return math.sqrt(24)


@exercise.mistake("that is for decoder blocks, which have three sublayers: an encoder's has two.")
def three_sublayers_each():
    return math.sqrt(1 + 3 * 12)


@exercise.mistake("a block has two sublayers, and a sum of variances is not yet a deviation.")
def variance_of_one_sublayer_each():
    return 13.0


@exercise.mistake("the input is part of the sum, and a sum of variances is not yet a deviation.")
def variance_without_input():
    return 24.0


@exercise.mistake("that is the last sublayer's share: how large is the whole standard deviation?")
def share_of_the_last():
    return 0.2


@exercise.mistake("a block has two sublayers, and the input is part of the sum.")
def one_sublayer_each_without_input():
    return math.sqrt(12)


@exercise.mistake(
    "that is the last sublayer's share of the variance: how large is the whole deviation?"
)
def share_of_the_variance():
    return 1 / 25
