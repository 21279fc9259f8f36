"""Day 5: masks, and the one mechanism, in all heads at once.

Shapes: queries (B, h, T, d_k), keys (B, h, S, d_k), values (B, h, S, d_v), scores and weights
(B, h, T, S). A mask is boolean, True = may be attended to, and broadcasts to (B, h, T, S).
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.attention import ScaledDotScore, masked_softmax

SCORE = ScaledDotScore()  # Day 4's, in every head

# Masks --------------------------------------------------------------------------------------------


def causal_mask(T: int, S: int | None = None, device: torch.device | None = None) -> Tensor:
    """Return (T, S): True where a query may look, at the keys up to its own position.

    The last query sees the last key. So with S > T the queries are the last T of S positions, as
    in cached generation. Without S, there are as many keys as queries.
    Raises: ValueError if there is no query, or there are fewer keys than queries.
    """
    S = T if S is None else S
    if not 1 <= T <= S:
        raise ValueError(
            f"A causal mask needs at least one query and a key for each, got {T} queries and "
            f"{S} keys."
        )
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(S - T)


def with_four_axes(mask: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Check that a mask fits the scores (B, h, T, S), and give it their four axes."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        kind = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise ValueError(
            f"A mask is a boolean tensor, True where attention is allowed, got {kind}: compare "
            "first, as in `ids != PAD`."
        )
    if mask.dim() == 3 and mask.shape[0] > 1:  # with B = h it would broadcast in silence
        raise ValueError(
            f"A mask of three axes, {tuple(mask.shape)}, leaves open whether the first counts "
            "sequences or heads: write mask[:, None] for sequences, mask[None] for heads."
        )
    try:
        mask.expand(shape)
    except RuntimeError:
        raise ValueError(
            f"A mask of shape {tuple(mask.shape)} does not broadcast to the scores {shape}: "
            "one for each sequence is (B, 1, 1, S)."
        ) from None
    return mask[(None,) * (4 - mask.dim())]


# One mechanism, all heads at once -----------------------------------------------------------------


def dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    need_weights: bool = False,
    dropout: float = 0.0,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Average values, weighted by softmax(q·k / √d_k) (Vaswani et al., 2017, eq. 1).

    Shapes: query (B, h, T, d_k), key (B, h, S, d_k), value (B, h, S, d_v), mask broadcastable to
    (B, h, T, S). There may be fewer heads of keys and values, n_kv, if n_kv divides h: h / n_kv
    neighbouring heads of queries then share one (Ainslie et al., 2023, §2.2).
    dropout: the share of weights that is set to 0, the rest growing to make up for it.
    is_causal: mask the future too; the last query sees the last key.
    Returns: context (B, h, T, d_v) and the weights before dropout (B, h, T, S), or None unless they
    are needed: the library's fused kernel then need not store them. A query that may attend to
    nothing gets zeros, with finite gradients.
    Raises: ValueError if sizes disagree or there is no key, if the mask is not boolean or does not
    broadcast, or if a causal query has no key of its own.
    """
    _check_heads(query, key, value)
    T, S = query.shape[2], key.shape[2]
    if mask is not None:
        mask = with_four_axes(mask, (*query.shape[:3], S))
    is_causal = is_causal and T > 1  # a single query is the last, and sees every key
    if is_causal and (need_weights or mask is not None or T != S):  # the kernel aligns to the first
        causal = causal_mask(T, S, query.device)[None, None]
        mask, is_causal = causal if mask is None else mask & causal, False
    if need_weights:
        return _with_weights(query, key, value, mask, dropout)
    shared = query.shape[1] != key.shape[1]
    context = F.scaled_dot_product_attention(
        query, key, value, mask, dropout, is_causal, enable_gqa=shared
    )
    return context, None


def _with_weights(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout: float
) -> tuple[Tensor, Tensor]:
    (B, h, T, d_k), (_, n_kv, S, d_v) = query.shape, value.shape
    together = query.reshape(B, n_kv, -1, d_k)  # heads that share keys: one longer row of queries
    scores = SCORE.compare(together, key).view(B, h, T, S)
    weights = masked_softmax(scores, mask)
    kept = F.dropout(weights, dropout) if dropout else weights
    context = kept.view(B, n_kv, -1, S) @ value
    return context.view(B, h, T, d_v), weights


def _check_heads(query: Tensor, key: Tensor, value: Tensor) -> None:
    fitting = (
        query.dim() == key.dim() == value.dim() == 4
        and query.numel()
        and key.numel()
        and query.shape[0] == key.shape[0]
        and query.shape[1] % key.shape[1] == 0
        and query.shape[3] == key.shape[3]
        and key.shape[:3] == value.shape[:3]
    )
    if not fitting:
        shapes = ", ".join(str(tuple(x.shape)) for x in (query, key, value))
        raise ValueError(
            "Expected queries (B, h, T, d_k), keys (B, n_kv, S, d_k) and values (B, n_kv, S, d_v), "
            f"none of them empty and h a multiple of n_kv, got {shapes}."
        )
