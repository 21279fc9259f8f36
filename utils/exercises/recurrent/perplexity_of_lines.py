"""The perplexity of a batch of padded lines."""

import math

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def perplexity_of_lines(nats: Tensor, lengths: Tensor) -> float:
    """Return the exponential of the mean nats of all real characters.

    Shapes: nats (B, T), -log p of the right characters, padded at the end; lengths (B,).
    """
    return math.exp(nats[real(nats, lengths)].mean())


def real(nats: Tensor, lengths: Tensor) -> Tensor:
    """Say which positions are not padding: (B, T)."""
    return torch.arange(nats.shape[1]) < lengths[:, None]


exercise = Exercise(perplexity_of_lines, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(T: int, *lengths: int) -> tuple[Tensor, Tensor]:
    """Draw nats that are no smaller at the padding than elsewhere."""
    return random(len(lengths), T).exp(), torch.tensor(lengths)


@exercise.stage("one sequence, without padding")
def without_padding():
    return [drawn(3, 3)]


@exercise.stage("one sequence with padding")
def with_padding():
    return [drawn(5, 2)]


@exercise.stage("batches of different lengths")
def batches():
    return [drawn(6, 1, 6, 3), drawn(7, 5, 2, 7, 1)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("you count the padding, which the model never had to predict.")
def padding_counted(nats, lengths):
    return math.exp(nats.mean())


@exercise.mistake(
    "you left out the padding's nats, but you still count the padding in the number that you "
    "divide by."
)
def padding_in_the_denominator(nats, lengths):
    return math.exp((nats * real(nats, lengths)).mean())


@exercise.mistake("these are nats, not bits: which power undoes a natural logarithm?")
def power_of_2(nats, lengths):
    return 2 ** nats[real(nats, lengths)].mean().item()


@exercise.mistake("that is the cross-entropy in nats; perplexity is a number of choices.")
def not_exponentiated(nats, lengths):
    return nats[real(nats, lengths)].mean().item()


@exercise.mistake("that is the inverse probability of all tokens together: what is it per token?")
def sum_for_mean(nats, lengths):
    return math.exp(nats[real(nats, lengths)].sum())


def of_each_sequence(nats: Tensor, lengths: Tensor) -> Tensor:
    """Return the mean nats of each sequence, without its padding: (B,)."""
    return (nats * real(nats, lengths)).sum(1) / lengths


@exercise.mistake("the mean of the sequences' perplexities is not the perplexity of all tokens.")
def mean_of_perplexities(nats, lengths):
    return of_each_sequence(nats, lengths).exp().mean().item()


@exercise.mistake("a token of a short sequence weighs more than one of a long sequence.")
def mean_of_means(nats, lengths):
    return math.exp(of_each_sequence(nats, lengths).mean())


@exercise.mistake("divide by the number of tokens, not of sequences.")
def divided_by_sequences(nats, lengths):
    return math.exp(nats[real(nats, lengths)].sum() / len(lengths))


@exercise.mistake("average the logarithms first, then take the exponential.")
def mean_after_exp(nats, lengths):
    return nats[real(nats, lengths)].exp().mean().item()


@exercise.mistake(
    "a perplexity below 1 would be surer than sure: these nats already include the minus sign."
)
def sign(nats, lengths):
    return math.exp(-nats[real(nats, lengths)].mean())


@exercise.mistake(
    "positions count from 0: you include one position of the padding after each line."
)
def one_too_many(nats, lengths):
    return math.exp(nats[real(nats, lengths + 1)].mean())


@exercise.mistake(
    "the last character of each line is left out: a line of n characters fills the positions 0 to "
    "n - 1."
)
def one_too_few(nats, lengths):
    return perplexity_of_lines(nats, lengths - 1)


@exercise.mistake("your mask is the wrong way round: it keeps the padding.")
def inverted(nats, lengths):
    return math.exp(nats[~real(nats, lengths)].mean())
