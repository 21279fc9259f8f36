"""Two language models that speak together: the surprise of the mean of their probabilities."""

import math

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def half_and_half(ours: Tensor, theirs: Tensor) -> Tensor:
    """Return the surprise of each token, if its probability is the mean of two models'.

    Shapes: surprises in nats, -ln p of each token, (n,) and (n,), to (n,).
    """
    return -((torch.exp(-ours) + torch.exp(-theirs)) / 2).log()


exercise = Exercise(half_and_half, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def surprises(n: int) -> Tensor:
    return 3 * random(n).abs() + 0.05


@exercise.stage("one token")
def one_token():
    return [(surprises(1), surprises(1))]


@exercise.stage("a token that one model finds certain")
def certain():
    return [(torch.zeros(1, dtype=torch.float64), surprises(1) + 1)]


@exercise.stage("several tokens")
def several():
    return [(surprises(5), surprises(5)), (surprises(8), 2 * surprises(8))]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "that is the mean of the surprises, as if a coin chose the model: average probabilities first."
)
def mean_of_surprises(ours, theirs):
    return (ours + theirs) / 2


@exercise.mistake("the two probabilities are added, not averaged: divide their sum by 2.")
def sum_for_mean(ours, theirs):
    return -(torch.exp(-ours) + torch.exp(-theirs)).log()


@exercise.mistake("a surprise is minus the logarithm: a token with p < 1 has a positive one.")
def sign(ours, theirs):
    return -half_and_half(ours, theirs)


@exercise.mistake("these are probabilities: return their surprise, minus the logarithm.")
def probabilities(ours, theirs):
    return (torch.exp(-ours) + torch.exp(-theirs)) / 2


@exercise.mistake("exp of a surprise is 1 / p: a probability is exp of *minus* the surprise.")
def inverse(ours, theirs):
    return ((torch.exp(ours) + torch.exp(theirs)) / 2).log()


@exercise.mistake(
    "the better model of each token is taken, which nobody knows before reading it: average both."
)
def better_of_two(ours, theirs):
    return torch.minimum(ours, theirs)


@exercise.mistake(
    "the probabilities are multiplied: the result no longer sums to 1 over all tokens."
)
def multiplied(ours, theirs):
    return ours + theirs


@exercise.mistake("these are bits: the surprises here are in nats, so use the natural logarithm.")
def bits(ours, theirs):
    return half_and_half(ours, theirs) / math.log(2)


@exercise.mistake("one number for the whole text: each token has a surprise of its own.")
def mean_over_tokens(ours, theirs):
    return half_and_half(ours, theirs).mean()


@exercise.mistake(
    "the probabilities of the whole text are mixed: give each token the mean of its own two."
)
def whole_texts(ours, theirs):
    n = len(ours)
    return (half_and_half(ours.sum()[None], theirs.sum()[None]) / n).expand(n)


@exercise.mistake("you halve the logarithm: halve the sum of the probabilities, before it.")
def halved_after_the_logarithm(ours, theirs):
    return -(torch.exp(-ours) + torch.exp(-theirs)).log() / 2


@exercise.mistake(
    "dividing the sum by 2 makes the surprise larger by ln 2: yours is smaller by it."
)
def sign_of_the_half(ours, theirs):
    return half_and_half(ours, theirs) - 2 * math.log(2)


@exercise.mistake("you take powers of 2: the surprises are in nats, so their base is e.")
def powers_of_2(ours, theirs):
    return -((2**-ours + 2**-theirs) / 2).log2()


@exercise.mistake(
    "exp of a surprise is 1 / p, which is over 1: your result is a negative surprise."
)
def inverse_with_a_minus(ours, theirs):
    return -((torch.exp(ours) + torch.exp(theirs)) / 2).log()


@exercise.mistake("only the second probability is halved: a mean halves the whole sum.")
def second_halved(ours, theirs):
    return -(torch.exp(-ours) + torch.exp(-theirs) / 2).log()


@exercise.mistake("the worse model of each token is taken: average the two probabilities.")
def worse_of_two(ours, theirs):
    return torch.maximum(ours, theirs)


@exercise.mistake(
    "you take powers of 2 and a natural logarithm: both belong to the same base, and it is e."
)
def two_bases(ours, theirs):
    return -((2**-ours + 2**-theirs) / 2).log()


@exercise.mistake("you average surprises and take a logarithm of that: surprises are logarithms.")
def logarithm_of_surprises(ours, theirs):
    return -((ours + theirs) / 2).log()


@exercise.mistake(
    "a softmax makes probabilities of scores that compete: here each token's probability is known."
)
def softmax_of_surprises(ours, theirs):
    return -(((-ours).softmax(0) + (-theirs).softmax(0)) / 2).log()


@exercise.mistake("the logarithm is doubled: halve the sum of the probabilities, inside it.")
def doubled(ours, theirs):
    return -2 * (torch.exp(-ours) + torch.exp(-theirs)).log()


@exercise.mistake("only the first probability is halved: a mean halves the whole sum.")
def first_halved(ours, theirs):
    return -(torch.exp(-ours) / 2 + torch.exp(-theirs)).log()


@exercise.mistake(
    "`mean` without `dim` averages over the tokens, too: with `dim=0`, it averages the two models."
)
def mean_over_everything(ours, theirs):
    return -torch.stack([torch.exp(-ours), torch.exp(-theirs)]).mean().log()


@exercise.mistake(
    "that is one number for each model, its mean over the tokens: average the models, token by "
    "token."
)
def mean_of_each_model(ours, theirs):
    return -torch.stack([torch.exp(-ours), torch.exp(-theirs)]).mean(dim=1).log()


@exercise.mistake(
    "1 - p is the probability of all other tokens: a surprise is minus the logarithm of p."
)
def one_minus(ours, theirs):
    return 1 - (torch.exp(-ours) + torch.exp(-theirs)) / 2


@exercise.mistake(
    "that is the surprise of 1 - p, the probability of all other tokens: take the logarithm of p."
)
def surprise_of_the_others(ours, theirs):
    return -(1 - (torch.exp(-ours) + torch.exp(-theirs)) / 2).log()


@exercise.mistake("you halve twice: the mean of two numbers is half of their sum.")
def halved_twice(ours, theirs):
    return half_and_half(ours, theirs) + math.log(2)
