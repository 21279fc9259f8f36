"""Did the positions find the plane? How much each of them is like every other, as maps."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def position_likeness(positions: Tensor, rows: int, columns: int) -> Tensor:
    """Return the cosine of each patch's position with every other: a map for each patch.

    Shapes: positions (1 + rows·columns, D), the class token's first, to
    (rows, columns, rows, columns): the map of patch (i, j) is at [i, j].
    """
    p = positions[1:]
    p = p / p.norm(dim=1, keepdim=True)
    return (p @ p.T).reshape(rows, columns, rows, columns)


exercise = Exercise(position_likeness, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(rows: int, columns: int, D: int) -> tuple[Tensor, int, int]:
    sizes = torch.linspace(0.5, 2, 1 + rows * columns, dtype=torch.float64)
    return sizes[:, None] * random(1 + rows * columns, D), rows, columns


@exercise.stage("two patches")
def two_patches():
    return [drawn(1, 2, 3)]


@exercise.stage("a square of patches")
def square():
    return [drawn(2, 2, 4)]


@exercise.stage("more rows than columns, and more columns than rows")
def not_square():
    return [drawn(4, 3, 5), drawn(2, 5, 3)]


# What goes wrong ----------------------------------------------------------------------------------


def maps(likeness: Tensor, rows: int, columns: int) -> Tensor:
    return likeness.reshape(rows, columns, rows, columns)


def unit(x: Tensor, dim: int = 1) -> Tensor:
    return F.normalize(x, dim=dim, eps=0.0)


@exercise.mistake(
    "you leave out the last position: the one that belongs to no patch is the class token's."
)
def last_left_out(positions, rows, columns):
    p = unit(positions[:-1])
    return maps(p @ p.T, rows, columns)


@exercise.mistake("these are dot products: they also grow with the lengths of the vectors.")
def dot_products(positions, rows, columns):
    p = positions[1:]
    return maps(p @ p.T, rows, columns)


@exercise.mistake("the length of one of the two vectors still counts: a cosine depends on neither.")
def normalised_once(positions, rows, columns):
    return maps(positions[1:] @ unit(positions[1:]).T, rows, columns)


@exercise.mistake("you normalise down the columns: each position's vector has a length of its own.")
def normalised_down_the_columns(positions, rows, columns):
    p = unit(positions[1:], 0)
    return maps(p @ p.T, rows, columns)


@exercise.mistake(
    "these are correlations: you subtract the mean of its numbers from each vector, but a cosine "
    "takes a vector as it is."
)
def correlations(positions, rows, columns):
    return maps(torch.corrcoef(positions[1:]), rows, columns)


@exercise.mistake(
    "you subtract the mean position first, which can be worth seeing, but the cosine asked for is "
    "that of the positions themselves."
)
def mean_subtracted(positions, rows, columns):
    p = unit(positions[1:] - positions[1:].mean(0))
    return maps(p @ p.T, rows, columns)


@exercise.mistake("rows and columns of the grid are exchanged: patches are numbered row by row.")
def sides_exchanged(positions, rows, columns):
    return position_likeness(positions, columns, rows)


@exercise.mistake(
    "your grid is filled column by column: patches are numbered row by row, as one reads."
)
def down_the_columns(positions, rows, columns):
    return position_likeness(positions, columns, rows).permute(1, 0, 3, 2)


@exercise.mistake("these are the distances of positions: return their cosines.")
def distances(positions, rows, columns):
    return maps(torch.cdist(positions[1:], positions[1:]), rows, columns)


@exercise.mistake("these are the distances 1 - cos: what is alike should have a high number.")
def cosine_distances(positions, rows, columns):
    return 1 - position_likeness(positions, rows, columns)


@exercise.mistake("that is one table for all: a map has the rows and columns of the picture.")
def a_table(positions, rows, columns):
    p = unit(positions[1:])
    return p @ p.T


@exercise.mistake("the maps are in one row: they have places in the plane, like their patches.")
def maps_in_a_row(positions, rows, columns):
    return position_likeness(positions, rows, columns).flatten(0, 1)


@exercise.mistake("you divide by squared lengths: the root is missing.")
def squared_lengths(positions, rows, columns):
    p = positions[1:] / positions[1:].square().sum(1, keepdim=True)
    return maps(p @ p.T, rows, columns)


@exercise.mistake("you take a softmax of the cosines: return them as they are.")
def softmax(positions, rows, columns):
    p = unit(positions[1:])
    return maps((p @ p.T).softmax(1), rows, columns)


@exercise.mistake(
    "that is how alike a position is to the class token's: compare the patches with each other."
)
def to_the_class_token(positions, rows, columns):
    p = unit(positions)
    return (p[1:] @ p[0]).reshape(rows, columns)


@exercise.mistake("the class token's position is still there: it has no place in the plane.")
def class_token_left_in(positions, rows, columns):
    p = unit(positions)
    return p @ p.T


@exercise.mistake(
    "you divide all vectors by one length, that of the whole table: each has its own length."
)
def one_length_for_all(positions, rows, columns):
    p = positions[1:] / positions[1:].norm()
    return maps(p @ p.T, rows, columns)
