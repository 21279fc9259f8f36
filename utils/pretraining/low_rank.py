"""Day 11: LoRA. A tuned weight is the old one and a product of two thin matrices, which is learned.

Hu et al. (2022) change the queries' and the values' weights of each self-attention, and freeze all
else.
"""

from collections.abc import Iterator
from numbers import Integral

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import parametrize

from utils.arguments import check_plain
from utils.self_attention import MultiHeadAttention

ALPHA = 8.0  # as for RoBERTa, ibid., table 9


class LowRank(nn.Module):
    """Some rows of a weight W become W + α/r · B A (Hu et al., 2022, §4.1).

    It is a parametrisation: whenever a layer asks for its weight, this makes it anew. A begins at
    random, with a variance of 1 / d_in, and B at 0, so that at first nothing is changed.
    rows: the first of them, and the one behind the last. rank: r. alpha: α, which stays as it is
    where ranks are compared, so that the same rate suits them.
    Shapes: W (n, d_in), A (r, d_in), B (rows, r), to a weight like W.
    Raises: ValueError if the rank is no number from 1 to what the rows can have.
    """

    def __init__(self, weight: Tensor, rows: tuple[int, int], rank: int, alpha: float = ALPHA):
        super().__init__()
        (n, d_in), (start, stop) = weight.shape, rows
        check_rank(rank, min(stop - start, d_in))
        self.scale, self.around = alpha / rank, (0, 0, start, n - stop)
        self.A = nn.Parameter(torch.randn_like(weight[:rank]) * d_in**-0.5)
        self.B = nn.Parameter(weight.new_zeros(stop - start, rank))

    def forward(self, weight: Tensor) -> Tensor:
        return weight + F.pad(self.scale * self.B @ self.A, self.around)


def add_low_rank(encoder: nn.Module, rank: int, alpha: float = ALPHA) -> None:
    """Freeze an encoder; let its queries' and values' weights change by a rank (ibid., §4.2).

    Raises: ValueError if a layer is of another kind, or has been changed so already, or for the
    rank as `LowRank` does.
    """
    encoder.requires_grad_(False)
    for layer in self_attentions(encoder):
        check_plain(layer, MultiHeadAttention)
        q, k, v = layer.rows
        for rows in ((0, q), (q + k, q + k + v)):
            change = LowRank(layer.W_in, rows, rank, alpha)
            parametrize.register_parametrization(layer, "W_in", change)


def merge_low_rank(encoder: nn.Module) -> None:
    """Add what was learned to the weights, which stay frozen: then nothing costs more than before.

    The outputs are the same to the last bit.
    """
    for layer in self_attentions(encoder):
        if parametrize.is_parametrized(layer):
            parametrize.remove_parametrizations(layer, "W_in")


def self_attentions(encoder: nn.Module) -> Iterator[MultiHeadAttention]:
    """The layers of self-attention, in order."""
    return (layer for layer in encoder.modules() if isinstance(layer, MultiHeadAttention))


def n_trained(model: nn.Module) -> int:
    """Count the parameters that are trained."""
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)


def check_rank(rank: int, most: int) -> None:
    """Raise a ValueError if a product of two thin matrices can't have this rank."""
    if not isinstance(rank, Integral) or not 1 <= rank <= most:
        raise ValueError(f"The rank is a whole number from 1 to {most} here, got {rank!r}.")
