"""How long is a position's vector next to a symbol's, when the embedding isn't scaled?"""

import math

from utils.exercises.checking import Prediction
from utils.positions import sinusoidal


def place_against_symbol(d_model: int = 512) -> float:
    """Divide the length of a position's vector by that of a symbol's, not yet scaled."""
    symbol = (d_model * d_model**-1) ** 0.5  # d numbers, each of variance 1/d
    return sinusoidal(1, d_model)[0].norm().item() / symbol


exercise = Prediction(place_against_symbol, tolerance=0.02)


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("that is the factor itself; how long is a position's vector, all waves together?")
def factor():
    return math.sqrt(512)


@exercise.mistake("that is the ratio with the factor, which is forgotten here.")
def with_the_factor():
    return math.sqrt(0.5)


@exercise.mistake("that is the square of the length.")
def square():
    return 256.0


@exercise.mistake("one has numbers of about 1, the other of about 1/√512: are they equally long?")
def alike():
    return 1.0


@exercise.mistake(
    "yours is the other way round: how many times as long as the symbol's vector is the position's?"
)
def upside_down():
    return 1 / 16


@exercise.mistake(
    "that is the width, not a ratio of lengths: how does a length grow with the width?"
)
def width():
    return 512
