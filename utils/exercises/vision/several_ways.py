"""A class that is said in several ways: one vector from the vectors of its sentences."""

from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def several_ways(sentences: Tensor) -> Tensor:
    """Return a unit vector for each class: of the mean of its sentences' unit vectors.

    So no sentence counts more because its vector is long. Shapes: sentences (n, ways, E) to (n, E).
    """
    unit = sentences / sentences.norm(dim=2, keepdim=True)
    mean = unit.mean(dim=1)
    return mean / mean.norm(dim=1, keepdim=True)


exercise = Exercise(several_ways, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one class that is said in one way")
def one_way():
    return [(2 * random(1, 1, 3),)]


@exercise.stage("one class that is said in several ways")
def one_class():
    return [(2 * random(1, 3, 4),)]


@exercise.stage("several classes")
def several_classes():
    return [(3 * random(3, 2, 4),), (random(4, 4, 4),), (random(2, 6, 3),)]


# What goes wrong ----------------------------------------------------------------------------------


def unit(x: Tensor, dim: int = -1) -> Tensor:
    return F.normalize(x, dim=dim, eps=0.0)


@exercise.mistake(
    "that is the mean of the vectors as they are: a sentence with a long one would count more."
)
def long_ones_count_more(sentences):
    return unit(sentences.mean(1))


@exercise.mistake(
    "the mean of unit vectors is shorter than 1, the more so the less they agree: the result is a "
    "unit vector."
)
def mean_not_scaled(sentences):
    return unit(sentences).mean(1)


@exercise.mistake(
    "that is the plain mean: neither the sentences' vectors nor it have the length 1."
)
def plain_mean(sentences):
    return sentences.mean(1)


@exercise.mistake(
    "you take the mean over the classes: sentences that belong to one class are in one row."
)
def over_the_classes(sentences):
    return unit(unit(sentences).mean(0))


@exercise.mistake("you take the first sentence alone: all of a class count.")
def first_alone(sentences):
    return unit(sentences[:, 0])


@exercise.mistake("you take the largest of each number: take the mean.")
def largest(sentences):
    return unit(unit(sentences).amax(1))


@exercise.mistake("you normalise across the sentences: each vector has a length of its own.")
def across_the_sentences(sentences):
    return unit(unit(sentences, 1).mean(1))


@exercise.mistake("you normalise the result down the classes: each class has a vector of length 1.")
def down_the_classes(sentences):
    return unit(unit(sentences).mean(1), 0)


@exercise.mistake("you divide by squared lengths: the root is missing.")
def squared_lengths(sentences):
    return unit((sentences / sentences.square().sum(2, keepdim=True)).mean(1))


@exercise.mistake("you divide by the sum of the numbers, which isn't the length of a vector.")
def sum_for_length(sentences):
    mean = unit(sentences).mean(1)
    return mean / mean.sum(1, keepdim=True)


@exercise.mistake("your vectors have an axis left over: a class has one vector, (n, E).")
def axis_left(sentences):
    return unit(unit(sentences).mean(1, keepdim=True))


@exercise.mistake("you take the mean over the numbers of a vector: take it over the sentences.")
def over_the_numbers(sentences):
    return unit(unit(sentences).mean(2))


@exercise.mistake("that is a sum of unit vectors, which may be long: the result is a unit vector.")
def sum_not_scaled(sentences):
    return unit(sentences).sum(1)


@exercise.mistake("you divide all classes by one length: each has a vector of length 1.")
def one_length_for_all(sentences):
    mean = unit(sentences).mean(1)
    return mean / mean.norm()
