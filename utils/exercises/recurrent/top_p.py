"""How many characters top-p leaves to choose from."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def nucleus_size(logits: Tensor, temperature: float, p: float) -> Tensor:
    """Count the most likely characters that are needed for a probability of at least p.

    Shapes: logits (B, V). Returns: whole numbers (B,).
    """
    return count_until(sorted_softmax(logits / temperature), p)


def sorted_softmax(logits: Tensor) -> Tensor:
    return torch.softmax(logits, 1).sort(1, descending=True).values


def count_until(probabilities: Tensor, p: float) -> Tensor:
    """Count the first probabilities of each row that are needed for a sum of p."""
    before = probabilities.cumsum(1) - probabilities
    return (before < p).sum(1)


exercise = Exercise(nucleus_size, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("temperature 1, one row")
def one_row():
    return [(random(1, 6), 1.0, 0.8)]


@exercise.stage("other temperatures")
def other_temperatures():
    return [(random(1, 9), 0.6, 0.9), (random(1, 9), 2.0, 0.9)]


@exercise.stage("a token more likely than p")
def one_is_enough():
    return [(5 * random(2, 7), 0.5, 0.3)]


@exercise.stage("several rows")
def several_rows():
    return [(random(4, 30), 0.8, 0.7), (2 * random(5, 17), 1.6, 0.95)]


@exercise.stage("tokens that reach p exactly")
def exactly_p():
    equal = torch.tensor([[0.0, 0, 0, -1000, 0]], dtype=torch.float64)  # four have 1/4, one has 0
    return [(equal, 1.0, 0.5), (equal, 2.0, 0.75)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("your set has not reached p yet: the token that crosses p belongs to it.")
def crossing_left_out(logits, temperature, p):
    return (sorted_softmax(logits / temperature).cumsum(1) <= p).sum(1)


@exercise.mistake(
    "your set always ends before p is reached: the token that reaches p belongs to it."
)
def reaching_left_out(logits, temperature, p):
    return (sorted_softmax(logits / temperature).cumsum(1) < p).sum(1)


@exercise.mistake("when one token isn't enough, your set ends before it reaches p.")
def crossing_left_out_but_for_one(*inputs):
    return crossing_left_out(*inputs).clamp(min=1)


@exercise.mistake(
    "one token is always left, which is correct; but when more are needed, your set ends before p."
)
def reaching_left_out_but_for_one(*inputs):
    return reaching_left_out(*inputs).clamp(min=1)


@exercise.mistake(
    "when the first tokens have a probability of exactly p together, you take one more, but they "
    "have reached 'at least p' already."
)
def one_more_at_exactly_p(logits, temperature, p):
    probabilities = sorted_softmax(logits / temperature)
    return (probabilities.cumsum(1) - probabilities <= p).sum(1)


@exercise.mistake("the temperature has no effect: it should come first.")
def temperature_ignored(logits, temperature, p):
    return nucleus_size(logits, 1.0, p)


@exercise.mistake("a high temperature should make the distribution flat; yours makes it sharp.")
def multiplied(logits, temperature, p):
    return nucleus_size(logits, 1 / temperature, p)


@exercise.mistake("the temperature divides the logits; yours divides the probabilities.")
def probabilities_divided(logits, temperature, p):
    return count_until(sorted_softmax(logits) / temperature, p)


@exercise.mistake("your sum begins with the least likely tokens, which should be dropped.")
def least_likely_first(logits, temperature, p):
    return count_until(sorted_softmax(logits / temperature).flip(1), p)


@exercise.mistake("your sum follows the order of the vocabulary; which token should come first?")
def unsorted(logits, temperature, p):
    return count_until(torch.softmax(logits / temperature, 1), p)


@exercise.mistake("you compare single probabilities; p is about their sum.")
def each_alone(logits, temperature, p):
    return (torch.softmax(logits / temperature, 1) >= 1 - p).sum(1)


@exercise.mistake(
    "you count the tokens from the one that reaches p on: count those that lead up to it."
)
def counted_after(logits, temperature, p):
    return (sorted_softmax(logits / temperature).cumsum(1) >= p).sum(1)


@exercise.mistake("the probabilities of a row don't sum to 1: which axis holds its characters?")
def batch_axis(logits, temperature, p):
    return count_until(torch.softmax(logits / temperature, 0).sort(1, descending=True).values, p)


@exercise.mistake("no single character has to reach p: the set reaches it together.")
def as_likely_as_p(logits, temperature, p):
    return (torch.softmax(logits / temperature, 1) >= p).sum(1)


@exercise.mistake("your sum runs along the batch: each row has a sum of its own.")
def along_the_batch(logits, temperature, p):
    s = sorted_softmax(logits / temperature)
    return (s.cumsum(0) - s < p).sum(1)


@exercise.mistake("that is the number of tokens that are left out: count those that stay.")
def left_out(logits, temperature, p):
    return logits.shape[1] - nucleus_size(logits, temperature, p)


@exercise.mistake("that is one number for the whole batch: each row has a count of its own.")
def of_all_rows(logits, temperature, p):
    return nucleus_size(logits, temperature, p).sum()
