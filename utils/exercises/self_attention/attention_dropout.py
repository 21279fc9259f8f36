"""Dropout of attention weights, with the draw given."""

import torch
from torch import Tensor

from utils.attention import masked_softmax
from utils.exercises.checking import Exercise, random


def dropped_weights(scores: Tensor, kept: Tensor, p: float, training: bool) -> Tensor:
    """Return weights like scores: in training the kept ones, in evaluation all.

    Shapes: scores (B, h, T, S), kept (B, h, T, S), True with probability 1 - p.
    """
    weights = scores.softmax(-1)
    return weights * kept / (1 - p) if training else weights


exercise = Exercise(dropped_weights)


# What it is tried on ------------------------------------------------------------------------------


def drawn(p: float, training: bool, *shape: int) -> tuple:
    return random(*shape), torch.rand(shape) >= p, p, training


@exercise.stage("evaluation")
def evaluation():
    return [drawn(0.5, False, 1, 1, 2, 6)]


@exercise.stage("training")
def training():
    return [drawn(0.5, True, 1, 1, 2, 6)]


@exercise.stage("both, with other shares")
def both():
    return [
        drawn(0.3, False, 2, 3, 4, 5),
        drawn(0.3, True, 2, 3, 4, 5),
        drawn(0.2, True, 3, 3, 3, 7),
    ]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("in evaluation nothing is dropped: two runs should agree.")
def dropped_in_evaluation(scores, kept, p, training):
    return dropped_weights(scores, kept, p, True)


@exercise.mistake("you drop scores: a score of 0 is not a weight of 0.")
def scores_dropped(scores, kept, p, training):
    return (scores * kept / (1 - p) if training else scores).softmax(-1)


@exercise.mistake(
    "you mask: the rest of a row then sums to 1, but it should do so only on average."
)
def renormalised(scores, kept, p, training):
    return masked_softmax(scores, kept) if training else scores.softmax(-1)


@exercise.mistake(
    "on average your weights sum to less than 1 in training: nothing makes up for the dropped ones."
)
def not_scaled(scores, kept, p, training):
    return scores.softmax(-1) * kept if training else scores.softmax(-1)


@exercise.mistake(
    "you make up for it in evaluation, as the first paper on dropout does; here evaluation stays "
    "as it is."
)
def scaled_in_evaluation(scores, kept, p, training):
    return scores.softmax(-1) * (kept if training else 1 - p)


@exercise.mistake("you keep what should be dropped, and drop what should be kept.")
def inverted(scores, kept, p, training):
    return dropped_weights(scores, ~kept, p, training)


@exercise.mistake("you divide by the share that is dropped: which share is kept?")
def divided_by_p(scores, kept, p, training):
    return dropped_weights(scores, kept, 1 - p, training)


@exercise.mistake("nothing is dropped, not even in training.")
def never_dropped(scores, kept, p, training):
    return scores.softmax(-1)


@exercise.mistake(
    "you multiply by the share that is kept: the kept weights get smaller, though they should "
    "make up for the dropped ones."
)
def multiplied(scores, kept, p, training):
    weights = scores.softmax(-1)
    return weights * kept * (1 - p) if training else weights


@exercise.mistake(
    "you set scores to zero before the softmax: e⁰ is 1, so nothing is dropped, only levelled."
)
def scores_zeroed(scores, kept, p, training):
    return (scores * kept if training else scores).softmax(-1)


@exercise.mistake("training and evaluation are swapped.")
def exchanged(scores, kept, p, training):
    return dropped_weights(scores, kept, p, not training)


@exercise.mistake("you scale twice: in training, and once more in evaluation.")
def scaled_in_both(scores, kept, p, training):
    weights = scores.softmax(-1)
    return weights * kept / (1 - p) if training else weights * (1 - p)


@exercise.mistake(
    "weights are dropped in evaluation, too, and nothing makes up for the dropped ones."
)
def dropped_always_and_not_scaled(scores, kept, p, training):
    return scores.softmax(-1) * kept


@exercise.mistake("your softmax runs over the queries: the weights of one query should sum to 1.")
def over_the_queries(scores, kept, p, training):
    weights = scores.softmax(-2)
    return weights * kept / (1 - p) if training else weights
