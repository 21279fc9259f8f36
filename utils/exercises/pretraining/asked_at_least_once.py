"""Predict how much of a text is asked for in ten passes, if each pass draws new masks."""

from utils.exercises.checking import Prediction

SHARE, PASSES = 0.15, 10


def asked_at_least_once() -> float:
    """In percent of the words."""
    return 100 * (1 - (1 - SHARE) ** PASSES)


exercise = Prediction(asked_at_least_once, tolerance=0.007)


@exercise.mistake("that is with the same masks in each pass: here they are drawn anew.")
def drawn_once():
    return 100 * SHARE


@exercise.mistake("ten times 15% is more than all words: some are asked for twice.")
def added_up():
    return 100 * SHARE * PASSES


@exercise.mistake(
    "some words are never asked for: how likely is it that all ten dice spare a word?"
)
def all_of_them():
    return 100.0


@exercise.mistake("that is the share that is *never* asked for.")
def never():
    return 100 * (1 - SHARE) ** PASSES


@exercise.mistake("give the answer in percent, not as a share.")
def as_a_share():
    return asked_at_least_once() / 100


@exercise.mistake("that is after five passes: ten passes are ten dice for each word.")
def half_as_many():
    return 100 * (1 - (1 - SHARE) ** 5)


@exercise.mistake("that is the share that *one* pass spares: how many does each of ten spare?")
def spared_once():
    return 100 * (1 - SHARE)


@exercise.mistake("that is the share that is asked for exactly once: twice or more counts, too.")
def exactly_once():
    return 100 * PASSES * SHARE * (1 - SHARE) ** (PASSES - 1)


@exercise.mistake("that is after nine passes: the first pass draws masks, too.")
def one_pass_less():
    return 100 * (1 - (1 - SHARE) ** (PASSES - 1))


@exercise.mistake("that is after eleven passes: there are only ten.")
def one_more():
    return 100 * (1 - 0.85**11)
