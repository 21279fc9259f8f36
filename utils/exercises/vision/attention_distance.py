"""How far does each head look? The mean distance in patches, weighted by attention."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise


def attention_distance(weights: Tensor, rows: int, columns: int) -> Tensor:
    """Return the mean distance over which each head's patches attend to patches, (h,).

    The distance of two patches is that of their middles in the plane; the class token, which comes
    first, is nowhere: without it, the weights of a row are scaled to sum to 1 again.
    Shapes: weights (B, h, 1 + n, 1 + n), a row per query; n = rows · columns, row by row.
    """
    y, x = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    places = torch.stack([y.flatten(), x.flatten()], dim=1).to(weights.dtype)  # (n, 2)
    far = torch.cdist(places, places)  # (n, n)
    among = weights[:, :, 1:, 1:]
    among = among / among.sum(dim=3, keepdim=True)
    return (among * far).sum(dim=3).mean(dim=(0, 2))


exercise = Exercise(attention_distance, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, h: int, rows: int, columns: int) -> tuple[Tensor, int, int]:
    T = 1 + rows * columns
    return (2 * torch.randn(B, h, T, T, dtype=torch.float64)).softmax(3), rows, columns


@exercise.stage("three patches side by side")
def side_by_side():
    return [drawn(1, 1, 1, 3)]


@exercise.stage("a square of patches and two heads")
def square():
    return [drawn(1, 2, 3, 3)]


@exercise.stage("several pictures that are not square")
def several():
    return [drawn(3, 2, 2, 4), drawn(2, 5, 4, 3)]


# What goes wrong ----------------------------------------------------------------------------------


def places(rows: int, columns: int) -> Tensor:
    return torch.cartesian_prod(torch.arange(rows), torch.arange(columns)).double()


def distances(rows: int, columns: int, p: float = 2.0) -> Tensor:
    return torch.cdist(places(rows, columns), places(rows, columns), p=p)


def among(weights: Tensor) -> Tensor:
    """Return the weights of patches on patches, each row scaled to sum to 1, (B, h, n, n)."""
    own = weights[:, :, 1:, 1:]
    return own / own.sum(3, keepdim=True)


def mean(weights: Tensor, far: Tensor) -> Tensor:
    return (weights * far).sum(3).mean(dim=(0, 2))


@exercise.mistake(
    "the class token's weights are left out, but the others don't make up for them: a head that "
    "looks at it a lot would seem to look near."
)
def not_scaled(weights, rows, columns):
    return mean(weights[:, :, 1:, 1:], distances(rows, columns))


@exercise.mistake(
    "you leave out the last token: the one that is nowhere, the class token, comes first."
)
def last_left_out(weights, rows, columns):
    own = weights[:, :, :-1, :-1]
    return mean(own / own.sum(3, keepdim=True), distances(rows, columns))


@exercise.mistake(
    "you leave out the patch itself: what a head gives to it counts, at a distance of 0."
)
def itself_left_out(weights, rows, columns):
    other = among(weights) * (1 - torch.eye(rows * columns, dtype=weights.dtype))
    return mean(other / other.sum(3, keepdim=True), distances(rows, columns))


@exercise.mistake(
    "that is the distance in the row of tokens: the last patch of a line and the first of the next "
    "one are far apart in the plane."
)
def in_the_row(weights, rows, columns):
    at = torch.arange(rows * columns).double()
    return mean(among(weights), (at[:, None] - at).abs())


@exercise.mistake(
    "you add up the steps down and across, as a taxi would: the straight way is shorter."
)
def steps_added(weights, rows, columns):
    return mean(among(weights), distances(rows, columns, 1.0))


@exercise.mistake("you take the larger of both steps, as a king in chess would: go straight.")
def larger_step(weights, rows, columns):
    return mean(among(weights), distances(rows, columns, torch.inf))


@exercise.mistake("these are squared distances: the root is missing.")
def squared(weights, rows, columns):
    return mean(among(weights), distances(rows, columns).square())


@exercise.mistake("that is a root mean square, which far patches dominate: take the mean distance.")
def root_mean_square(weights, rows, columns):
    return mean(among(weights), distances(rows, columns).square()).sqrt()


@exercise.mistake("rows and columns of the grid are exchanged: patches are numbered row by row.")
def sides_exchanged(weights, rows, columns):
    return mean(among(weights), distances(columns, rows))


@exercise.mistake(
    "queries and keys have changed places: a row holds the weights of one query, and sums to 1."
)
def turned(weights, rows, columns):
    own = weights[:, :, 1:, 1:].mT
    return mean(own / own.sum(3, keepdim=True), distances(rows, columns))


@exercise.mistake("that is the distance to the strongest patch alone: all weights count.")
def strongest_alone(weights, rows, columns):
    best = among(weights).argmax(3)
    return distances(rows, columns)[torch.arange(rows * columns), best].mean(dim=(0, 2))


@exercise.mistake(
    "that is how far the mean place is: a head that looks left and right alike would not seem to "
    "look away at all."
)
def to_the_mean_place(weights, rows, columns):
    at = places(rows, columns)
    return (among(weights) @ at - at).norm(dim=3).mean(dim=(0, 2))


@exercise.mistake("that is the sum over queries: a head's distance is their mean.")
def sum_over_queries(weights, rows, columns):
    return rows * columns * attention_distance(weights, rows, columns)


@exercise.mistake(
    "you take the mean over the keys as well, but the weights are already a mean's: they sum to 1."
)
def mean_over_keys(weights, rows, columns):
    return attention_distance(weights, rows, columns) / (rows * columns)


@exercise.mistake("that is one number for all heads: each head has its own.")
def all_heads(weights, rows, columns):
    return attention_distance(weights, rows, columns).mean()


@exercise.mistake("that is a number for each picture and head: take the mean over pictures.")
def of_each_picture(weights, rows, columns):
    return (among(weights) * distances(rows, columns)).sum(3).mean(2)


@exercise.mistake(
    "that is a number for each picture, the mean of its heads: each head has its own."
)
def of_pictures(weights, rows, columns):
    return (among(weights) * distances(rows, columns)).sum(3).mean(dim=(1, 2))


@exercise.mistake(
    "your result is the same for all weights: a distance counts as much as the head looks there."
)
def not_weighted(weights, rows, columns):
    return distances(rows, columns).mean().expand(weights.shape[1])


@exercise.mistake(
    "you take another softmax: the weights are probabilities already, and only lack what the class "
    "token received."
)
def another_softmax(weights, rows, columns):
    return mean(weights[:, :, 1:, 1:].softmax(3), distances(rows, columns))


@exercise.mistake(
    "you scale each map to sum to 1: each query has weights of its own, and all queries count the "
    "same."
)
def scaled_as_a_map(weights, rows, columns):
    own = weights[:, :, 1:, 1:]
    return (own / own.sum((2, 3), keepdim=True) * distances(rows, columns)).sum((2, 3)).mean(0)


@exercise.mistake(
    "the class token is still there, as query and as key: only patches have a distance."
)
def class_token_left_in(weights, rows, columns):
    return mean(weights, distances(rows, columns))


@exercise.mistake(
    "the class token is still there as a query: leave it out on both axes, `weights[:, :, 1:, 1:]`."
)
def class_token_still_asks(weights, rows, columns):
    own = weights[:, :, :, 1:]
    return mean(own / own.sum(3, keepdim=True), distances(rows, columns))
