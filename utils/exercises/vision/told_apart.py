"""Two pictures, two sentences of the same words: does a model tell which belongs to which?"""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random

Shares = tuple[float, float, float]


def told_apart(similarity: Tensor) -> Shares:
    """Return the shares of pairs whose sentences, whose pictures, and both are told apart.

    Sentences are told apart if each of the two pictures is nearer to its own sentence than to the
    other's; pictures, if each sentence is nearer to its own picture (Thrush et al., 2022).
    Shapes: similarity (n, 2, 2): in pair i, of picture j to sentence k, whose own picture is k.
    """
    own, other = similarity.diagonal(dim1=1, dim2=2), similarity.flip(2).diagonal(dim1=1, dim2=2)
    sentences = (own > other).all(dim=1)  # row j has picture j's similarities
    pictures = (own > other.flip(1)).all(dim=1)
    shares = (found.double().mean().item() for found in (sentences, pictures, sentences & pictures))
    return tuple(shares)


exercise = Exercise(told_apart, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(n: int, more: float) -> Tensor:
    """Draw similarities in which the own ones are larger by `more` on average."""
    similarity = random(n, 2, 2)
    similarity.diagonal(dim1=1, dim2=2).add_(more)
    return similarity


@exercise.stage("four pairs")
def four_pairs():
    return [(drawn(4, 1.0),)]


@exercise.stage("pairs whose sentences are one and the same to the model")
def same_bag():
    similarity = drawn(13, 0.8)
    similarity[::2, :, 1] = similarity[::2, :, 0]
    similarity[1::4, 0, 1] = similarity[1::4, 0, 0]  # and to one of the two pictures alone
    return [(similarity,)]


@exercise.stage("many pairs")
def many_pairs():
    return [(drawn(53, 0.6),), (drawn(97, 0.3),)]


# What goes wrong ----------------------------------------------------------------------------------


def compared(s: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return what has to hold: for pictures 0 and 1, then for sentences 0 and 1, (n,) each."""
    a, b, c, d = s.flatten(1).unbind(1)  # picture 0 to both sentences, picture 1 to both
    return a > b, d > c, a > c, d > b


def shares(*found: Tensor) -> Shares:
    return tuple(one.double().mean().item() for one in found)


@exercise.mistake(
    "a tie counts in yours: a model that gives both sentences the same similarity would get every "
    "pair."
)
def ties_count(similarity):
    a, b, c, d = similarity.flatten(1).unbind(1)
    sentences, pictures = (a >= b) & (d >= c), (a >= c) & (d >= b)
    return shares(sentences, pictures, sentences & pictures)


@exercise.mistake(
    "the first two are exchanged: in (1), each picture compares two sentences, in its row."
)
def exchanged(similarity):
    sentences, pictures, both = told_apart(similarity)
    return pictures, sentences, both


@exercise.mistake(
    "you count each picture, and each sentence, by itself: a model that always prefers the same "
    "one gets half of them, so in a pair both have to be right."
)
def one_by_one(similarity):
    by_picture, by_sentence = torch.stack(compared(similarity)).chunk(2)
    return shares(by_picture, by_sentence, by_picture & by_sentence)


@exercise.mistake(
    "in (1) you count each picture, and in (2) each sentence, by itself: in a pair both have to be "
    "right."
)
def third_alone_by_pairs(similarity):
    by_picture, by_sentence = torch.stack(compared(similarity)).chunk(2)
    return *shares(by_picture, by_sentence), told_apart(similarity)[2]


@exercise.mistake(
    "`argmax` takes the first of two that are equal, so a tie counts if that is the own one."
)
def first_of_equals(similarity):
    own = torch.arange(2)
    sentences, pictures = ((similarity.argmax(dim) == own).all(1) for dim in (2, 1))
    return shares(sentences, pictures, sentences & pictures)


@exercise.mistake("you ask the first picture and the first sentence alone: a pair has two of each.")
def first_alone(similarity):
    w, _, y, _ = compared(similarity)
    return shares(w, y, w & y)


@exercise.mistake(
    "you want both pictures nearer to the first sentence, and both sentences nearer to the first "
    "picture: what belongs to the second?"
)
def all_to_the_first(similarity):
    a, b, c, d = similarity.flatten(1).unbind(1)
    sentences, pictures = (a > b) & (c > d), (a > c) & (b > d)
    return shares(sentences, pictures, sentences & pictures)


@exercise.mistake(
    "in (1) and (2), one of the two is enough in yours: in a pair both have to be right."
)
def either(similarity):
    w, x, y, z = compared(similarity)
    return shares(w | x, y | z, (w | x) & (y | z))


@exercise.mistake("the third is the mean of the first two: count pairs in which (1) and (2) hold.")
def mean_of_both(similarity):
    sentences, pictures, _ = told_apart(similarity)
    return sentences, pictures, (sentences + pictures) / 2


@exercise.mistake(
    "the third is the product of the first two, as if neither depended on the other: count pairs "
    "in which both hold."
)
def product_of_both(similarity):
    sentences, pictures, _ = told_apart(similarity)
    return sentences, pictures, sentences * pictures


@exercise.mistake("the third counts pairs in which (1) or (2) holds: it asks for both.")
def one_of_both(similarity):
    w, x, y, z = compared(similarity)
    return shares(w & x, y & z, (w & x) | (y & z))


@exercise.mistake(
    "you compare sums over a pair: then one clear case makes up for one that is wrong."
)
def sums(similarity):
    a, b, c, d = similarity.flatten(1).unbind(1)
    found = a + d > b + c
    return shares(found, found, found)


@exercise.mistake("these are the pairs that got it wrong way round: high similarity means near.")
def wrong_way_round(similarity):
    return told_apart(-similarity)


@exercise.mistake("these are numbers of pairs: return shares.")
def numbers(similarity):
    return tuple(len(similarity) * share for share in told_apart(similarity))


@exercise.mistake("these are in percent: a share lies between 0 and 1.")
def percent(similarity):
    return tuple(100 * share for share in told_apart(similarity))


@exercise.mistake(
    "the third compares sums over a pair: it counts pairs in which all four comparisons of (1) and "
    "(2) are right."
)
def third_by_sums(similarity):
    return *told_apart(similarity)[:2], sums(similarity)[2]


@exercise.mistake(
    "the third is the smaller of the first two: where (1) holds in one pair and (2) in another, "
    "neither pair counts."
)
def smaller_of_both(similarity):
    sentences, pictures, _ = told_apart(similarity)
    return sentences, pictures, min(sentences, pictures)
