"""How often does the running maximum of a thousand scores move?"""

import math

from utils.exercises.checking import Prediction


def mean_number_of_maxima(T: int = 1000) -> float:
    """Return Σ 1/t: of the first t scores, each is as likely to be the largest."""
    return sum(1 / t for t in range(1, T + 1))


exercise = Prediction(mean_number_of_maxima, tolerance=0.1)


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("half of them would be larger than all before? After 500 scores, few can be.")
def half():
    return 500.0


@exercise.mistake("that is when they come in rising order.")
def rising():
    return 1000.0


@exercise.mistake("that is when the largest comes first.")
def largest_first():
    return 1.0


@exercise.mistake(
    "it is less than that: what is the probability that the t-th score is a new maximum?"
)
def root():
    return math.sqrt(1000)


@exercise.mistake(
    "that is how often 1000 can be halved, but the moves are not spread that evenly. What is the "
    "probability that the t-th score is the largest so far?"
)
def halving():
    return math.log2(1000)


@exercise.mistake("you leave out the first score, which is always the largest so far.")
def first_left_out():
    return mean_number_of_maxima() - 1


@exercise.mistake("that is the logarithm to base 10: the sum of 1/t grows like the natural one.")
def base_10():
    return 3.0
