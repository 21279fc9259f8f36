"""The longest chain of operations that wait for each other."""

import pytest
import torch

from utils.measure.graphs import longest_chain


def test_the_longest_of_two_paths_counts_and_sharing_costs_nothing():
    x = torch.ones(3, requires_grad=True)
    short = x.exp()
    long = x.exp().exp().exp()
    # the leaf, three times exp, and the sum: 5
    assert longest_chain(short + long) == 5 == longest_chain(long + short)
    assert longest_chain(long + long) == 5


def test_each_step_of_a_walk_adds_its_operations():
    def walk(steps: int) -> int:
        h = torch.ones(3, requires_grad=True)
        for _ in range(steps):
            h = (2 * h).tanh()
        return longest_chain(h)

    assert [walk(n) for n in (1, 2, 5000)] == [3, 5, 10_001]


def test_a_result_without_a_graph_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="no graph"):
        longest_chain(torch.ones(3))
