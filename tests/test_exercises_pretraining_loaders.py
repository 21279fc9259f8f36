"""Day 10's exercise about published weights, held to the layer that reads them."""

import bisect
import math

import pytest
import torch

from utils.exercises.pretraining import check
from utils.exercises.pretraining.relative_buckets import buckets, exercise, grown
from utils.pretraining import relative_buckets


@pytest.mark.parametrize("n_buckets, max_distance", [(32, 128), (8, 9), (4, 3), (12, 40)])
def test_buckets_are_those_of_the_layer(n_buckets, max_distance):
    behind = torch.arange(200)[:, None] - torch.arange(200)
    expected = relative_buckets(200, 200, n_buckets, max_distance)
    assert torch.equal(buckets(behind, n_buckets, max_distance), expected)


def test_no_distance_that_is_tried_is_at_a_bound_that_rounding_could_move():
    """In another precision an answer would be another; the first far one is exact in all."""
    for _, (behind, n_buckets, max_distance) in exercise.trials():
        n = n_buckets // 2
        near = n // 2
        distance = behind.abs().double()
        inside = distance[(distance > near) & (distance < max_distance)]
        within = grown(inside, n, max_distance)
        assert ((within - within.round()).abs() > 1e-3).all()


def buckets_by_their_bounds(behind, n_buckets, max_distance):
    """As lists, with the distances at which the far ones begin."""
    n = n_buckets // 2
    near = n // 2
    bounds = [near * (max_distance / near) ** (i / (n - near)) for i in range(1, n - near)]

    def of(b):
        d = abs(b)
        return (d if d < near else near + bisect.bisect_right(bounds, d)) + (n if b < 0 else 0)

    found = [of(b) for b in behind.flatten().tolist()]
    return torch.tensor(found).reshape(behind.shape)


def buckets_in_place(behind, n_buckets, max_distance):
    """In double precision, by logarithms to the base of 2, and written into a tensor."""
    n = n_buckets // 2
    near = n // 2
    found = behind.abs().clone()
    far = found >= near
    octaves = math.log2(max_distance / near)
    steps = torch.log2(found[far].double() / near) / octaves * (n - near)
    found[far] = near + steps.floor().long()
    found[found > n - 1] = n - 1
    found[behind < 0] += n
    return found.int()


def buckets_with_torch_where(behind, n_buckets, max_distance):
    n = n_buckets // 2
    near = n // 2
    d = torch.where(behind < 0, -behind, behind)
    with torch.no_grad():
        far = near + (torch.log(d / near) / math.log(max_distance / near) * (n - near)).floor()
    far = torch.where(far < n - 1, far, n - 1)
    return torch.where(d < near, d.float(), far).long() + torch.where(behind < 0, n, 0)


@pytest.mark.parametrize(
    "answer", [buckets_by_their_bounds, buckets_in_place, buckets_with_torch_where]
)
def test_buckets_in_another_style_are_right(answer):
    assert check.exercises["relative_buckets"].judge(answer) == (True, "correct.")


def test_what_nobody_foresaw_is_wrong_and_not_named():
    passed, sentence = check.exercises["relative_buckets"].judge(
        lambda b, n, most: b.abs().clamp(max=n - 1)
    )
    assert not passed and sentence.startswith("looking at near keys on both sides")
