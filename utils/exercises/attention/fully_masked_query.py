"""What weight does a key get if all keys are masked with a large negative number?"""

import math

import torch

from utils.exercises.checking import Prediction


def weight_of_a_masked_key() -> float:
    """Return the first of the weights that eight masked scores, 0, 1, …, 7, give."""
    scores = torch.arange(8.0)
    return scores.masked_fill(torch.ones(8, dtype=torch.bool), -1e9).softmax(0)[0].item()


exercise = Prediction(weight_of_a_masked_key, tolerance=0.01)


@exercise.mistake(
    "that is what `masked_softmax` gives, on purpose; a plain softmax always sums to 1."
)
def nothing():
    return 0.0


@exercise.mistake("eight keys share the weight; none of them is special.")
def everything():
    return 1.0


@exercise.mistake(
    "that is the softmax of 0 to 7, as if nothing were masked: what are the scores once they are "
    "filled in?"
)
def mask_forgotten():
    return torch.arange(8.0).softmax(0)[0].item()


@exercise.mistake(
    "that would be −∞ everywhere, 0 divided by 0; −10⁹ is a number, and equal numbers get equal "
    "weights."
)
def not_a_number():
    return math.nan
