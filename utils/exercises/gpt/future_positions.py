"""Predict how many positions notice that a token was replaced, in a GPT."""

from utils.exercises.checking import Prediction


def positions_that_notice() -> int:
    """Of five tokens the third is replaced: it, the fourth and the fifth can see it."""
    return 3


exercise = Prediction(positions_that_notice)


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("a position sees itself, too: the logits at the third position also change.")
def without_itself():
    return 2


@exercise.mistake("that is without a causal mask: the first two positions can't see the third.")
def all_of_them():
    return 5


@exercise.mistake("later positions look back at the third, and their logits change with it.")
def itself_alone():
    return 1


@exercise.mistake(
    "that counts the second position, whose target the third token is: a target is not an input."
)
def its_target_too():
    return 4


@exercise.mistake("a causal mask hides what comes later: the third token is there to be seen.")
def nobody():
    return 0
