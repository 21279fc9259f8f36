"""Day 5: positions. Attention sees a set; these tell it where in the sequence each member stands.

Shapes: a sequence is (B, T, d_model), a head's queries or keys (B, h, T, d_k). Positions count from
`start`: 0, or in cached generation the number of symbols that are already held.
"""

import torch
from torch import Tensor, nn

from utils.arguments import check_sequences, check_sizes


def _angles(T: int, d: int, start: int, base: float) -> Tensor:
    """Return m·base^(-2i/d) for positions m and pairs i, (T, ⌈d/2⌉).

    In float64: of an angle near 10 000, float32 keeps only three decimals.
    """
    m = torch.arange(start, start + T, dtype=torch.float64)
    i = torch.arange((d + 1) // 2, dtype=torch.float64)
    return m[:, None] * base ** (-2 * i / d)


# Added to the sequence ----------------------------------------------------------------------------


def sinusoidal(
    T: int,
    d_model: int,
    start: int = 0,
    base: float = 10_000.0,
    dtype: torch.dtype | None = None,
) -> Tensor:
    """Return waves from fast to slow, read off at T positions (Vaswani et al., 2017, §3.5).

    Shapes: (T, d_model). Column 2i is sin(m·base^(-2i/d_model)), column 2i + 1 the cosine of the
    same angle; of an odd width the last column is a sine.
    Raises: ValueError if T or d_model is below 1.
    """
    check_sizes(T=T, d_model=d_model)
    angles = _angles(T, d_model, start, base)
    waves = torch.empty(T, d_model, dtype=angles.dtype)
    waves[:, 0::2] = angles.sin()
    waves[:, 1::2] = angles[:, : d_model // 2].cos()
    return waves.to(dtype or torch.get_default_dtype())


class SinusoidalPositions(nn.Module):
    """Add to each symbol the waves of its position: nothing to learn, no last position.

    Shapes: x (B, T, d_model) to the same.
    Raises: ValueError if x has another width, or is empty.
    """

    def __init__(self, d_model: int):
        super().__init__()
        check_sizes(d_model=d_model)
        self.d_model = d_model

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        check_sequences(x, self.d_model, None)
        return x + sinusoidal(x.shape[1], self.d_model, start, dtype=x.dtype).to(x.device)


class LearnedPositions(nn.Module):
    """Add to each symbol what was learned for its position (Gehring et al., 2017, §3.1).

    Shapes: x (B, T, d_model) to the same; the table is (max_len, d_model) and begins with a
    deviation of 0.02, as in GPT (Radford et al., 2018, §4.1).
    Raises: ValueError if x has another width, is empty, or goes beyond the table.
    """

    def __init__(self, max_len: int, d_model: int):
        super().__init__()
        check_sizes(max_len=max_len, d_model=d_model)
        self.max_len, self.d_model = max_len, d_model
        self.table = nn.Parameter(0.02 * torch.randn(max_len, d_model))

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        check_sequences(x, self.d_model, None)
        end = start + x.shape[1]
        if start < 0 or end > self.max_len:
            raise ValueError(
                f"Positions 0 to {self.max_len - 1} were learned, and the sequence takes {start} "
                f"to {end - 1}: shorten it, or build the layer with a larger max_len."
            )
        return x + self.table[start:end]


# Turned into queries and keys ---------------------------------------------------------------------


class Rotary(nn.Module):
    """Turn each pair of neighbours by an angle that grows with the position (Su et al., 2021).

    Equation 34 there: the pair (x_{2i}, x_{2i+1}) at position m turns by m·base^(-2i/d_k). With
    queries and keys both turned, ⟨R_m q, R_n k⟩ = ⟨q, R_{n-m} k⟩: a score knows the distance alone.

    Shapes: x (..., T, d_k), as a head's (B, h, T, d_k), to the same.
    Raises: ValueError if d_k is odd, or x has another width or no position.
    """

    def __init__(self, d_k: int, base: float = 10_000.0):
        super().__init__()
        check_sizes(d_k=d_k)
        if d_k % 2:
            raise ValueError(f"Rotary positions turn pairs, so d_k is even, got {d_k}.")
        self.d_k, self.base = d_k, base

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        if x.dim() < 2 or x.shape[-1] != self.d_k or x.shape[-2] == 0:
            raise ValueError(
                f"Expected (..., T, {self.d_k}) with at least one position, got {tuple(x.shape)}."
            )
        angles = _angles(x.shape[-2], self.d_k, start, self.base)  # (T, d_k/2)
        cos, sin = angles.cos().to(x), angles.sin().to(x)
        even, odd = x[..., 0::2], x[..., 1::2]
        pairs = torch.stack([even * cos - odd * sin, odd * cos + even * sin], dim=-1)
        return pairs.flatten(-2)
