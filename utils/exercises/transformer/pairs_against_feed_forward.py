"""At which length do all pairs of positions cost as much as the feed-forward layer?"""

from utils.exercises.checking import Prediction


def length() -> int:
    """Return T where 2·T²·D multiplications are as many as 2·T·D·F: the inner width F."""
    return 2048


exercise = Prediction(length)


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("the scores are one product over all pairs; which is the other?")
def scores_alone():
    return 4096


@exercise.mistake("the feed-forward layer has two matrices.")
def one_matrix():
    return 1024


@exercise.mistake(
    "there they equal the projections and the feed-forward layer together; the question is about "
    "the feed-forward layer alone."
)
def projections_too():
    return 3072


@exercise.mistake("that would be right for a feed-forward layer as narrow as the model.")
def narrow():
    return 512
