"""Which loss has a model that was trained without its causal mask, when the mask is put back?"""

from utils.exercises.checking import Prediction

exercise = Prediction(
    lambda: "far above ln 10",
    choices=("near 0", "near ln 10", "far above ln 10"),
)


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "so it was while training: each position could read off its answer one place on. Is the answer "
    "still there?"
)
def still_cheating():
    return "near 0"


@exercise.mistake(
    "that is the loss of one who knows that nothing can be known. Did this model ever have to "
    "learn that?"
)
def guessing():
    return "near ln 10"
