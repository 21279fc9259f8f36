"""Sparse patterns: strided and fixed (Sparse Transformer), and random blocks (BigBird).

The Sparse Transformer gives the two parts of a pattern to two heads, or merges them in one head
(Child et al., 2019, §5.1). Here they are merged: one softmax over both.
"""

import math

import torch
from torch import Tensor

from utils.arguments import check_at_least
from utils.attention import masked_softmax
from utils.efficient.blocks import (
    attend,
    check_one_sequence,
    from_blocks,
    neighbours,
    neighbours_mask,
    to_blocks,
    visible,
    without_padding,
)


def strided_mask(T: int, stride: int, *, is_causal: bool = False) -> Tensor:
    """Draw the pattern of `strided_attention`: (T, T), True where query t sees key s."""
    t, s = torch.arange(T)[:, None], torch.arange(T)
    seen = ((t - s).abs() <= stride) | ((t - s) % stride == 0)
    return seen & (s <= t) if is_causal else seen


def strided_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    stride: int,
    *,
    is_causal: bool = False,
    key_mask: Tensor | None = None,
) -> Tensor:
    """See the `stride` positions before, and every stride-th one (Child et al., 2019, §4.3).

    With the sequence written in rows of `stride`, a query sees its neighbours and its column. Work
    and memory are O(T·(stride + T / stride)): at stride = √T, O(T·√T). The paper's pattern is the
    causal one; otherwise its mirror image is seen, too.
    Shapes: query and key (B, h, T, d_k), value (B, h, T, d_v), key_mask (B, T), False at padding.
    Returns: context (B, h, T, d_v), 0 for a query that may attend to nothing.
    Raises: ValueError if shapes disagree or stride < 1.
    """
    key, value, key_mask = without_padding(query, key, value, key_mask)
    check_one_sequence(query, key)
    check_at_least(1, "The stride", stride)
    T, device = query.shape[2], query.device
    size = min(stride, T)
    q = to_blocks(query / math.sqrt(query.shape[3]), size)  # (B, h, n, size, d_k)
    n = q.shape[2]
    k_near, v_near = (neighbours(x, size, is_causal) for x in (key, value))  # (B, h, n, m, d)
    k_column, v_column = (to_blocks(x, size).transpose(2, 3) for x in (key, value))
    near = q @ k_near.mT  # (B, h, n, size, m)
    column = (q.transpose(2, 3) @ k_column.mT).transpose(2, 3)  # (B, h, n, size, n)

    row = torch.arange(n, device=device)
    above = row[:, None, None] - row  # (n, 1, n): how many rows a key lies above a query
    apart = above >= 2 if is_causal else above.abs() >= 2  # nearer ones are neighbours
    s = torch.arange(n * size, device=device).view(n, size).T  # (size, n)
    column_mask = apart & visible(s[None], key_mask)  # (B, 1, n, size, n)
    near_mask = neighbours_mask(size, stride, is_causal, key_mask)

    mask = torch.cat([near_mask, column_mask], dim=-1)
    weights = masked_softmax(torch.cat([near, column], dim=-1), mask)
    near, column = weights.split([near.shape[-1], n], dim=-1)
    context = near @ v_near + (column.transpose(2, 3) @ v_column).transpose(2, 3)
    return from_blocks(context, T)


def fixed_mask(T: int, stride: int, n_summary: int = 1, *, is_causal: bool = False) -> Tensor:
    """Draw the pattern of `fixed_attention`: (T, T), True where query t sees key s."""
    t, s = torch.arange(T)[:, None], torch.arange(T)
    seen = (t // stride == s // stride) | (s % stride >= stride - n_summary)
    return seen & (s <= t) if is_causal else seen


def fixed_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    stride: int,
    n_summary: int = 1,
    *,
    is_causal: bool = False,
    key_mask: Tensor | None = None,
) -> Tensor:
    """See the own block, and the ends of all the blocks (Child et al., 2019, §4.3).

    The last `n_summary` positions (the paper's c) of a block hand on what it holds. Work and memory
    are O(T·(stride + n_summary·T / stride)). The paper's pattern is the causal one.
    Shapes: query and key (B, h, T, d_k), value (B, h, T, d_v), key_mask (B, T), False at padding.
    Returns: context (B, h, T, d_v), 0 for a query that may attend to nothing.
    Raises: ValueError if shapes disagree, stride < 1, or n_summary is not in 1 … stride.
    """
    key, value, key_mask = without_padding(query, key, value, key_mask)
    check_one_sequence(query, key)
    check_at_least(1, "The stride", stride)
    if not 1 <= n_summary <= stride:
        raise ValueError(f"Of {stride} positions, 1 … {stride} can sum them up, got {n_summary}.")
    T, device = query.shape[2], query.device
    size = min(stride, T)
    q, k, v = (to_blocks(x, size) for x in (query, key, value))  # (B, h, n, size, d)
    n = q.shape[2]
    s = torch.arange(n * size, device=device).view(n, size)
    own = torch.ones(size, size, dtype=torch.bool, device=device)
    own_mask = (own.tril() if is_causal else own) & visible(s[:, None], key_mask)

    end = s[:, -n_summary:].flatten()  # (E,): all positions that sum up
    k_end, v_end = (x[:, :, :, -n_summary:].flatten(2, 3)[:, :, None] for x in (k, v))
    k = torch.cat([k, k_end.expand(-1, -1, n, -1, -1)], dim=3)  # (B, h, n, size + E, d_k)
    v = torch.cat([v, v_end.expand(-1, -1, n, -1, -1)], dim=3)
    block = torch.arange(n, device=device)[:, None, None]
    other = end // size < block if is_causal else end // size != block  # (n, 1, E)
    end_mask = (other & visible(end[None, None], key_mask)).expand(-1, -1, -1, size, -1)
    return from_blocks(attend(q, k, v, torch.cat([own_mask, end_mask], dim=-1)), T)


@torch.compiler.assume_constant_result  # the same seed draws the same blocks
def random_blocks(n_blocks: int, n_global: int, n_random: int, seed: int) -> tuple[Tensor, Tensor]:
    """Draw for each block `n_random` others, neither global ones nor neighbours.

    Returns: their numbers (n_blocks, r), and which of them count (n_blocks, r): near the ends of a
    short sequence there may be fewer to draw from.
    """
    i = torch.arange(n_blocks)
    chances = torch.rand(n_blocks, n_blocks, generator=torch.Generator().manual_seed(seed))
    chances[(i[:, None] - i).abs() <= 1] = -1
    chances[:, :n_global] = -1
    chances, drawn = chances.topk(min(n_random, n_blocks), dim=1)
    return drawn, chances >= 0


def bigbird_mask(
    T: int, block: int, *, n_global: int = 1, n_random: int = 1, seed: int = 0
) -> Tensor:
    """Draw the pattern of `bigbird_attention`: (T, T), True where query t sees key s."""
    n = -(-T // block)
    drawn, counts = random_blocks(n, n_global, n_random, seed)
    is_drawn = torch.zeros(n, n, dtype=torch.bool)
    is_drawn[torch.arange(n)[:, None].expand_as(drawn)[counts], drawn[counts]] = True
    t, s = torch.arange(T)[:, None] // block, torch.arange(T) // block  # numbers of blocks
    return ((t - s).abs() <= 1) | (t < n_global) | (s < n_global) | is_drawn[t, s]


def bigbird_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    block: int,
    *,
    n_global: int = 1,
    n_random: int = 1,
    seed: int = 0,
    key_mask: Tensor | None = None,
) -> Tensor:
    """See the blocks beside, the first blocks, and random ones (Zaheer et al., 2020, §2, app. D).

    Whole blocks are seen or not. The first `n_global` also see all (the paper's "internal"
    construction). Work and memory are O(T·block·(3 + n_global + n_random)).
    Shapes: query and key (B, h, T, d_k), value (B, h, T, d_v), key_mask (B, T), False at padding.
    Returns: context (B, h, T, d_v), 0 for a query that may attend to nothing.
    Raises: ValueError if shapes disagree, block < 1, or a number of blocks is negative.
    """
    key, value, key_mask = without_padding(query, key, value, key_mask)
    check_one_sequence(query, key)
    check_at_least(1, "The block", block)
    check_at_least(0, "The number of global blocks", n_global)
    check_at_least(0, "The number of random blocks", n_random)
    T, device = query.shape[2], query.device
    size = min(block, T)
    q, k, v = (to_blocks(x, size) for x in (query, key, value))  # (B, h, n, size, d)
    n = q.shape[2]

    i = torch.arange(n)[:, None]
    beside = i + torch.arange(-1, 2)  # (n, 3)
    first = torch.arange(min(n_global, n)).expand(n, -1)
    drawn, counts = random_blocks(n, n_global, n_random, seed)
    seen = torch.cat([beside, first, drawn], dim=1).to(device)  # (n, r): numbers of blocks
    new = (beside >= n_global) & (beside < n)  # neither seen already nor behind the end
    counts = torch.cat([new, first >= 0, counts], dim=1).to(device)

    s = (seen[:, :, None] * size + torch.arange(size, device=device)).flatten(1)  # (n, m)
    mask = counts.repeat_interleave(size, dim=1)[:, None] & visible(s[:, None], key_mask)
    chosen = seen.clamp(0, n - 1).flatten()  # (n·r,)
    k, v = (
        x.index_select(2, chosen).unflatten(2, (n, -1)).flatten(3, 4) for x in (k, v)
    )  # (B, h, n, m, d)
    context = from_blocks(attend(q, k, v, mask), T)
    G = min(n_global * size, T)  # queries of global blocks
    sees_all = attend(query[:, :, :G], key, value, key_mask[:, None, None])
    return torch.cat([sees_all, context[:, :, G:]], dim=2)
