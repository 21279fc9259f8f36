"""After how many steps is a gradient under a thousandth, if ‖W_h‖ is 0.8?"""

import math

from utils.exercises.checking import Prediction


def steps_until_a_thousandth() -> int:
    """Find the smallest k with ‖W_h‖ᵏ < 1/1000."""
    return next(k for k in range(1, 1000) if 0.8**k < 1 / 1000)


exercise = Prediction(steps_until_a_thousandth)


@exercise.mistake("after that many steps, a little more than a thousandth may be left.")
def rounded_down():
    return 30


@exercise.mistake("each step removes a fifth of the rest, not of the original.")
def linear():
    return 5


@exercise.mistake("that is where less than half is left; you need a thousandth.")
def a_half():
    return 4


@exercise.mistake("after that many steps, a hundredth is left.")
def a_hundredth():
    return 21


@exercise.mistake("a factor of 0.8 is less than exp(-0.2).")
def exponential():
    return 35


@exercise.mistake("one step fewer is enough: give the smallest such number.")
def one_too_many():
    return 32


@exercise.mistake("exactly a thousandth would be left there, but steps come only in whole numbers.")
def not_whole():
    return math.log(1000) / math.log(1 / 0.8)
