"""What is the loss of a model trained without its causal mask, when the mask is put back?"""

from utils.exercises.checking import Prediction

exercise = Prediction(
    lambda: "far above ln 10",
    choices=("near 0", "near ln 10", "far above ln 10"),
)


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "that was the training loss: each position could read its answer from the next one. Is the "
    "answer still there?"
)
def still_cheating():
    return "near 0"


@exercise.mistake(
    "that is the loss of a model that knows it can't know. Did this one ever have to learn that?"
)
def guessing():
    return "near ln 10"
