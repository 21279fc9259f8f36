"""[to be written]: the mean of each row."""

from torch import Tensor

from utils.exercises.checking import Exercise, random


def row_means(x: Tensor) -> Tensor:
    """The mean of each row. Shapes: x (B, D) to (B,)."""
    return x.mean(dim=1)


exercise = Exercise(row_means)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("two rows")
def two_rows():
    return [(random(2, 3),)]


@exercise.stage("other sizes")
def other_sizes():
    return [(random(4, 4),), (random(5, 2),)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("this is the mean over the batch. Which axis holds the numbers of one row?")
def batch_axis(x):
    return x.mean(dim=0)


@exercise.mistake("this is the sum of each row: a longer row gives more.")
def sum_for_mean(x):
    return x.sum(dim=1)


@exercise.mistake("this is one number for the whole batch: each row has a mean of its own.")
def one_for_all(x):
    return x.mean().expand(len(x))
