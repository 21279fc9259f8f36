"""What the forms share: full attention, and sequences cut into blocks.

A block is a run of neighbours that are computed together. Work that is done block by block needs
no tensor (T, S).
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.arguments import check_heads
from utils.attention import masked_softmax
from utils.self_attention import scaled_dot


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Compute softmax(q·k / √d_k) v: full attention (Vaswani et al., 2017, eq. 1).

    Shapes, after any leading axes: query (T, d_k), key (S, d_k), value (S, d_v), mask
    broadcastable to (T, S). Returns: context (T, d_v), 0 for a query that may attend to nothing.
    """
    return masked_softmax(scaled_dot.compare(query, key), mask) @ value


def real_keys(query: Tensor, key: Tensor, value: Tensor, key_mask: Tensor | None) -> Tensor:
    """Check what a form gets; return the key mask (B, S), or without one (1, S), all True."""
    check_heads(query, key, value, shared=False)
    B, S = key.shape[0], key.shape[2]
    if key_mask is None:
        return torch.ones(1, S, dtype=torch.bool, device=key.device)
    if key_mask.dtype != torch.bool or key_mask.shape != (B, S):
        raise ValueError(
            f"A key mask is boolean and (B, S) = ({B}, {S}), False where a key is padding, "
            f"got {key_mask.dtype} and {tuple(key_mask.shape)}."
        )
    return key_mask


def without_padding(
    query: Tensor, key: Tensor, value: Tensor, key_mask: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Do what `real_keys` does, and give padded keys and values zeros: 0 · NaN is NaN."""
    real = real_keys(query, key, value, key_mask)
    if key_mask is None:
        return key, value, real
    padding = ~real[:, None, :, None]  # (B, 1, S, 1)
    return torch.where(padding, 0, key), torch.where(padding, 0, value), real


# Blocks -------------------------------------------------------------------------------------------


def to_blocks(x: Tensor, size: int) -> Tensor:
    """Cut (B, h, T, d) into n = ⌈T / size⌉ blocks (B, h, n, size, d), the last filled with 0."""
    return F.pad(x, (0, 0, 0, -x.shape[2] % size)).unflatten(2, (-1, size))


def from_blocks(blocks: Tensor, T: int) -> Tensor:
    """Join blocks (B, h, n, size, d) to a sequence (B, h, T, d), and drop the filling."""
    return blocks.flatten(2, 3)[:, :, :T]


def neighbours(x: Tensor, size: int, is_causal: bool) -> Tensor:
    """Give each block itself and the block before it, and unless causal also the one after.

    Shapes: x (B, h, S, d). Returns: (B, h, n, m, d) with m = 2·size or 3·size, filled with 0
    before the beginning and behind the end.
    """
    n, after = -(-x.shape[2] // size), 0 if is_causal else size
    filled = F.pad(x, (0, 0, size, -x.shape[2] % size + after)).unflatten(2, (-1, size))
    return torch.cat([filled[:, :, i : i + n] for i in range(2 if is_causal else 3)], dim=3)


def neighbours_mask(size: int, reach: int, is_causal: bool, key_mask: Tensor) -> Tensor:
    """Say which neighbours are at most `reach` away from a query, and may be seen.

    Shapes: key_mask (B, S). Returns: (B, 1, n, size, m), for the scores of blocks of queries.
    """
    i = torch.arange(size, device=key_mask.device)[:, None]  # a query's place in its block
    j = torch.arange(-size, size if is_causal else 2 * size, device=key_mask.device)  # a key's
    within = (i - j).abs() <= reach  # (size, m), the same for each block
    if is_causal:
        within &= j <= i
    starts = torch.arange(0, key_mask.shape[1], size, device=key_mask.device)
    return within & visible(starts[:, None, None] + j, key_mask)


def visible(positions: Tensor, key_mask: Tensor) -> Tensor:
    """Say at which positions there is a key, and no padding.

    Shapes: positions (n, …) of any numbers, key_mask (B, S). Returns: (B, 1, n, …).
    """
    S = key_mask.shape[1]
    inside = (positions >= 0) & (positions < S)
    return (inside & key_mask[:, positions.clamp(0, S - 1)])[:, None]


def check_one_sequence(query: Tensor, key: Tensor) -> None:
    """Raise a ValueError if lengths differ where positions of queries and keys are compared."""
    if query.shape[2] != key.shape[2]:
        raise ValueError(
            "Queries and keys have to be of one sequence, since their positions are compared, got "
            f"{query.shape[2]} and {key.shape[2]}."
        )
