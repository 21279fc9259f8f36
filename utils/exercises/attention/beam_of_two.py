"""What is the probability of the sentence that a beam of width 2 finds?"""

from utils.exercises.checking import Prediction

BEGINNINGS = {"a": 0.6, "b": 0.4}
CONTINUATIONS = {"a": {"c": 0.4, "d": 0.35, "e": 0.25}, "b": {"c": 0.9, "d": 0.1}}


def best_of_beam(width: int = 2) -> float:
    """Return the probability of the sentence that a beam of this width finds."""
    kept = sorted(BEGINNINGS, key=BEGINNINGS.get, reverse=True)[:width]
    return max(BEGINNINGS[first] * q for first in kept for q in CONTINUATIONS[first].values())


exercise = Prediction(best_of_beam)


@exercise.mistake(
    "that is the sentence of greedy decoding: a beam of 2 keeps the second-best beginning, too."
)
def greedy():
    return best_of_beam(width=1)


@exercise.mistake("that is the probability of the beginning; its continuation is missing.")
def beginning():
    return 0.4


@exercise.mistake(
    "that is the probability of the best beginning; the best sentence begins differently."
)
def best_beginning():
    return 0.6


@exercise.mistake("along a sentence, probabilities multiply.")
def added():
    return 0.4 + 0.9


@exercise.mistake(
    "that is the probability of the last symbol after its beginning: multiply it by the "
    "beginning's."
)
def last_symbol():
    return 0.9


@exercise.mistake("0.9 is a probability after *b*, and 0.6 is that of *a*.")
def behind_the_other():
    return 0.6 * 0.9


@exercise.mistake(
    "that is the best beginning with its second-best continuation: the beam compares all of them."
)
def second_continuation():
    return 0.6 * 0.35
