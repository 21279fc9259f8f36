"""The divergence of a model from smoothed labels, where the share goes by a prior."""

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
    """Draw logits and targets of a text in which the last `unseen` symbols never stand."""
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


@exercise.stage("sentences of several lengths")
def several_lengths():
    return [judged(3, 4, 6, 0.25, 4, 1, 3), judged(2, 5, 4, 0.125, 2, 5)]


# What goes wrong ----------------------------------------------------------------------------------


def by_symbol(logits, target, real, prior, smoothing) -> Tensor:
    """Return the divergence of each symbol (B, T), padding too."""
    return divergence(smoothed(target, prior, smoothing), logits)


@exercise.mistake("0 · log 0 is NaN for a computer: what is it in the limit?")
def log_of_0(logits, target, real, prior, smoothing):
    q = smoothed(target, prior, smoothing)
    return (q * (q.log() - logits.log_softmax(-1))).sum(-1)[real].mean()


@exercise.mistake("you spread the share evenly: here the frequent symbols get more of it.")
def spread_evenly(logits, target, real, prior, smoothing):
    even = torch.full_like(prior, 1 / len(prior))
    return smoothed_divergence(logits, target, real, even, smoothing)


@exercise.mistake("your labels sum to more than 1: what is spread has to come from somewhere.")
def added_on_top(logits, target, real, prior, smoothing):
    q = one_hot(target, prior) + smoothing * prior
    return divergence(q, logits)[real].mean()


@exercise.mistake(
    "your labels sum to less than 1: the right symbol has its part of the prior, too."
)
def spread_elsewhere(logits, target, real, prior, smoothing):
    hot = one_hot(target, prior)
    q = (1 - smoothing) * hot + smoothing * prior * (1 - hot)
    return divergence(q, logits)[real].mean()


@exercise.mistake("that is the cross-entropy, which can't reach 0: what is the least it can be?")
def cross_entropy(logits, target, real, prior, smoothing):
    q = smoothed(target, prior, smoothing)
    return -(q * logits.log_softmax(-1)).sum(-1)[real].mean()


@exercise.mistake("the two distributions are exchanged: the mean is to be taken under the label.")
def reversed_divergence(logits, target, real, prior, smoothing):
    q, log_p = smoothed(target, prior, smoothing), logits.log_softmax(-1)
    return (log_p.exp() * (log_p - q.log())).sum(-1)[real].mean()


@exercise.mistake("you average over the vocabulary: along it, a divergence is a sum.")
def mean_over_vocabulary(logits, target, real, prior, smoothing):
    return smoothed_divergence(logits, target, real, prior, smoothing) / len(prior)


@exercise.mistake("that is the sum over the symbols; asked for is their mean.")
def sum_for_mean(logits, target, real, prior, smoothing):
    return by_symbol(logits, target, real, prior, smoothing)[real].sum()


@exercise.mistake("the shares are exchanged: most of the label is the right symbol's.")
def shares_exchanged(logits, target, real, prior, smoothing):
    return smoothed_divergence(logits, target, real, prior, 1 - smoothing)


@exercise.mistake("padding is counted among the symbols.")
def padding_counted(logits, target, real, prior, smoothing):
    return by_symbol(logits, target, real, prior, smoothing).mean()


@exercise.mistake("padding is left out of the sum, but still counted where you divide.")
def padding_in_the_denominator(logits, target, real, prior, smoothing):
    return (by_symbol(logits, target, real, prior, smoothing) * real).mean()


@exercise.mistake("a mean of sentences' means: symbols of short ones count for more.")
def mean_of_means(logits, target, real, prior, smoothing):
    sums = (by_symbol(logits, target, real, prior, smoothing) * real).sum(1)
    return (sums / real.sum(1)).mean()


@exercise.mistake("a divergence is never negative: one of its signs is reversed.")
def sign(logits, target, real, prior, smoothing):
    return -smoothed_divergence(logits, target, real, prior, smoothing)


@exercise.mistake("logits are not yet logarithms of probabilities: what do these sum to?")
def no_softmax(logits, target, real, prior, smoothing):
    q = smoothed(target, prior, smoothing)
    return (torch.xlogy(q, q) - q * logits).sum(-1)[real].mean()


@exercise.mistake("you subtract the model's probability: the formula has its logarithm.")
def no_logarithm(logits, target, real, prior, smoothing):
    q = smoothed(target, prior, smoothing)
    return (torch.xlogy(q, q) - q * logits.softmax(-1)).sum(-1)[real].mean()


@exercise.mistake(
    "your probabilities sum to 1 over the positions: they should do so over the vocabulary."
)
def softmax_over_positions(logits, target, real, prior, smoothing):
    q = smoothed(target, prior, smoothing)
    return (torch.xlogy(q, q) - q * logits.log_softmax(1)).sum(-1)[real].mean()


@exercise.mistake("you divide by the number of sentences: it is a mean over symbols.")
def mean_over_sentences(logits, target, real, prior, smoothing):
    return by_symbol(logits, target, real, prior, smoothing)[real].sum() / len(logits)


@exercise.mistake("you divide by the number of sentences, and count the padding besides.")
def mean_over_sentences_with_padding(logits, target, real, prior, smoothing):
    return by_symbol(logits, target, real, prior, smoothing).sum() / len(logits)


@exercise.mistake("that is the library's loss: it spreads the share evenly, and can't reach 0.")
def librarys_loss(logits, target, real, prior, smoothing):
    return F.cross_entropy(logits[real], target[real], label_smoothing=smoothing)
