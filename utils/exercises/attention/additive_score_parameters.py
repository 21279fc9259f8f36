"""How many parameters does the additive score have?"""

from utils.attention import AdditiveScore
from utils.exercises.checking import Prediction


def score_parameters() -> int:
    """Count the parameters of a score with queries of 64 numbers, keys of 128, and 32 units."""
    return sum(p.numel() for p in AdditiveScore(64, 128, 32).parameters())


exercise = Prediction(score_parameters)


@exercise.mistake("a vector turns the 32 numbers into one at the end.")
def no_v():
    return 64 * 32 + 128 * 32


@exercise.mistake("the two maps have no biases in the paper, and none here.")
def biases():
    return (64 + 1) * 32 + (128 + 1) * 32 + 32


@exercise.mistake("the sum has no bias in the paper, and none here.")
def one_bias():
    return 64 * 32 + 128 * 32 + 32 + 32


@exercise.mistake("that is the general score, a matrix from 128 to 64.")
def general_score():
    return 64 * 128


@exercise.mistake("the keys have a matrix of their own.")
def query_only():
    return 64 * 32 + 32


@exercise.mistake("the query has a matrix of its own.")
def keys_only():
    return 128 * 32 + 32


@exercise.mistake("v is a vector: it turns the 32 numbers into one.")
def v_as_a_matrix():
    return 32 * 64 + 32 * 128 + 32 * 32
