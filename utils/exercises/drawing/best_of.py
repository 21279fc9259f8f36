"""Draw many pictures for a sentence, and let CLIP choose."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def best_of(pictures: Tensor, sentences: Tensor) -> Tensor:
    """Return which picture of each sentence fits it best, by the cosine of CLIP's vectors.

    Shapes: pictures (B, n, E), of any length, n for each sentence; sentences (B, E); to (B,).
    """
    cosines = F.cosine_similarity(pictures, sentences[:, None], dim=2)  # (B, n)
    return cosines.argmax(dim=1)


exercise = Exercise(best_of, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("two pictures for one sentence")
def two_pictures():
    return [(random(1, 2, 3), random(1, 3)), (random(1, 2, 4), random(1, 4))]


@exercise.stage("vectors of length 1")
def of_length_1():
    return [(F.normalize(random(6, 5, 3), dim=2), random(6, 3))]


@exercise.stage("vectors of any length")
def any_length():
    return [(random(12, 7, 4) * random(12, 7, 1).exp(), random(12, 4))]


@exercise.stage("as many pictures as sentences")
def as_many():
    return [(random(9, 9, 5) * random(9, 9, 1).exp(), random(9, 5))]


# What goes wrong ----------------------------------------------------------------------------------


def cosines(pictures: Tensor, sentences: Tensor) -> Tensor:
    return F.cosine_similarity(pictures, sentences[:, None], dim=2)


@exercise.mistake("these are dot products: a picture with a long vector would fit any sentence.")
def dot_product(pictures, sentences):
    return (pictures @ sentences[:, :, None])[:, :, 0].argmax(1)


@exercise.mistake("you divide by the squared length: then a picture with a short vector fits best.")
def divided_by_the_square(pictures, sentences):
    return (cosines(pictures, sentences) / pictures.norm(dim=2)).argmax(1)


@exercise.mistake("you choose the picture that fits worst: a large cosine means near.")
def worst(pictures, sentences):
    return cosines(pictures, sentences).argmin(1)


@exercise.mistake(
    "you compare distances between vectors of any length: normalise them, or take cosines."
)
def distance(pictures, sentences):
    return (pictures - sentences[:, None]).norm(dim=2).argmin(1)


@exercise.mistake("you choose along the sentences: each sentence chooses among its own pictures.")
def along_the_batch(pictures, sentences):
    return cosines(pictures, sentences).argmax(0)


@exercise.mistake("you look at the first sentence alone: each has pictures of its own.")
def first_sentence(pictures, sentences):
    return cosines(pictures, sentences[:1].expand_as(sentences)).argmax(1)


@exercise.mistake("you choose one picture number for all sentences: each makes its own choice.")
def one_for_all(pictures, sentences):
    return cosines(pictures, sentences).mean(0).argmax().expand(len(sentences))


@exercise.mistake("that is how well the best picture fits: return its number.")
def how_well(pictures, sentences):
    return cosines(pictures, sentences).max(1).values


@exercise.mistake(
    "you return the best cosines and their indices: only one of the two is asked for."
)
def with_its_value(pictures, sentences):
    return cosines(pictures, sentences).max(1)


@exercise.mistake("that is how well each picture fits: which of them fits best?")
def of_each_picture(pictures, sentences):
    return cosines(pictures, sentences)


@exercise.mistake("these are the best pictures' vectors: return their numbers.")
def vectors(pictures, sentences):
    best = cosines(pictures, sentences).argmax(1)
    return pictures[torch.arange(len(best)), best]


@exercise.mistake("these are all pictures, best first: return the number of the best one.")
def in_order(pictures, sentences):
    return cosines(pictures, sentences).argsort(1, descending=True)


@exercise.mistake("you count the pictures of all sentences on: each sentence's begin with 0.")
def counted_on(pictures, sentences):
    B, n, _ = pictures.shape
    return cosines(pictures, sentences).argmax(1) + n * torch.arange(B)


@exercise.mistake("these are answers for each picture: return the number of the best one.")
def as_a_mask(pictures, sentences):
    found = cosines(pictures, sentences)
    return found == found.max(1, keepdim=True).values


@exercise.mistake("you normalise along the pictures: each vector has a length of its own.")
def normalised_along_the_pictures(pictures, sentences):
    unit = F.normalize(pictures, dim=1)
    return (unit @ sentences[:, :, None])[:, :, 0].argmax(1)


@exercise.mistake("you take the longest vector: its direction decides, not its length.")
def longest(pictures, sentences):
    return pictures.norm(dim=2).argmax(1)


def against_all(pictures: Tensor, sentences: Tensor) -> Tensor:
    return F.normalize(pictures, dim=2) @ F.normalize(sentences, dim=1).T  # (B, n, B)


@exercise.mistake(
    "you compare each sentence with the pictures of all: a sentence has n pictures of its own."
)
def each_against_all(pictures, sentences):
    return against_all(pictures, sentences).argmax(1)


@exercise.mistake(
    "you compare each sentence with the pictures of all, by dot products: it has pictures of its "
    "own, and the length of a vector shouldn't count."
)
def products_with_all(pictures, sentences):
    return (pictures @ sentences.T).argmax(1)


@exercise.mistake("that is the sentence that fits each picture best: the sentences should choose.")
def a_sentence_for_each_picture(pictures, sentences):
    return against_all(pictures, sentences).argmax(2)


@exercise.mistake(
    "the sentences are lined up with the pictures: one sentence belongs to all n pictures of a row."
)
def lined_up_with_pictures(pictures, sentences):
    return F.cosine_similarity(pictures, sentences, dim=2).argmax(1)


@exercise.mistake(
    "your cosines are taken along the pictures: a cosine compares the E numbers of two vectors."
)
def cosines_along_the_pictures(pictures, sentences):
    return F.cosine_similarity(pictures, sentences[:, None], dim=1).argmax(1)


@exercise.mistake(
    "that is one choice among the pictures of all sentences: each sentence makes its own."
)
def over_everything(pictures, sentences):
    return cosines(pictures, sentences).argmax()


@exercise.mistake(
    "your choices are a column, (B, 1): a sentence has one number, not a list of one."
)
def in_a_column(pictures, sentences):
    return cosines(pictures, sentences).argmax(1, keepdim=True)


@exercise.mistake("you drop the sign: vectors that point opposite ways have a cosine near -1.")
def sign_dropped(pictures, sentences):
    return cosines(pictures, sentences).abs().argmax(1)
