"""Day 5: positions. Attention sees a set; these tell it where in the sequence each member stands.

Shapes: a sequence is (B, T, d_model), a head's queries or keys (B, h, T, d_k). Positions count from
`start`: 0, or in cached generation the number of symbols that are already held. Where sequences of
a batch are padded in front, each has a start of its own, (B,), below 0 for what is padding.
"""

import torch
from torch import Tensor, nn

from utils.arguments import check_sequences, check_sizes


def _from(start: int | Tensor, T: int) -> Tensor:
    """Return T positions from the start, (T,), or from each start (B,), (B, T)."""
    if isinstance(start, Tensor):
        return start[:, None] + torch.arange(T, device=start.device)
    return torch.arange(start, start + T)


def _angles(T: int, d: int, start: int | Tensor, base: float) -> Tensor:
    """Return m·base^(-2i/d) for positions m and pairs i, (T, ⌈d/2⌉), or (B, T, ⌈d/2⌉).

    In float64: of an angle near 10 000, float32 keeps only three decimals.
    """
    m = _from(start, T).double()
    i = torch.arange((d + 1) // 2, dtype=torch.float64, device=m.device)
    return m[..., None] * base ** (-2 * i / d)


# Added to the sequence ----------------------------------------------------------------------------


def sinusoidal(
    T: int,
    d_model: int,
    start: int | Tensor = 0,
    base: float = 10_000.0,
    dtype: torch.dtype | None = None,
) -> Tensor:
    """Return waves from fast to slow, read off at T positions (Vaswani et al., 2017, §3.5).

    Shapes: (T, d_model), from starts (B,) on (B, T, d_model). Column 2i: sin(m·base^(-2i/d_model)),
    column 2i + 1 the cosine of the same angle; of an odd width the last column is a sine.
    Raises: ValueError if T or d_model is below 1.
    """
    check_sizes(T=T, d_model=d_model)
    angles = _angles(T, d_model, start, base)
    waves = angles.new_empty(*angles.shape[:-1], d_model)
    waves[..., 0::2] = angles.sin()
    waves[..., 1::2] = angles[..., : d_model // 2].cos()
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

    def forward(self, x: Tensor, start: int | Tensor = 0) -> Tensor:
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

    def forward(self, x: Tensor, start: int | Tensor = 0) -> Tensor:
        check_sequences(x, self.d_model, None)
        check_learned(start, x.shape[1], self.max_len)
        if isinstance(start, Tensor):
            return x + self.table[_from(start, x.shape[1]).clamp(min=0)]  # padding takes the first
        return x + self.table[start : start + x.shape[1]]


# Turned into queries and keys ---------------------------------------------------------------------

AHEAD = 64  # positions that are prepared at once, at least


class Turns:
    """Cosines and sines of the angles by which pairs turn, kept from one pass to the next.

    They are made once for a stretch of positions, where the queries are and in their numbers, and
    anew where a call goes beyond. While a step is compiled nothing is kept: they are part of it.

    Called with frequencies (d_k/2,) in float64, x (..., T, d_k) and a position from 0 on; returns
    both for T positions, (T, d_k/2).
    """

    def __init__(self):
        self.frequencies, self.first, self.kept = None, 0, ()

    def __call__(self, frequencies: Tensor, x: Tensor, start: int) -> tuple[Tensor, ...]:
        T = x.shape[-2]
        if torch.compiler.is_compiling():
            return _turns(frequencies.to(x.device), x, start, T)
        if not self._hold(frequencies, x, start):
            with torch.inference_mode(False):  # else no gradient could pass them later
                self.kept = _turns(frequencies, x, start, max(T, AHEAD))
            self.frequencies, self.first = frequencies, start
        place = start - self.first
        return tuple(wave[place : place + T] for wave in self.kept)

    def _hold(self, frequencies: Tensor, x: Tensor, start: int) -> bool:
        if frequencies is not self.frequencies:
            return False
        (wave, _), place = self.kept, start - self.first
        alike = (wave.device, wave.dtype) == (x.device, x.dtype)
        return alike and 0 <= place <= len(wave) - x.shape[-2]


def _turns(frequencies: Tensor, x: Tensor, start: int, T: int) -> tuple[Tensor, Tensor]:
    m = torch.arange(start, start + T, device=frequencies.device).double()
    angles = m[:, None] * frequencies
    return angles.cos().to(x), angles.sin().to(x)


class Rotary(nn.Module):
    """Turn each pair of neighbours by an angle that grows with the position (Su et al., 2021).

    Equation 34 there: the pair (x_{2i}, x_{2i+1}) at position m turns by m·base^(-2i/d_k). With
    queries and keys both turned, ⟨R_m q, R_n k⟩ = ⟨q, R_{n-m} k⟩: a score depends on n - m alone.

    Shapes: x (..., T, d_k), as a head's (B, h, T, d_k), to the same.
    Raises: ValueError if d_k is odd, or x has another width or no position.
    """

    def __init__(self, d_k: int, base: float = 10_000.0):
        super().__init__()
        check_sizes(d_k=d_k)
        if d_k % 2:
            raise ValueError(f"Rotary positions turn pairs, so d_k is even, got {d_k}.")
        self.d_k, self.turns = d_k, Turns()
        self.frequencies = base ** (-2 * torch.arange(d_k // 2).double() / d_k)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        if x.dim() < 2 or x.shape[-1] != self.d_k or x.shape[-2] == 0:
            raise ValueError(
                f"Expected (..., T, {self.d_k}) with at least one position, got {tuple(x.shape)}."
            )
        cos, sin = self.turns(self.frequencies, x, start)  # (T, d_k/2)
        even, odd = x[..., 0::2], x[..., 1::2]
        pairs = torch.stack([even * cos - odd * sin, odd * cos + even * sin], dim=-1)
        return pairs.flatten(-2)


# Added to the scores ------------------------------------------------------------------------------


def alibi_slopes(n_heads: int, published: bool = False) -> Tensor:
    """Return by how much a score falls with each step of distance, (h,) (Press et al., 2022, §3).

    The paper's formula: slope i of h is 2^(-8i/h). The authors' published code gives the same where
    h is a power of 2. Otherwise (published=True) it takes the slopes of the next lower power of 2,
    n, and then of those of 2n the first, third, … until there are h.
    Raises: ValueError if there is no head.
    """
    check_sizes(n_heads=n_heads)
    if not published:
        return 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    n = 1 << (n_heads.bit_length() - 1)
    return torch.cat([alibi_slopes(n), alibi_slopes(2 * n)[0::2][: n_heads - n]])


class Alibi(nn.Module):
    """What is added to the scores instead of positions: -slope · distance, head by head (ibid.).

    A function of T and S, as `self_attention.BiasedAttention` takes one: the last query stands at
    the last key. What lies ahead, where no causal mask hides it, loses as what lies behind.
    Shapes: (h, T, S).
    Raises: ValueError if there is no head.
    """

    def __init__(self, n_heads: int, published: bool = False):
        super().__init__()
        self.register_buffer("slopes", alibi_slopes(n_heads, published), persistent=False)

    def forward(self, T: int, S: int) -> Tensor:
        t = torch.arange(S - T, S, device=self.slopes.device)[:, None]
        s = torch.arange(S, device=self.slopes.device)
        return -self.slopes[:, None, None] * (t - s).abs()


def check_learned(start: int | Tensor, T: int, max_len: int) -> None:
    """Raise a ValueError if T positions from the start, or from each start (B,), are not learned.

    In a batch what stands before position 0 is padding. A compiled step does not read the starts.
    """
    in_a_batch = isinstance(start, Tensor)
    if in_a_batch and (torch.compiler.is_compiling() or not len(start)):
        return
    first = int(start.max()) if in_a_batch else start
    if first + T > max_len or (first < 0 and not in_a_batch):
        raise ValueError(
            f"Positions 0 to {max_len - 1} were learned, and the sequence takes {first} "
            f"to {first + T - 1}: shorten it, or build the layer with a larger max_len."
        )
