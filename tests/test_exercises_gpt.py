"""The reference solutions of Day 9, held to the page's forms and to definitions as loops."""

import pytest
import torch

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
