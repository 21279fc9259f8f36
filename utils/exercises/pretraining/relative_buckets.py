"""T5's positions: a bucket for each distance, exact when near and coarse when far."""

import math

import torch
from torch import Tensor

from utils.exercises.checking import Exercise


def buckets(behind: Tensor, n_buckets: int, max_distance: int) -> Tensor:
    """Return the bucket of each distance in T5's encoder (Raffel et al., 2020, §2.1).

    behind: whole numbers t - s, how far key s is behind query t; below 0, the key is ahead.
    The first half of the buckets is for what is behind, the second half for what is ahead. Of each
    half, the first half holds one distance each: d itself. Bucket i of the n of a side begins at
    near · (max_distance / near)^((i - near) / (n - near)) from i = near on, and the last has no
    end. Shapes: as behind.
    """
    n = n_buckets // 2  # of a side
    return of_distance(behind.abs(), n, max_distance) + n * (behind < 0)


def of_distance(distance: Tensor, n: int, max_distance: int) -> Tensor:
    """Return which of n buckets each distance is in."""
    near = n // 2
    far = near + grown(distance, n, max_distance).long()
    return torch.where(distance < near, distance, far.clamp(max=n - 1))


def grown(distance: Tensor, n: int, max_distance: int) -> Tensor:
    """Return how many buckets beyond the near ones a distance is: not yet a whole number."""
    near = n // 2
    share = (distance.clamp(min=near) / near).log() / math.log(max_distance / near)
    return share * (n - near)


exercise = Exercise(buckets, gradient=False)


# What it is tried on: no distance is at the bound of a bucket, but the first far one --------------


@exercise.stage("near keys behind the query")
def near_behind():
    return [(torch.arange(4), 16, 20)]


@exercise.stage("near keys on both sides")
def near_both():
    return [(torch.arange(-3, 4), 16, 20)]


@exercise.stage("keys farther and farther behind")
def far_behind():
    return [(torch.arange(20), 16, 20), (torch.arange(9), 8, 9)]


@exercise.stage("keys beyond the largest distance")
def beyond():
    return [(torch.tensor([19, 20, 21, 50, 1000]), 16, 20)]


@exercise.stage("queries and keys on a map")
def on_a_map():
    def behind(T, S):
        return torch.arange(S - T, S)[:, None] - torch.arange(S)

    return [(behind(30, 30), 16, 20), (behind(5, 13), 8, 9), (behind(150, 150), 32, 100)]


# What goes wrong ----------------------------------------------------------------------------------


def on_both_sides(of_side, behind, n_buckets):
    """Give each side half of the buckets."""
    n = n_buckets // 2
    return of_side(behind.abs(), n) + n * (behind < 0)


@exercise.mistake("behind and ahead have changed places: the first half is for what is behind.")
def exchanged(behind, n_buckets, max_distance):
    n = n_buckets // 2
    return of_distance(behind.abs(), n, max_distance) + n * (behind > 0)


@exercise.mistake(
    "a key 3 ahead gets the bucket of one 3 behind: each side has buckets of its own."
)
def sides_alike(behind, n_buckets, max_distance):
    return of_distance(behind.abs(), n_buckets // 2, max_distance)


@exercise.mistake(
    "all that is ahead is in bucket 0: that is the decoder, which sees nothing ahead."
)
def decoders(behind, n_buckets, max_distance):
    return of_distance(behind.clamp(min=0), n_buckets, max_distance)


@exercise.mistake("each of your sides has as many buckets as both have together.")
def not_halved(behind, n_buckets, max_distance):
    return of_distance(behind.abs(), n_buckets, max_distance) + n_buckets * (behind < 0)


@exercise.mistake("distance 0 is in the first half: a query is not ahead of itself.")
def itself_ahead(behind, n_buckets, max_distance):
    n = n_buckets // 2
    return of_distance(behind.abs(), n, max_distance) + n * (behind <= 0)


@exercise.mistake(
    "one distance a bucket, and all beyond in the last: the second half of a side holds more and "
    "more."
)
def clipped(behind, n_buckets, max_distance):
    return on_both_sides(lambda d, n: d.clamp(max=n - 1), behind, n_buckets)


@exercise.mistake("your far buckets are all as wide: each is wider than the last by a factor.")
def linear(behind, n_buckets, max_distance):
    def of_side(d, n):
        near = n // 2
        far = near + ((d - near) / (max_distance - near) * (n - near)).long()
        return torch.where(d < near, d, far.clamp(max=n - 1))

    return on_both_sides(of_side, behind, n_buckets)


def far_as(how, behind, n_buckets, max_distance):
    """Let far buckets be another function of a distance, n and max_distance."""

    def of_side(d, n):
        far = how(d.clamp(min=n // 2), n, max_distance).long()
        return torch.where(d < n // 2, d, far)

    return on_both_sides(of_side, behind, n_buckets)


@exercise.mistake(
    "beyond the largest distance your buckets go on, into those of the other side: the last has no "
    "end."
)
def not_ended(behind, n_buckets, max_distance):
    return far_as(lambda d, n, most: n // 2 + grown(d, n, most), behind, n_buckets, max_distance)


@exercise.mistake("a side's last bucket is n - 1: yours ends in the first one of the other side.")
def one_too_many(behind, n_buckets, max_distance):
    def far(d, n, most):
        return (n // 2 + grown(d, n, most)).clamp(max=n)

    return far_as(far, behind, n_buckets, max_distance)


@exercise.mistake("a bucket begins where its formula says: you round to the nearest, not down.")
def rounded(behind, n_buckets, max_distance):
    def far(d, n, most):
        return (n // 2 + grown(d, n, most).round()).clamp(max=n - 1)

    return far_as(far, behind, n_buckets, max_distance)


@exercise.mistake("your far buckets begin at 0 again: they come behind the near ones.")
def near_not_added(behind, n_buckets, max_distance):
    return far_as(grown, behind, n_buckets, max_distance)


@exercise.mistake("the far ones share what the near ones leave, n - near, not all n of the side.")
def stretched_over_all(behind, n_buckets, max_distance):
    def far(d, n, most):
        return (n // 2 + grown(d, n, most) * n / (n - n // 2)).clamp(max=n - 1)

    return far_as(far, behind, n_buckets, max_distance)


@exercise.mistake("the largest distance counts from where the far ones begin: divide it by near.")
def largest_not_divided(behind, n_buckets, max_distance):
    def far(d, n, most):
        near = n // 2
        return (near + (d / near).log() / math.log(most) * (n - near)).clamp(max=n - 1)

    return far_as(far, behind, n_buckets, max_distance)


@exercise.mistake("far distances count from where they begin: divide both of them by near.")
def nothing_divided(behind, n_buckets, max_distance):
    def far(d, n, most):
        near = n // 2
        return (near + d.log() / math.log(most) * (n - near)).clamp(max=n - 1)

    return far_as(far, behind, n_buckets, max_distance)


@exercise.mistake(
    "you add a side's first bucket before you keep to its last one: all that is ahead is in one."
)
def first_before_last(behind, n_buckets, max_distance):
    n = n_buckets // 2
    near, distance = n // 2, behind.abs()
    first = n * (behind < 0)
    far = near + grown(distance, n, max_distance).long()
    return (first + torch.where(distance < near, distance, far)).clamp(max=n - 1)


@exercise.mistake("a bucket begins where its formula says: you round up, not down.")
def rounded_up(behind, n_buckets, max_distance):
    def far(d, n, most):
        return (n // 2 + grown(d, n, most).ceil()).clamp(max=n - 1)

    return far_as(far, behind, n_buckets, max_distance)


@exercise.mistake("your two logarithms have different bases.")
def bases_mixed(behind, n_buckets, max_distance):
    def far(d, n, max_distance):
        near = n // 2
        share = (d / near).log2() / math.log(max_distance / near)
        return (near + share * (n - near)).clamp(max=n - 1)

    return far_as(far, behind, n_buckets, max_distance)
