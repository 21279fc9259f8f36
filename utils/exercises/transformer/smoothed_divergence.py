"""The divergence of a model from smoothed labels, whose share is spread by a prior."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def smoothed_divergence(
    logits: Tensor, target: Tensor, real: Tensor, prior: Tensor, smoothing: float
) -> Tensor:
    """Return the mean over real symbols of Σ q log(q / p), with q = (1 - s) [k = y] + s u(k).

    Shapes: logits (B, T, V), target (B, T), real (B, T), prior (V,) to one number.
    """
    return divergence(smoothed(target, prior, smoothing), logits)[real].mean()


def smoothed(target: Tensor, prior: Tensor, smoothing: float) -> Tensor:
    return (1 - smoothing) * one_hot(target, prior) + smoothing * prior  # (B, T, V)


def one_hot(target: Tensor, prior: Tensor) -> Tensor:
    return F.one_hot(target, len(prior)).to(prior)


def divergence(q: Tensor, logits: Tensor) -> Tensor:
    return (torch.xlogy(q, q) - q * logits.log_softmax(-1)).sum(-1)  # (B, T)


exercise = Exercise(smoothed_divergence, data=(3,))


# What it is tried on ------------------------------------------------------------------------------


def judged(B: int, T: int, V: int, smoothing: float, *lengths: int, unseen: int = 0) -> tuple:
    """Draw logits and targets of a text in which the last `unseen` symbols never occur."""
    real = torch.arange(T) < torch.tensor(lengths)[:, None]
    prior = random(V).softmax(0) * (torch.arange(V) < V - unseen)
    target = torch.randint(V - unseen, (B, T))
    return 2 * random(B, T, V), target, real, prior / prior.sum(), smoothing


@exercise.stage("one symbol")
def one_symbol():
    return [judged(1, 1, 3, 0.25, 1)]


@exercise.stage("several symbols")
def several_symbols():
    return [judged(2, 3, 5, 0.5, 3, 3)]


@exercise.stage("symbols that never occur")
def unseen_symbols():
    return [judged(3, 2, 7, 0.25, 2, 2, 2, unseen=2)]


@exercise.stage("sentences of different lengths")
def several_lengths():
    return [judged(3, 4, 6, 0.25, 4, 1, 3), judged(2, 5, 4, 0.125, 2, 5)]


# What goes wrong ----------------------------------------------------------------------------------


def by_symbol(logits, target, real, prior, smoothing) -> Tensor:
    """Return the divergence of each symbol (B, T), padding too."""
    return divergence(smoothed(target, prior, smoothing), logits)


@exercise.mistake("a computer returns NaN for 0 · log 0: what is it in the limit?")
def log_of_0(logits, target, real, prior, smoothing):
    q = smoothed(target, prior, smoothing)
    return (q * (q.log() - logits.log_softmax(-1))).sum(-1)[real].mean()


@exercise.mistake("you spread the share evenly: here the frequent symbols get more of it.")
def spread_evenly(logits, target, real, prior, smoothing):
    even = torch.full_like(prior, 1 / len(prior))
    return smoothed_divergence(logits, target, real, even, smoothing)


@exercise.mistake("your labels sum to more than 1: take the share s away from the correct symbol.")
def added_on_top(logits, target, real, prior, smoothing):
    q = one_hot(target, prior) + smoothing * prior
    return divergence(q, logits)[real].mean()


@exercise.mistake(
    "your labels sum to less than 1: the correct symbol gets its part of the prior, too."
)
def spread_elsewhere(logits, target, real, prior, smoothing):
    hot = one_hot(target, prior)
    q = (1 - smoothing) * hot + smoothing * prior * (1 - hot)
    return divergence(q, logits)[real].mean()


@exercise.mistake("that is the cross-entropy, which can't reach 0: what is the least it can be?")
def cross_entropy(logits, target, real, prior, smoothing):
    q = smoothed(target, prior, smoothing)
    return -(q * logits.log_softmax(-1)).sum(-1)[real].mean()


@exercise.mistake("you exchanged the two distributions: take the mean under the label.")
def reversed_divergence(logits, target, real, prior, smoothing):
    q, log_p = smoothed(target, prior, smoothing), logits.log_softmax(-1)
    return (log_p.exp() * (log_p - q.log())).sum(-1)[real].mean()


@exercise.mistake("you average over the vocabulary: along it, a divergence is a sum.")
def mean_over_vocabulary(logits, target, real, prior, smoothing):
    return smoothed_divergence(logits, target, real, prior, smoothing) / len(prior)


@exercise.mistake("that is the sum over the symbols: return their mean.")
def sum_for_mean(logits, target, real, prior, smoothing):
    return by_symbol(logits, target, real, prior, smoothing)[real].sum()


@exercise.mistake("you exchanged the shares: most of the label belongs to the correct symbol.")
def shares_exchanged(logits, target, real, prior, smoothing):
    return smoothed_divergence(logits, target, real, prior, 1 - smoothing)


@exercise.mistake("you count padding among the symbols.")
def padding_counted(logits, target, real, prior, smoothing):
    return by_symbol(logits, target, real, prior, smoothing).mean()


@exercise.mistake("you leave padding out of the sum, but still count it in the divisor.")
def padding_in_the_denominator(logits, target, real, prior, smoothing):
    return (by_symbol(logits, target, real, prior, smoothing) * real).mean()


@exercise.mistake(
    "that is a mean of the sentences' means: symbols of short sentences count for more."
)
def mean_of_means(logits, target, real, prior, smoothing):
    sums = (by_symbol(logits, target, real, prior, smoothing) * real).sum(1)
    return (sums / real.sum(1)).mean()


@exercise.mistake("a divergence is never negative: one of your signs is reversed.")
def sign(logits, target, real, prior, smoothing):
    return -smoothed_divergence(logits, target, real, prior, smoothing)


@exercise.mistake("logits are not yet logarithms of probabilities: normalise them first.")
def no_softmax(logits, target, real, prior, smoothing):
    q = smoothed(target, prior, smoothing)
    return (torch.xlogy(q, q) - q * logits).sum(-1)[real].mean()


@exercise.mistake("you subtract the model's probability: the formula needs its logarithm.")
def no_logarithm(logits, target, real, prior, smoothing):
    q = smoothed(target, prior, smoothing)
    return (torch.xlogy(q, q) - q * logits.softmax(-1)).sum(-1)[real].mean()


@exercise.mistake(
    "your probabilities sum to 1 over the positions: they should sum to 1 over the vocabulary."
)
def softmax_over_positions(logits, target, real, prior, smoothing):
    q = smoothed(target, prior, smoothing)
    return (torch.xlogy(q, q) - q * logits.log_softmax(1)).sum(-1)[real].mean()


@exercise.mistake("you divide by the number of sentences: divide by the number of symbols.")
def mean_over_sentences(logits, target, real, prior, smoothing):
    return by_symbol(logits, target, real, prior, smoothing)[real].sum() / len(logits)


@exercise.mistake("you divide by the number of sentences, and you count the padding, too.")
def mean_over_sentences_with_padding(logits, target, real, prior, smoothing):
    return by_symbol(logits, target, real, prior, smoothing).sum() / len(logits)


@exercise.mistake("that is the library's loss: it spreads the share evenly, and can't reach 0.")
def librarys_loss(logits, target, real, prior, smoothing):
    return F.cross_entropy(logits[real], target[real], label_smoothing=smoothing)


@exercise.mistake("nothing is smoothed: part of the label goes to the other symbols.")
def not_smoothed(logits, target, real, prior, smoothing):
    return smoothed_divergence(logits, target, real, prior, 0.0)


@exercise.mistake("that is in bits: the book measures in nats.")
def bits(logits, target, real, prior, smoothing):
    return smoothed_divergence(logits, target, real, prior, smoothing) / math.log(2)
