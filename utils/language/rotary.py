"""Day 9: rotary positions as Llama has them: other pairs than the paper's, and stretched waves.

Shapes: a head's queries or keys (B, h, T, d_k), frequencies (d_k/2,) in radians per position.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from utils.arguments import check_sizes
from utils.positions import Turns

Stretch = Callable[[Tensor], Tensor]  # of frequencies


class RotaryHalves(nn.Module):
    """Turn pair i, (x_i, x_{i+d/2}), by m·base^(-2i/d_k) at position m.

    `positions.Rotary` turns neighbours, (x_{2i}, x_{2i+1}), as the paper does (Su et al., 2021).
    Published models with Llama's layout pair the halves, which is the same up to the order of W_q's
    and W_k's rows.

    stretch: makes other frequencies of base^(-2i/d_k), as `stretch_evenly` and `stretch_slow` do,
        for texts that are longer than those of the training.
    Shapes: x (..., T, d_k) to the same; T positions from `start` on.
    Raises: ValueError if d_k is odd, or x has another width or no position.
    """

    def __init__(self, d_k: int, base: float = 10_000.0, stretch: Stretch | None = None):
        super().__init__()
        check_sizes(d_k=d_k)
        if d_k % 2:
            raise ValueError(f"Rotary positions turn pairs, so d_k is even, got {d_k}.")
        self.d_k, self.turns = d_k, Turns()
        frequencies = base ** (-2 * torch.arange(d_k // 2).double() / d_k)
        self.frequencies = frequencies if stretch is None else stretch(frequencies)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        if x.dim() < 2 or x.shape[-1] != self.d_k or x.shape[-2] == 0:
            raise ValueError(
                f"Expected (..., T, {self.d_k}) with at least one position, got {tuple(x.shape)}."
            )
        cos, sin = self.turns(self.frequencies, x, start)  # (T, d_k/2)
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


def stretch_evenly(frequencies: Tensor, factor: float) -> Tensor:
    """Slow all waves: position m turns as m / factor did (Chen et al., 2023, §2.3)."""
    return frequencies / factor


def stretch_slow(
    frequencies: Tensor, factor: float, low: float, high: float, context: int
) -> Tensor:
    """Slow the waves that did not turn often in the training's context, as Llama 3.1 does.

    A wave that turns `high` times or more in `context` positions stays as it is; one that turns
    `low` times or less is slowed by the factor; in between, both are mixed.
    """
    turns = context * frequencies / (2 * math.pi)
    kept = ((turns - low) / (high - low)).clamp(0, 1)
    return kept * frequencies + (1 - kept) * frequencies / factor
