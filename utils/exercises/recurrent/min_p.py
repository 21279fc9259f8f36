"""Sampling among the characters that are nearly as likely as the most likely one."""

import math

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def min_p(logits: Tensor, temperature: float, share: float) -> Tensor:
    """Keep the characters at least `share` times as likely as the most likely one.

    Shapes: logits (B, V). Returns: the probabilities from which to draw (B, V).
    """
    probabilities = torch.softmax(logits / temperature, 1)
    return only(likely_enough(probabilities, share), probabilities)


def likely_enough(probabilities: Tensor, share: float) -> Tensor:
    return probabilities >= share * probabilities.amax(1, keepdim=True)


def only(kept: Tensor, probabilities: Tensor) -> Tensor:
    left = probabilities * kept
    return left / left.sum(1, keepdim=True)


exercise = Exercise(min_p, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("temperature 1, one row")
def one_row():
    return [(random(1, 6), 1.0, 0.3)]


@exercise.stage("other temperatures")
def other_temperatures():
    return [(random(1, 8), 2.0, 0.3), (random(1, 8), 0.6, 0.1)]


@exercise.stage("several rows")
def several_rows():
    return [(2 * random(3, 20), 1.5, 0.05), (random(4, 11), 0.7, 0.2)]


@exercise.stage("two that are equally likely, and a share of 1")
def equally_likely():
    return [(torch.tensor([[1.0, 3.0, 3.0, -2.0]], dtype=torch.float64), 0.5, 1.0)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("your threshold is fixed: it should depend on the most likely token.")
def fixed_threshold(logits, temperature, share):
    probabilities = torch.softmax(logits / temperature, 1)
    return only(probabilities >= share, probabilities)


@exercise.mistake("the probabilities that are left should be scaled to sum to 1.")
def not_renormalised(logits, temperature, share):
    probabilities = torch.softmax(logits / temperature, 1)
    return probabilities * likely_enough(probabilities, share)


@exercise.mistake(
    "the temperature comes too late: it changes which tokens are near the most likely one."
)
def temperature_too_late(logits, temperature, share):
    kept = likely_enough(torch.softmax(logits, 1), share)
    return only(kept, torch.softmax(logits / temperature, 1))


@exercise.mistake("the temperature has no effect: it should come first.")
def temperature_ignored(logits, temperature, share):
    return min_p(logits, 1.0, share)


@exercise.mistake("a high temperature should make the distribution flat; yours makes it sharp.")
def multiplied(logits, temperature, share):
    return min_p(logits, 1 / temperature, share)


@exercise.mistake("you kept the unlikely tokens and dropped the likely ones.")
def unlikely_kept(logits, temperature, share):
    probabilities = torch.softmax(logits / temperature, 1)
    return only(~likely_enough(probabilities, share), probabilities)


@exercise.mistake("each row has a most likely token of its own.")
def one_threshold_for_all(logits, temperature, share):
    probabilities = torch.softmax(logits / temperature, 1)
    return only(probabilities >= share * probabilities.amax(), probabilities)


@exercise.mistake(
    "a softmax of probabilities makes them nearly equal: how else can you make them sum to 1?"
)
def softmax_twice(logits, temperature, share):
    left = not_renormalised(logits, temperature, share)
    return torch.softmax(left.masked_fill(left == 0, -math.inf), 1)


@exercise.mistake("'at least' includes a character that is exactly at the threshold.")
def strictly_more_likely(logits, temperature, share):
    probabilities = torch.softmax(logits / temperature, 1)
    return only(probabilities > share * probabilities.amax(1, keepdim=True), probabilities)


@exercise.mistake("a share of the largest logit is not the same share of its probability.")
def share_of_the_logit(logits, temperature, share):
    kept = likely_enough(logits / temperature, share)
    return only(kept, torch.softmax(logits / temperature, 1))


@exercise.mistake("a logit of 0 is not a probability of 0: which logit gives that?")
def logits_zeroed(logits, temperature, share):
    logits = logits / temperature
    return torch.softmax(logits * likely_enough(torch.softmax(logits, 1), share), 1)


@exercise.mistake("the probabilities of a row don't sum to 1: which axis holds its characters?")
def batch_axis(logits, temperature, share):
    probabilities = torch.softmax(logits / temperature, 0)
    return only(likely_enough(probabilities, share), probabilities)


@exercise.mistake(
    "the rows' maxima have the shape (B,), which broadcasting aligns with the characters: keep "
    "the axis."
)
def axis_lost(logits, temperature, share):
    probabilities = torch.softmax(logits / temperature, 1)
    return only(probabilities >= share * probabilities.amax(1), probabilities)


@exercise.mistake("these are logits: which function turns them into probabilities?")
def logits_left(logits, temperature, share):
    kept = likely_enough(torch.softmax(logits / temperature, 1), share)
    return (logits / temperature).masked_fill(~kept, -math.inf)


@exercise.mistake(
    "that is top-p, which adds up probabilities: here each is compared with the largest."
)
def top_p(logits, temperature, share):
    p, order = torch.softmax(logits / temperature, 1).sort(1, descending=True)
    kept = p.cumsum(1) - p < share
    return torch.zeros_like(p).scatter(1, order, only(kept, p))
