"""A sliding window: each position sees its neighbours, and a few see all (Longformer)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from utils.arguments import check_at_least
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


def window_mask(
    T: int, window: int, *, global_positions: Sequence[int] = (), is_causal: bool = False
) -> Tensor:
    """Draw the pattern of `window_attention`: (T, T), True where query t sees key s."""
    t, s = torch.arange(T)[:, None], torch.arange(T)
    is_global = torch.zeros(T, dtype=torch.bool)
    is_global[list(global_positions)] = True
    seen = ((t - s).abs() <= window) | is_global[:, None] | is_global
    return seen & (s <= t) if is_causal else seen


def window_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    window: int,
    *,
    global_positions: Sequence[int] = (),
    is_causal: bool = False,
    key_mask: Tensor | None = None,
) -> Tensor:
    """Let query t see the keys s with |t - s| ≤ window (Beltagy et al., 2020, §3.1).

    A block of `window` queries looks at itself and at the blocks beside it, so that work and memory
    are O(T·window). Global positions see all and are seen by all; the paper projects them with
    weights of their own. Causal: nobody sees s > t, a global position neither.
    Shapes: query and key (B, h, T, d_k), value (B, h, T, d_v), key_mask (B, T), False at padding.
    Returns: context (B, h, T, d_v), 0 for a query that may attend to nothing.
    Raises: ValueError if shapes disagree, window < 1, or a global position does not exist.
    """
    key, value, key_mask = without_padding(query, key, value, key_mask)
    check_one_sequence(query, key)
    check_at_least(1, "The window", window)
    T, device = query.shape[2], query.device
    for position in global_positions:
        if not 0 <= position < T:
            raise ValueError(f"Global positions are in 0 … {T - 1}, got {position}.")
    g = torch.tensor(sorted(set(global_positions)), dtype=torch.long, device=device)  # (G,)
    size = min(window, T)
    q = to_blocks(query, size)  # (B, h, n, size, d_k)
    k, v = (neighbours(x, size, is_causal) for x in (key, value))  # (B, h, n, m, d)

    others = key_mask.clone()
    others[:, g] = False  # a global neighbour is seen once
    mask = neighbours_mask(size, window, is_causal, others)  # (B, 1, n, size, m)
    if len(g) == 0:
        return from_blocks(attend(q, k, v, mask), T)

    n = q.shape[2]
    t = torch.arange(n * size, device=device).view(n, size, 1)
    to_global = visible(g[None, None], key_mask) & ((g <= t) | (not is_causal))
    k, v = (
        torch.cat([near, x[:, :, None, g].expand(-1, -1, n, -1, -1)], dim=3)
        for near, x in ((k, key), (v, value))
    )  # (B, h, n, m + G, d)
    context = from_blocks(attend(q, k, v, torch.cat([mask, to_global], dim=-1)), T)

    s = torch.arange(T, device=device)
    from_global = key_mask[:, None, None] & ((s <= g[:, None]) | (not is_causal))  # (B, 1, G, T)
    return context.index_copy(2, g, attend(query[:, :, g], key, value, from_global))
