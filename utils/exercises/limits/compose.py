"""Things change places, and again: what do both moves do together?"""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise


def compose(first: Tensor, then: Tensor) -> Tensor:
    """Return the permutation that does what `first` does, and after it `then`.

    What is at place i moves to place first[:, i], and by the second one from place j to then[:, j].
    Shapes: (B, n), each row holding 0 to n - 1 in some order, to (B, n).
    """
    return then.gather(1, first)


exercise = Exercise(compose, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, n: int) -> tuple[Tensor, Tensor]:
    return torch.rand(B, n).argsort(dim=1), torch.rand(B, n).argsort(dim=1)


@exercise.stage("three things")
def three():
    return [(torch.tensor([[1, 2, 0]]), torch.tensor([[0, 2, 1]]))]


@exercise.stage("more things")
def more():
    return [drawn(1, 5), drawn(1, 9)]


@exercise.stage("several permutations")
def several():
    return [drawn(4, 5), drawn(6, 6), drawn(3, 8)]


# What goes wrong ----------------------------------------------------------------------------------


def inverse(permutation: Tensor) -> Tensor:
    return permutation.argsort(dim=1)


@exercise.mistake("the order is reversed: that is what `then` does, and after it `first`.")
def reversed_order(first, then):
    return compose(then, first)


@exercise.mistake("that is the way back, from where a thing arrives to where it was.")
def way_back(first, then):
    return inverse(compose(first, then))


@exercise.mistake("that is the way back, and in reverse order: both moves are undone.")
def way_back_reversed(first, then):
    return inverse(compose(then, first))


@exercise.mistake(
    "you read `then` backwards: then[:, j] is where the thing at j goes, not which one comes to j."
)
def then_backwards(first, then):
    return compose(first, inverse(then))


@exercise.mistake(
    "you read `first` backwards, as if you wrote to its positions: first[:, i] is where the thing "
    "at i goes, and there the second move begins."
)
def first_backwards(first, then):
    return torch.empty_like(then).scatter(1, first, then)


@exercise.mistake(
    "you read `first` backwards, and in reverse order: first[:, i] is where the thing at i goes."
)
def first_backwards_reversed(first, then):
    return compose(then, inverse(first))


@exercise.mistake(
    "you read `then` backwards, and in reverse order: then[:, j] is where the thing at j goes."
)
def then_backwards_reversed(first, then):
    return compose(inverse(then), first)


@exercise.mistake("the numbers are added: they name places, and two sums may be the same place.")
def added(first, then):
    return first + then


@exercise.mistake("the places are added in a circle: then two things may come to the same place.")
def added_in_a_circle(first, then):
    return (first + then) % first.shape[1]


@exercise.mistake("the numbers are multiplied: a permutation is looked up, not computed with.")
def multiplied(first, then):
    return first * then


@exercise.mistake("the second move is left out: that is `first` alone.")
def first_alone(first, then):
    return first


@exercise.mistake("the first move is left out: that is `then` alone.")
def then_alone(first, then):
    return then


@exercise.mistake("the first move is done twice: the second one is missing.")
def first_twice(first, then):
    return compose(first, first)


@exercise.mistake("the second move is done twice: the first one is missing.")
def then_twice(first, then):
    return compose(then, then)


@exercise.mistake("all rows make the second move of the first one: each has its own.")
def then_of_the_first_row(first, then):
    return compose(first, then[:1].expand_as(then))


@exercise.mistake("all rows make the first move of the first one: each has its own.")
def first_of_the_first_row(first, then):
    return compose(first[:1].expand_as(first), then)


@exercise.mistake("places count from 1 in yours: Python's count from 0.")
def from_1(first, then):
    return compose((first - 1) % first.shape[1], then)


@exercise.mistake("you look up along the batch: a row is one permutation.")
def along_the_batch(first, then):
    return then.gather(0, first % len(then))


@exercise.mistake("each row looks into all rows, so an axis is too many: each has its own `then`.")
def all_rows(first, then):
    return then[:, first]


@exercise.mistake("that is a matrix of zeros and ones for each row: return the places, (B, n).")
def as_a_matrix(first, then):
    return (compose(first, then)[:, :, None] == torch.arange(first.shape[1])).long()
