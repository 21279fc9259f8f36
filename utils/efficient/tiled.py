"""Tiles: exact softmax attention that never holds more than a tile of the scores.

FlashAttention (Dao et al., 2022) in plain PyTorch: a model of its algorithm, not of its speed.
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from utils.arguments import check_at_least
from utils.efficient.blocks import without_padding
from utils.transformer.layers import at_least_float32


def tiled_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    is_causal: bool = False,
    key_mask: Tensor | None = None,
    tile: int = 64,
) -> Tensor:
    """Compute softmax(q·k / √d_k) v in tiles (tile, tile): O(T·S) work, O(T + S) memory. Exact.

    Causal aligns the last query with the last key. No second derivatives.
    Shapes: query (B, h, T, d_k), key (B, h, S, d_k), value (B, h, S, d_v), key_mask (B, S), False
    at padding. Returns: context (B, h, T, d_v), 0 for a query that may attend to nothing.
    Raises: ValueError if shapes disagree, tile < 1, or S < T where it is causal.
    """
    key, value, key_mask = without_padding(query, key, value, key_mask)
    check_at_least(1, "The tile", tile)
    T, S = query.shape[2], key.shape[2]
    if is_causal and S < T:
        raise ValueError(f"The last query sees the last key, so S ≥ T, got T = {T} and S = {S}.")
    inputs = (at_least_float32(x) for x in (query, key, value))
    return TiledAttention.apply(*inputs, key_mask, is_causal, tile).to(value.dtype)


class TiledAttention(torch.autograd.Function):
    """The softmax of a row, found while its scores pass by; the gradient recomputes them."""

    @staticmethod
    def forward(ctx, query, key, value, key_mask, is_causal, tile):
        """Walk along each row of tiles with an online softmax (Dao et al., 2022, algorithm 1)."""
        context = query.new_empty(*query.shape[:3], value.shape[3])
        log_sum = query.new_empty(*query.shape[:3], 1)  # a row's log Σ exp(score)
        for rows in _cuts(query.shape[2], tile):
            largest = torch.full_like(log_sum[:, :, rows], -math.inf)  # m: (B, h, tile, 1)
            total = torch.zeros_like(largest)  # ℓ: Σ exp(score - m)
            summed = torch.zeros_like(context[:, :, rows])  # Σ exp(score - m)·v
            for columns in _columns(rows, query, key, is_causal, tile):
                scores = _scores(query, key, key_mask, rows, columns, is_causal)
                new = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
                finite = new.masked_fill(new == -math.inf, 0)  # nothing seen so far
                weights = (scores - finite).exp()
                rescale = (largest - finite).exp()  # what was summed below the old maximum
                total = rescale * total + weights.sum(dim=-1, keepdim=True)
                summed = rescale * summed + weights @ value[:, :, columns]
                largest = new
            nothing = total == 0
            context[:, :, rows] = summed / total.masked_fill(nothing, 1)
            log_sum[:, :, rows] = (largest + total.log()).masked_fill(nothing, 0)
        ctx.save_for_backward(query, key, value, key_mask, context, log_sum)
        ctx.is_causal, ctx.tile = is_causal, tile
        return context

    @staticmethod
    @once_differentiable
    def backward(ctx, d_context):
        """Recompute each tile of weights from the rows' sums (Dao et al., 2022, algorithm 4)."""
        query, key, value, key_mask, context, log_sum = ctx.saved_tensors
        scale = 1 / math.sqrt(query.shape[3])
        delta = (d_context * context).sum(dim=-1, keepdim=True)  # Σ_s weight·d_weight, by row
        d_query, d_key, d_value = (torch.zeros_like(x) for x in (query, key, value))
        for rows in _cuts(query.shape[2], ctx.tile):
            for columns in _columns(rows, query, key, ctx.is_causal, ctx.tile):
                scores = _scores(query, key, key_mask, rows, columns, ctx.is_causal)
                weights = (scores - log_sum[:, :, rows]).exp()  # they sum to 1 along the row
                d_weights = d_context[:, :, rows] @ value[:, :, columns].mT
                d_scores = scale * weights * (d_weights - delta[:, :, rows])
                d_query[:, :, rows] += d_scores @ key[:, :, columns]
                d_key[:, :, columns] += d_scores.mT @ query[:, :, rows]
                d_value[:, :, columns] += weights.mT @ d_context[:, :, rows]
        return d_query, d_key, d_value, None, None, None


def _cuts(size: int, tile: int) -> Iterator[slice]:
    for start in range(0, size, tile):
        yield slice(start, min(start + tile, size))


def _columns(
    rows: slice, query: Tensor, key: Tensor, is_causal: bool, tile: int
) -> Iterator[slice]:
    """Cut the keys that these rows may see: causal, none behind the last row's own."""
    T, S = query.shape[2], key.shape[2]
    return _cuts(rows.stop + S - T if is_causal else S, tile)


def _scores(
    query: Tensor, key: Tensor, key_mask: Tensor, rows: slice, columns: slice, is_causal: bool
) -> Tensor:
    """Compute one tile of q·k / √d_k, -∞ where nothing may be seen."""
    scores = (query[:, :, rows] / math.sqrt(query.shape[3])) @ key[:, :, columns].mT
    seen = key_mask[:, None, None, columns]
    if is_causal:
        t = torch.arange(rows.start, rows.stop, device=query.device)[:, None]
        s = torch.arange(columns.start, columns.stop, device=query.device)
        seen = seen & (s <= t + key.shape[2] - query.shape[2])
    return scores.masked_fill(~seen, -math.inf)
