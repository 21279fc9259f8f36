"""Day 4: scores and the mechanism, for 32 sources of 50 symbols and as many queries."""

from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.runner import Case, with_parameters
from utils.attention import AdditiveScore, Attention, ConcatScore, ScaledDotScore, padding_mask

GENERATOR = torch.Generator().manual_seed(0)
draw = partial(torch.randn, generator=GENERATOR)

B, T, S, N = 32, 50, 50, 128
SIZES = f"{B}×{T}×{S}, {N} wide"
QUERY, KEYS, VALUES = draw(B, T, N), draw(B, S, N), draw(B, S, N)
MASK = padding_mask(torch.arange(B) + S - B + 1, S)
W_A, U_A, V_A = draw(N, N) / N**0.5, draw(N, N) / N**0.5, draw(N) / N**0.5


def broadcast(query: Tensor, keys: Tensor, W_a: Tensor, U_a: Tensor, v: Tensor) -> Tensor:
    """Write the additive score down as one does in plain PyTorch."""
    return torch.tanh((query @ W_a.mT)[:, :, None] + (keys @ U_a.mT)[:, None]) @ v


def context(query: Tensor, keys: Tensor, values: Tensor, need_weights: bool) -> Tensor:
    return Attention(ScaledDotScore())(query, keys, values, MASK, need_weights)[0]


def fused(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    one_head = (x[:, None] for x in (query, keys, values))
    return F.scaled_dot_product_attention(*one_head, attn_mask=MASK[:, None])[:, 0]


ADDITIVE = Case(
    f"AdditiveScore beside plain PyTorch, {SIZES}",
    with_parameters(AdditiveScore(N, N, N), ["W_a.weight", "U_a.weight", "v"], n_inputs=2),
    broadcast,
    (QUERY, KEYS, W_A, U_A, V_A),
    bound=1.2,
)

CASES = [
    ADDITIVE,
    Case(
        f"ConcatScore beside additive (the definition, to read), {SIZES}",
        with_parameters(ConcatScore(N, N, N), ["W.weight", "v"], n_inputs=2),
        lambda query, keys, W, v: broadcast(query, keys, W[:, :N], W[:, N:], v),
        (QUERY, KEYS, torch.cat([W_A, U_A], dim=1), V_A),
    ),
    Case(
        f"Attention, scaled dot, without weights, {SIZES}",
        partial(context, need_weights=False),
        fused,
        (QUERY, KEYS, VALUES),
    ),
    Case(
        f"Attention, scaled dot, with weights, {SIZES}",
        partial(context, need_weights=True),
        fused,
        (QUERY, KEYS, VALUES),
    ),
]
