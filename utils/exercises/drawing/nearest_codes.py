"""Replace each vector by the nearest one of a codebook."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random
from utils.exercises.drawing.two_slopes import with_slopes


def nearest_codes(z: Tensor, codebook: Tensor) -> tuple[Tensor, Tensor]:
    """Return the number of the nearest vector of the codebook for each z, and that vector.

    Shapes: z (n, D), codebook (K, D), to codes (n,) and q (n, D).
    """
    distances = torch.cdist(z, codebook)  # (n, K)
    codes = distances.argmin(dim=1)
    return codes, codebook[codes]


judged = with_slopes(nearest_codes)  # the gradient has to reach the codebook
exercise = Exercise(nearest_codes, gradient=False, runs=True, through=judged)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one vector and two of the codebook")
def one_vector():
    return [(random(1, 3), random(2, 3)), (random(1, 2), random(2, 2))]


@exercise.stage("vectors of a codebook that are equally long")
def equally_long():
    return [(random(9, 3), F.normalize(random(5, 3), dim=1))]


@exercise.stage("vectors of all lengths")
def all_lengths():
    return [(random(20, 4), 2 * random(6, 4)), (3 * random(15, 2), random(11, 2))]


@exercise.stage("as many vectors as codes")
def as_many():
    return [(random(7, 5), random(7, 5)), (2 * random(6, 6), random(6, 6))]


# What goes wrong ----------------------------------------------------------------------------------


def looked_up(scores: Tensor, codebook: Tensor) -> tuple[Tensor, Tensor]:
    """The codes of the largest scores (n, K), and their vectors."""
    codes = scores.argmax(dim=1)
    return codes, codebook[codes]


def squares(codebook: Tensor) -> Tensor:
    return codebook.square().sum(dim=1)


@exercise.mistake(
    "you take the largest dot product: a long vector has large products, whether near or far."
)
def dot_product(z, codebook):
    return looked_up(z @ codebook.T, codebook)


@exercise.mistake(
    "you take the smallest dot product: it belongs to a vector that points away, not to a near one."
)
def smallest_product(z, codebook):
    return looked_up(-z @ codebook.T, codebook)


@exercise.mistake(
    "you compare directions, by cosines: two vectors of one direction may be far from each other."
)
def cosine(z, codebook):
    return looked_up(F.normalize(z, dim=1) @ F.normalize(codebook, dim=1).T, codebook)


@exercise.mistake("these are the farthest ones: which distance is the nearest vector's?")
def farthest(z, codebook):
    return looked_up(torch.cdist(z, codebook), codebook)


@exercise.mistake(
    "|z - e|² has the product z·e twice: with half of it, short vectors are chosen too often."
)
def half_the_product(z, codebook):
    return looked_up(z @ codebook.T - squares(codebook), codebook)


@exercise.mistake("the sign of the product is reversed: |z - e|² = |z|² - 2 z·e + |e|².")
def product_added(z, codebook):
    return looked_up(-2 * z @ codebook.T - squares(codebook), codebook)


@exercise.mistake("you choose the shortest vector for all: how far is it from each z?")
def shortest(z, codebook):
    return looked_up(-squares(codebook).expand(len(z), -1), codebook)


@exercise.mistake(
    "you add up absolute differences: the distance is the root of the sum of their squares."
)
def city_block(z, codebook):
    return looked_up(-torch.cdist(z, codebook, p=1), codebook)


@exercise.mistake("you compare the largest difference alone: all of them count, squared.")
def largest_difference(z, codebook):
    return looked_up(-torch.cdist(z, codebook, p=torch.inf), codebook)


@exercise.mistake(
    "differences of opposite signs cancel in your sum: square each of them before you add."
)
def not_squared(z, codebook):
    differences = z[:, None] - codebook
    return looked_up(-differences.sum(dim=2).abs(), codebook)


@exercise.mistake(
    "you add up differences with their signs: the most negative sum may be of a vector far away."
)
def signs_kept(z, codebook):
    return looked_up(-(z[:, None] - codebook).sum(dim=2), codebook)


@exercise.mistake("you compare lengths: vectors of one length may be far from each other.")
def lengths(z, codebook):
    return looked_up(-(z.norm(dim=1)[:, None] - codebook.norm(dim=1)).abs(), codebook)


@exercise.mistake(
    "you give each code the z that is nearest to it: each z should get the nearest code."
)
def the_other_way(z, codebook):
    codes = torch.cdist(z, codebook).argmin(dim=0)
    return codes, z[codes]


@exercise.mistake(
    "your minimum is over the vectors z: then each code has a z, where each z should have a code."
)
def over_the_vectors(z, codebook):
    codes = torch.cdist(z, codebook).argmin(dim=0)
    return codes, codebook[codes]


@exercise.mistake("that is the smallest distance of all, once: each z has a minimum of its own.")
def over_everything(z, codebook):
    code = torch.cdist(z, codebook).argmin()
    return code, codebook[code]


@exercise.mistake(
    "you add up along the codebook: a distance adds up the D squares of one pair of vectors."
)
def summed_along_the_codebook(z, codebook):
    return looked_up(-(z[:, None] - codebook).square().sum(dim=1), codebook)


@exercise.mistake("all get the same code: each z has a nearest one of its own.")
def one_for_all(z, codebook):
    return looked_up(-torch.cdist(z, codebook).sum(dim=0).expand(len(z), -1), codebook)


@exercise.mistake("your codes count from 1: the first vector of the codebook is number 0.")
def from_one(z, codebook):
    codes, q = nearest_codes(z, codebook)
    return codes + 1, q


@exercise.mistake("you return z itself: the decoder should read the codebook's vector.")
def z_itself(z, codebook):
    return nearest_codes(z, codebook)[0], z


@exercise.mistake("that is how far the nearest vector is: return its number.")
def distance_returned(z, codebook):
    return torch.cdist(z, codebook).min(dim=1).values, nearest_codes(z, codebook)[1]


@exercise.mistake(
    "these are distances and codes: the distance has done its work, and the vectors are missing."
)
def distances_and_codes(z, codebook):
    return torch.cdist(z, codebook).min(dim=1)


@exercise.mistake("these are the vectors alone: return the codes, and then the vectors.")
def vectors_alone(z, codebook):
    return nearest_codes(z, codebook)[1]


@exercise.mistake("these are the codes alone: return the codes, and then the vectors.")
def codes_alone(z, codebook):
    return nearest_codes(z, codebook)[0]


@exercise.mistake("the codes come first, and then the vectors.")
def exchanged(z, codebook):
    return nearest_codes(z, codebook)[::-1]


@exercise.mistake("your codes are rows of zeros with a one: a code is one whole number.")
def one_hot(z, codebook):
    codes, q = nearest_codes(z, codebook)
    return F.one_hot(codes, len(codebook)), q


@exercise.mistake("your codes are a column, (n, 1): a vector has one code, not a list of one.")
def in_a_column(z, codebook):
    codes, q = nearest_codes(z, codebook)
    return codes[:, None], q[:, None]


@exercise.mistake(
    "your vectors are cut off from the codebook: no gradient would reach it, so it couldn't learn."
)
@judged
def cut_off(z, codebook):
    codes, q = nearest_codes(z, codebook)
    return codes, q.detach()


@exercise.mistake(
    "the gradient goes to z, and none to the codebook: that is straight-through, a step of its "
    "own, which leaves the codebook nothing to learn from."
)
@judged
def passed_to_z(z, codebook):
    codes, q = nearest_codes(z, codebook)
    return codes, z + (q - z).detach()
