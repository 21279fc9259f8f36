"""Do a student's vectors point in the same direction as its teacher's?"""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def cosine_loss(x_student: Tensor, x_teacher: Tensor, real: Tensor) -> Tensor:
    """Return the mean of 1 - cos of the angle between two vectors, over all that is real.

    Shapes: vectors (B, T, D) of both, real (B, T), False where a position is padding. The teacher's
    are given, and nothing is learned about them.
    """
    x, y = x_student[real], x_teacher[real]
    cos = (x * y).sum(dim=1) / (x.norm(dim=1) * y.norm(dim=1))
    return (1 - cos).mean()


exercise = Exercise(cosine_loss, data=(1,))


# What it is tried on ------------------------------------------------------------------------------


def vectors(D: int, *lengths: int) -> tuple[Tensor, Tensor, Tensor]:
    """Draw vectors for texts of these lengths, with random numbers after their ends."""
    T = max(lengths)
    real = torch.arange(T) < torch.tensor(lengths)[:, None]
    return random(len(lengths), T, D), 3 * random(len(lengths), T, D), real


@exercise.stage("one vector of each")
def one_vector():
    return [vectors(3, 1)]


@exercise.stage("one text")
def one_text():
    return [vectors(4, 6)]


@exercise.stage("several texts of one length")
def one_length():
    return [vectors(5, 3, 3), vectors(3, 3, 3, 3)]


@exercise.stage("texts of several lengths, padded")
def several_lengths():
    return [vectors(4, 5, 2, 7), vectors(6, 1, 8)]


# What goes wrong ----------------------------------------------------------------------------------


def cosines(x: Tensor, y: Tensor, dim: int = -1) -> Tensor:
    return F.cosine_similarity(x, y, dim=dim, eps=0.0)


@exercise.mistake("padding is counted: the vectors there mean nothing.")
def padding_counted(x, y, real):
    return (1 - cosines(x, y)).mean()


@exercise.mistake("you leave padding out of the sum, but still count it in the divisor.")
def padding_in_the_denominator(x, y, real):
    return ((1 - cosines(x, y)) * real).mean()


@exercise.mistake(
    "padding that is set to zero has a cosine of 0, and so a loss of 1: leave it out."
)
def padding_as_zeros(x, y, real):
    return (1 - cosines(x, y) * real).mean()


@exercise.mistake(
    "a word of a short text weighs more than one of a long text: take one mean over all."
)
def mean_of_means(x, y, real):
    return (((1 - cosines(x, y)) * real).sum(1) / real.sum(1)).mean()


@exercise.mistake("you treat each text as one long vector: compare position by position.")
def each_text_as_one_vector(x, y, real):
    x, y = (vectors * real[:, :, None] for vectors in (x, y))
    return (1 - cosines(x.flatten(1), y.flatten(1))).mean()


@exercise.mistake("you treat the whole batch as one long vector: compare position by position.")
def all_as_one_vector(x, y, real):
    return 1 - cosines(x[real].flatten(), y[real].flatten())


@exercise.mistake("you compare the texts' mean vectors: compare position by position.")
def of_mean_vectors(x, y, real):
    x, y = ((vectors * real[:, :, None]).sum(1) for vectors in (x, y))
    return (1 - cosines(x, y)).mean()


@exercise.mistake("that is largest where the two agree: a loss is smallest there.")
def agreement(x, y, real):
    return cosines(x, y)[real].mean()


@exercise.mistake("the 1 is missing: where the two agree, the loss is 0.")
def one_forgotten(x, y, real):
    return -cosines(x, y)[real].mean()


@exercise.mistake(
    "a vector that points the opposite way counts as agreement: don't take the absolute value."
)
def opposite_as_good(x, y, real):
    return (1 - cosines(x, y)[real].abs()).mean()


@exercise.mistake("that is the angle itself: take its cosine.")
def angle(x, y, real):
    return cosines(x, y)[real].acos().mean()


@exercise.mistake(
    "`cosine_similarity` runs along dimension 1 unless told: vectors lie along the last."
)
def along_dimension_1(x, y, real):
    return (1 - F.cosine_similarity(x, y)).mean()


@exercise.mistake("these are dot products, not cosines: divide by the lengths of both vectors.")
def not_normalised(x, y, real):
    return (1 - (x * y).sum(-1))[real].mean()


@exercise.mistake("the student's length still counts: divide by the lengths of both vectors.")
def teacher_normalised_alone(x, y, real):
    return (1 - (x * F.normalize(y, dim=-1)).sum(-1))[real].mean()


@exercise.mistake("the teacher's length still counts: divide by the lengths of *both* vectors.")
def student_normalised_alone(x, y, real):
    return (1 - (F.normalize(x, dim=-1) * y).sum(-1))[real].mean()


@exercise.mistake("you divide by squared lengths: the root is missing.")
def squared_lengths(x, y, real):
    squares = x.square().sum(-1) * y.square().sum(-1)
    return (1 - (x * y).sum(-1) / squares)[real].mean()


@exercise.mistake(
    "that is the squared distance, which depends on the lengths: only directions should count."
)
def squared_distance(x, y, real):
    return (x - y).square().sum(-1)[real].mean()


@exercise.mistake("that is the sum over all positions: the loss is their mean.")
def sum_for_mean(x, y, real):
    return (1 - cosines(x, y))[real].sum()


@exercise.mistake("you normalise along the positions: each vector has its own length.")
def along_the_positions(x, y, real):
    x, y = (F.normalize(vectors * real[:, :, None], dim=1) for vectors in (x, y))
    return (1 - (x * y).sum(-1))[real].mean()


@exercise.mistake("you compare each vector with all others: position by position is asked for.")
def each_with_each(x, y, real):
    x, y = (F.normalize(vectors[real], dim=-1) for vectors in (x, y))
    return (1 - x @ y.T).mean()


@exercise.mistake("you divide by the number of texts: divide by the number of words.")
def divided_by_texts(x, y, real):
    return (1 - cosines(x, y))[real].sum() / len(x)


@exercise.mistake("that is a loss for each position: return their mean.")
def each_word(a, b, real):
    return (1 - cosines(a, b))[real]


@exercise.mistake(
    "you set the cosine to 0 at padding, which adds 1 to the sum there: leave the whole term out."
)
def ones_at_padding(x, y, real):
    return (1 - cosines(x, y) * real).sum() / real.sum()


@exercise.mistake("your mask is upside down: `real` is True where there is a word.")
def padding_alone(x, y, real):
    return (1 - cosines(x, y))[~real].mean()


@exercise.mistake("the cosine runs along the positions: vectors lie along the last dimension.")
def along_dimension_0(x, y, real):
    return (1 - cosines(x[real], y[real], dim=0)).mean()


@exercise.mistake("`norm()` without `dim` is the length of all the vectors together.")
def length_of_all(x, y, real):
    return (1 - (x * y).sum(-1) / (x.norm() * y.norm()))[real].mean()


@exercise.mistake("a dot product is the sum of the products, not their mean.")
def mean_of_products(x, y, real):
    return (1 - (x * y).mean(-1) / (x.norm(dim=-1) * y.norm(dim=-1)))[real].mean()


@exercise.mistake("the sign is reversed: that is the cosine minus 1, and 0 is its largest value.")
def sign(x, y, real):
    return (cosines(x, y) - 1)[real].mean()


@exercise.mistake("you add the cosine to 1: that is largest where the two agree.")
def cosine_added(x, y, real):
    return (1 + cosines(x, y))[real].mean()


@exercise.mistake("you divide by the square of one length: divide by the lengths of *both*.")
def one_length_twice(x, y, real):
    return (1 - (x * y).sum(-1) / x.square().sum(-1))[real].mean()


@exercise.mistake("that is the squared distance of the two directions, twice the loss.")
def distance_of_directions(x, y, real):
    return 2 * cosine_loss(x, y, real)


@exercise.mistake("you compare the mean vectors of the batch: compare position by position.")
def of_the_batchs_mean_vectors(x, y, real):
    return 1 - cosines(x[real].mean(0), y[real].mean(0))
