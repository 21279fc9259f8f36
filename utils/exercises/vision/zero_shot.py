"""Name what a picture shows by the sentence that fits it best."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def zero_shot(image_features: Tensor, text_features: Tensor, temperature: float) -> Tensor:
    """Return the probability of each sentence, for each picture.

    The logits are cosines divided by the temperature.
    Shapes: pictures (B, E), sentences (n, E), one for each class, of any length, to (B, n).
    """
    u = image_features / image_features.norm(dim=1, keepdim=True)
    v = text_features / text_features.norm(dim=1, keepdim=True)
    return (u @ v.T / temperature).softmax(dim=1)


exercise = Exercise(zero_shot, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, n: int, E: int, tau: float) -> tuple[Tensor, Tensor, float]:
    return 2 * random(B, E), random(n, E), tau


@exercise.stage("one picture and two sentences at a temperature of 1")
def one_picture():
    return [drawn(1, 2, 3, 1.0)]


@exercise.stage("several pictures")
def several_pictures():
    return [drawn(3, 4, 2, 1.0)]


@exercise.stage("a low temperature, and as many pictures as sentences")
def low_temperature():
    return [drawn(2, 5, 4, 0.2), drawn(3, 3, 5, 0.5)]


@exercise.stage("single precision, at CLIP's lowest temperature, 0.01")
def coldest():
    pictures, sentences, _ = drawn(2, 3, 4, 0.01)
    return [(pictures.float(), torch.cat([pictures, sentences]).float(), 0.01)]


# What goes wrong ----------------------------------------------------------------------------------


def unit(x: Tensor, dim: int = 1) -> Tensor:
    return F.normalize(x, dim=dim, eps=0.0)


def cosines(images: Tensor, sentences: Tensor) -> Tensor:
    return unit(images) @ unit(sentences).T


@exercise.mistake(
    "`cosine_similarity` compares row i with row i: here each picture is compared with every "
    "sentence, so give each of the two an axis of its own."
)
def row_by_row(images, sentences, tau):
    return (F.cosine_similarity(images, sentences) / tau).softmax(0)


@exercise.mistake("your softmax runs over the pictures: each picture chooses among the sentences.")
def over_the_pictures(images, sentences, tau):
    return (cosines(images, sentences) / tau).softmax(0)


@exercise.mistake("your softmax runs over the whole table: each picture's probabilities sum to 1.")
def over_the_table(images, sentences, tau):
    logits = cosines(images, sentences) / tau
    return logits.flatten().softmax(0).view_as(logits)


@exercise.mistake("you multiply by the temperature: a low one should sharpen the choice.")
def multiplied(images, sentences, tau):
    return (cosines(images, sentences) * tau).softmax(1)


@exercise.mistake("the temperature is missing, with which the two encoders were trained.")
def no_temperature(images, sentences, tau):
    return cosines(images, sentences).softmax(1)


@exercise.mistake(
    "you bring the cosines to 0…1, which halves their differences: leave them from -1 to 1."
)
def from_0_to_1(images, sentences, tau):
    return ((cosines(images, sentences) + 1) / 2 / tau).softmax(1)


@exercise.mistake("you divide by √E, as attention does: cosines don't grow with the width.")
def divided_by_the_width(images, sentences, tau):
    return (cosines(images, sentences) / images.shape[1] ** 0.5 / tau).softmax(1)


@exercise.mistake("you divide by the temperature after the softmax: probabilities sum to 1.")
def after_the_softmax(images, sentences, tau):
    return cosines(images, sentences).softmax(1) / tau


@exercise.mistake(
    "these are dot products, not cosines: a sentence with a long vector would fit any picture."
)
def not_normalised(images, sentences, tau):
    return (images @ sentences.T / tau).softmax(1)


@exercise.mistake(
    "the sentences' lengths still count: one with a long vector would fit any picture."
)
def images_normalised_alone(images, sentences, tau):
    return (unit(images) @ sentences.T / tau).softmax(1)


@exercise.mistake(
    "the pictures' lengths still count: they would act like a temperature for each picture."
)
def sentences_normalised_alone(images, sentences, tau):
    return (images @ unit(sentences).T / tau).softmax(1)


@exercise.mistake(
    "you normalise down the columns: each vector has a length of its own, whatever the others are."
)
def normalised_down_the_columns(images, sentences, tau):
    return (unit(images, 0) @ unit(sentences, 0).T / tau).softmax(1)


@exercise.mistake("these are the logits: turn each picture's into probabilities.")
def logits(images, sentences, tau):
    return cosines(images, sentences) / tau


@exercise.mistake("these are cosines: turn them into logits, and those into probabilities.")
def cosines_alone(images, sentences, tau):
    return cosines(images, sentences)


@exercise.mistake("these are logarithms of probabilities.")
def logarithms(images, sentences, tau):
    return (cosines(images, sentences) / tau).log_softmax(1)


@exercise.mistake("that is the number of the best sentence: return all probabilities.")
def best_sentence(images, sentences, tau):
    return cosines(images, sentences).argmax(1)


@exercise.mistake("you judge each sentence by itself: a picture chooses among them all.")
def each_by_itself(images, sentences, tau):
    return (cosines(images, sentences) / tau).sigmoid()


@exercise.mistake("rows and columns have changed places: a row belongs to a picture.")
def turned(images, sentences, tau):
    return zero_shot(images, sentences, tau).T


@exercise.mistake(
    "the farthest sentence gets the most: is a cosine large or small where two agree?"
)
def sign(images, sentences, tau):
    return (-cosines(images, sentences) / tau).softmax(1)


@exercise.mistake("you compare distances: the logits are cosines.")
def distances(images, sentences, tau):
    return (-torch.cdist(unit(images), unit(sentences)) / tau).softmax(1)


@exercise.mistake(
    "you divide all vectors by one length, that of the whole tensor: each has its own length."
)
def one_length_for_all(images, sentences, tau):
    return ((images / images.norm()) @ (sentences / sentences.norm()).T / tau).softmax(1)


@exercise.mistake("each sentence chooses among the pictures: each picture should among sentences.")
def sentences_choose(images, sentences, tau):
    return (cosines(sentences, images) / tau).softmax(1)


@exercise.mistake(
    "you divide the logits by their sum: some are negative, so that is no probability."
)
def divided_by_their_sum(images, sentences, tau):
    logits = cosines(images, sentences) / tau
    return logits / logits.sum(1, keepdim=True)


@exercise.mistake(
    "the exponential of 100 is too large for single precision, and you get nan: `softmax` "
    "subtracts the largest logit first."
)
def overflows(images, sentences, tau):
    odds = (cosines(images, sentences) / tau).exp()
    return odds / odds.sum(1, keepdim=True)
