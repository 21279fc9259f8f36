"""Which sentence belongs to which picture? Every other pair in the batch is a wrong answer."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def contrastive_loss(
    image_features: Tensor, text_features: Tensor, temperature: float | Tensor
) -> Tensor:
    """Return the mean of two cross-entropies: of each picture's sentence, each sentence's picture.

    The logits are cosines divided by the temperature; row i of both belongs together.
    Shapes: features (B, E) of both, of any length, to one number.
    """
    u = image_features / image_features.norm(dim=1, keepdim=True)
    v = text_features / text_features.norm(dim=1, keepdim=True)
    logits = u @ v.T / temperature  # (B, B): how well picture i fits sentence j
    own = torch.arange(len(logits))
    return (F.cross_entropy(logits, own) + F.cross_entropy(logits.T, own)) / 2


exercise = Exercise(contrastive_loss, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def pairs(B: int, E: int, tau: float | Tensor, *, unit: bool = False) -> tuple:
    images, sentences = 2 * random(B, E), random(B, E)
    if unit:
        images, sentences = (F.normalize(x, dim=1) for x in (images, sentences))
    return images, sentences, tau


@exercise.stage("three pairs of unit vectors at a temperature of 1")
def three_pairs():
    return [pairs(3, 4, 1.0, unit=True)]


@exercise.stage("vectors of any length")
def any_length():
    return [pairs(3, 2, 1.0), pairs(4, 4, 1.0)]


@exercise.stage("other temperatures")
def other_temperatures():
    return [pairs(5, 3, 0.5), pairs(4, 6, torch.tensor(0.2, dtype=torch.float64))]


@exercise.stage("single precision, at CLIP's lowest temperature, 0.01")
def coldest():
    """The temperature is a tensor, since CLIP learns it: its gradient is compared as well."""
    images, sentences, _ = pairs(4, 6, 0.01)
    sentences[1:] = images[1:] + 0.1 * sentences[1:]  # nearly the same direction
    sentences[0] = -images[0]
    return [(images.float(), sentences.float(), torch.tensor(0.01))]


# What goes wrong ----------------------------------------------------------------------------------


def unit(x: Tensor, dim: int = 1) -> Tensor:
    return F.normalize(x, dim=dim, eps=0.0)


def cosines(images: Tensor, sentences: Tensor) -> Tensor:
    return unit(images) @ unit(sentences).T


def own(logits: Tensor) -> Tensor:
    """Return -log p of each picture's own sentence, (B,)."""
    return -logits.log_softmax(dim=1).diagonal()


def both(logits: Tensor) -> Tensor:
    return (own(logits).mean() + own(logits.T).mean()) / 2


@exercise.mistake(
    "you ask each picture for its sentence, but no sentence for its picture: both ways count."
)
def by_rows_alone(images, sentences, tau):
    return own(cosines(images, sentences) / tau).mean()


@exercise.mistake(
    "you ask each sentence for its picture, but no picture for its sentence: both ways count."
)
def by_columns_alone(images, sentences, tau):
    return own(cosines(sentences, images) / tau).mean()


@exercise.mistake("you multiply by the temperature: a low one should sharpen the choice.")
def multiplied(images, sentences, tau):
    return both(cosines(images, sentences) * tau)


@exercise.mistake(
    "the temperature is missing: cosines lie between -1 and 1, so no softmax of them can be sure."
)
def no_temperature(images, sentences, tau):
    return both(cosines(images, sentences))


@exercise.mistake("you divide by √E, as attention does: cosines don't grow with the width.")
def divided_by_the_width(images, sentences, tau):
    return both(cosines(images, sentences) / images.shape[1] ** 0.5 / tau)


@exercise.mistake(
    "you put pictures and sentences into one table, so a picture is compared with other pictures, "
    "too, as in SimCLR: here it chooses among the sentences."
)
def in_one_table(images, sentences, tau):
    x, n = torch.cat([unit(images), unit(sentences)]), len(images)
    logits = (x @ x.T / tau).masked_fill(torch.eye(2 * n, dtype=torch.bool), -torch.inf)
    return F.cross_entropy(logits, torch.arange(2 * n).roll(n))


@exercise.mistake("these are dot products, not cosines: a long vector would fit everything better.")
def not_normalised(images, sentences, tau):
    return both(images @ sentences.T / tau)


@exercise.mistake("the length of a sentence's vector still counts: a cosine depends on no length.")
def images_normalised_alone(images, sentences, tau):
    return both(unit(images) @ sentences.T / tau)


@exercise.mistake("the length of a picture's vector still counts: a cosine depends on no length.")
def sentences_normalised_alone(images, sentences, tau):
    return both(images @ unit(sentences).T / tau)


@exercise.mistake(
    "you normalise down the batch: each vector has a length of its own, whatever the others are."
)
def normalised_down_the_batch(images, sentences, tau):
    return both(unit(images, 0) @ unit(sentences, 0).T / tau)


@exercise.mistake("you divide by the squared lengths: then vectors don't get the length 1.")
def squared_lengths(images, sentences, tau):
    images, sentences = (x / x.square().sum(1, keepdim=True) for x in (images, sentences))
    return both(images @ sentences.T / tau)


@exercise.mistake("that is the sum of both ways: the loss is their mean.")
def sum_of_both(images, sentences, tau):
    return 2 * both(cosines(images, sentences) / tau)


@exercise.mistake("that is a sum over the batch: a larger batch would have a larger loss.")
def sum_over_the_batch(images, sentences, tau):
    return len(images) * both(cosines(images, sentences) / tau)


@exercise.mistake(
    "your softmax runs over the whole table: each picture chooses among its own row, and each "
    "sentence among its own column."
)
def over_the_table(images, sentences, tau):
    logits = cosines(images, sentences) / tau
    return -logits.flatten().log_softmax(0).view_as(logits).diagonal().mean()


@exercise.mistake(
    "nothing pushes wrong pairs apart: with one vector for everything, this loss would be at its "
    "lowest."
)
def pairs_alone(images, sentences, tau):
    return -cosines(images, sentences).diagonal().mean() / tau


@exercise.mistake("that is one minus the cosine of each pair: nothing pushes wrong pairs apart.")
def cosine_loss(images, sentences, tau):
    return (1 - cosines(images, sentences).diagonal()).mean()


@exercise.mistake("that is the distance in each pair: nothing pushes wrong pairs apart.")
def squared_distance(images, sentences, tau):
    return (unit(images) - unit(sentences)).square().sum(1).mean()


@exercise.mistake("you have one target for all: picture i belongs to sentence i.")
def one_target(images, sentences, tau):
    logits = cosines(images, sentences) / tau
    none = torch.zeros(len(logits), dtype=torch.long)
    return (F.cross_entropy(logits, none) + F.cross_entropy(logits.T, none)) / 2


@exercise.mistake("the softmax is taken twice: `cross_entropy` takes logits, not probabilities.")
def softmax_twice(images, sentences, tau):
    logits = cosines(images, sentences) / tau
    return (own(logits.softmax(1)).mean() + own(logits.T.softmax(1)).mean()) / 2


@exercise.mistake(
    "your table holds the probabilities of its rows, but `cross_entropy` takes logits: it does the "
    "softmax itself."
)
def probabilities_of_rows(images, sentences, tau):
    return both((cosines(images, sentences) / tau).softmax(1))


@exercise.mistake("the logarithm is missing: that is minus a probability.")
def no_logarithm(images, sentences, tau):
    logits = cosines(images, sentences) / tau
    return -(logits.softmax(1).diagonal().mean() + logits.softmax(0).diagonal().mean()) / 2


@exercise.mistake(
    "your denominator leaves the pair itself out: a probability is a part of the whole row."
)
def others_alone(images, sentences, tau):
    logits = cosines(images, sentences) / tau
    other = logits.masked_fill(torch.eye(len(logits), dtype=torch.bool), -torch.inf)
    ways = (other.logsumexp(1).mean() + other.logsumexp(0).mean()) / 2
    return ways - logits.diagonal().mean()


@exercise.mistake("you compare pictures with pictures: where are the sentences?")
def pictures_alone(images, sentences, tau):
    return both(cosines(images, images) / tau)


@exercise.mistake("the sign is reversed: that is largest where all pairs are found.")
def sign(images, sentences, tau):
    return -both(cosines(images, sentences) / tau)


@exercise.mistake(
    "you ask of each pair by itself whether it belongs together, as SigLIP does: here a picture "
    "chooses one sentence of all."
)
def yes_or_no(images, sentences, tau):
    logits = cosines(images, sentences) / tau
    return F.binary_cross_entropy_with_logits(logits, torch.eye(len(logits), dtype=logits.dtype))


@exercise.mistake("you return a loss for each pair: return one number, their mean.")
def of_each(images, sentences, tau):
    logits = cosines(images, sentences) / tau
    return (own(logits) + own(logits.T)) / 2


@exercise.mistake("these are two losses, one for each way: return their mean.")
def as_a_pair(images, sentences, tau):
    logits = cosines(images, sentences) / tau
    return own(logits).mean(), own(logits.T).mean()


@exercise.mistake(
    "you divide all vectors by one length, that of the whole tensor: each has its own length."
)
def one_length_for_all(images, sentences, tau):
    return both((images / images.norm()) @ (sentences / sentences.norm()).T / tau)


@exercise.mistake(
    "you take the temperature for the logarithm of a scale, which is what CLIP learns: here it is "
    "the temperature itself."
)
def logarithm_of_a_scale(images, sentences, tau):
    return both(cosines(images, sentences) * math.exp(tau))


@exercise.mistake("your logits are distances, which are *small* where two vectors agree.")
def distances(images, sentences, tau):
    return both(torch.cdist(unit(images), unit(sentences)) / tau)


@exercise.mistake(
    "the exponential of 100 is too large for single precision, and you get nan: `log_softmax` and "
    "`cross_entropy` subtract the largest logit first."
)
def overflows(images, sentences, tau):
    odds = (cosines(images, sentences) / tau).exp()
    right = odds.diagonal()
    return -((right / odds.sum(1)).log() + (right / odds.sum(0)).log()).mean() / 2


@exercise.mistake(
    "a probability can be rounded to 0, and its logarithm is -inf: `log_softmax` avoids that."
)
def rounded_to_zero(images, sentences, tau):
    logits = cosines(images, sentences) / tau
    ways = [-way.softmax(1).diagonal().log().mean() for way in (logits, logits.T)]
    return sum(ways) / 2


@exercise.mistake("you divide by the temperature twice.")
def divided_twice(images, sentences, tau):
    return both(cosines(images, sentences) / tau / tau)


@exercise.mistake(
    "you transpose the pictures' vectors, so your table compares numbers of the vectors, (E, E): "
    "transpose the sentences'."
)
def numbers_compared(images, sentences, tau):
    return both(unit(images).T @ unit(sentences) / tau)
