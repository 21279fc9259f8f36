"""The reference solutions of Day 9, held to the page's forms and to definitions as loops."""

import pytest
import torch

from utils.exercises.gpt.prefix_matching import prefix_matching
from utils.exercises.gpt.shard_gradients import whole_gradient


@pytest.mark.parametrize("sizes", [[4, 4], [7, 2], [5, 0, 1], [1, 2, 3, 4]])
def test_shards_give_the_gradient_of_the_whole_batch(sizes):
    generator = torch.Generator().manual_seed(0)
    W = torch.randn(3, 2, dtype=torch.float64, generator=generator, requires_grad=True)
    x = torch.randn(sum(sizes), 3, dtype=torch.float64, generator=generator)

    def gradient(examples: torch.Tensor) -> list[torch.Tensor]:
        return list(torch.autograd.grad((examples @ W).tanh().pow(2).sum(1).mean(), [W]))

    got = whole_gradient([gradient(part) for part in x.split(sizes)], sizes)
    torch.testing.assert_close(got, gradient(x), rtol=1e-12, atol=1e-12)


def test_prefix_matching_is_that_of_a_loop():
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(4, (3, 11), generator=generator)
    weights = torch.randn(3, 11, 11, generator=generator, dtype=torch.float64).tril()
    found = []
    for b in range(3):
        for t in range(11):
            places = [s + 1 for s in range(t) if ids[b, s] == ids[b, t]]
            if places:
                found.append(sum(weights[b, t, s].item() for s in places))
    assert prefix_matching(weights, ids).item() == pytest.approx(sum(found) / len(found))


def test_a_head_that_always_looks_at_what_came_next_scores_1():
    ids = torch.tensor([[3, 1, 4, 3, 1, 4]])
    weights = torch.eye(6)[None].clone()
    for t in (3, 4, 5):
        weights[0, t] = torch.eye(6)[t - 2]
    assert prefix_matching(weights, ids) == 1
