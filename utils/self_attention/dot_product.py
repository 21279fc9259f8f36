"""Day 5: masks, and the one mechanism, in all heads at once.

Shapes: queries (B, h, T, d_k), keys (B, h, S, d_k), values (B, h, S, d_v), scores and weights
(B, h, T, S). A mask is boolean, True = may be attended to, and broadcasts to (B, h, T, S): one of
two axes is (T, S), also where B = T, and one of padding (B, 1, 1, S).
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_heads, check_mask
from utils.attention import ScaledDotScore, masked_softmax

scaled_dot = ScaledDotScore()  # Day 4's, in every head

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


# One mechanism, all heads at once -----------------------------------------------------------------


def dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    need_weights: bool = False,
    dropout: float = 0.0,
    is_causal: bool = False,
    bias: Tensor | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Average values, weighted by softmax(q·k / √d_k) (Vaswani et al., 2017, eq. 1).

    Shapes: query (B, h, T, d_k), key (B, h, S, d_k), value (B, h, S, d_v), mask and bias
    broadcastable to (B, h, T, S). There may be fewer heads of keys and values, n_kv, if n_kv
    divides h: h / n_kv neighbouring heads of queries share one (Ainslie et al., 2023, §2.2).
    dropout: the share of weights that is set to 0, the rest growing to make up for it.
    is_causal: mask the future too; the last query sees the last key.
    bias: is added to the scores.
    Returns: context (B, h, T, d_v) and the weights before dropout (B, h, T, S), or None unless they
    are needed: the fused kernel need not store them. A query that sees nothing gets zeros.
    Raises: ValueError if sizes disagree or there is no key, if the mask is not boolean or does not
    broadcast, or if a causal query has no key of its own.
    """
    key, value, mask = _checked(query, key, value, mask, bias)
    (T, S), plain = (query.shape[2], key.shape[2]), mask is None and bias is None
    is_causal = is_causal and T > 1  # a single query is the last, and sees every key
    if is_causal and (need_weights or T != S or not plain):  # the kernel aligns to the first
        causal = causal_mask(T, S, query.device)[None, None]
        mask, is_causal = causal if mask is None else mask & causal, False
    if need_weights:
        return _with_weights(query, key, value, mask, bias, dropout)
    shared, added = query.shape[1] != key.shape[1], _added(mask, bias, query)
    context = F.scaled_dot_product_attention(
        query, key, value, added, dropout, is_causal, enable_gqa=shared
    )
    return context, None


def _checked(query, key, value, mask, bias) -> tuple[Tensor, Tensor, Tensor | None]:
    """Check all; give the mask four axes, and keys and values that nobody may see zeros.

    A weight of 0 alone would not keep them out: 0 · NaN is NaN.
    """
    check_heads(query, key, value, shared=True)
    shape = (*query.shape[:3], key.shape[2])
    if bias is not None:
        if not bias.is_floating_point():
            raise ValueError(
                f"A bias holds numbers to add to scores, got {bias.dtype}: is it a mask?"
            )
        sizes = zip(reversed(bias.shape), reversed(shape), strict=False)
        if bias.dim() > len(shape) or any(ours not in (1, theirs) for ours, theirs in sizes):
            raise ValueError(
                f"A bias of shape {tuple(bias.shape)} does not broadcast to the scores "
                f"{tuple(shape)}."
            )
    if mask is None:
        return key, value, None
    check_mask(mask, shape)
    mask = mask[(None,) * (4 - mask.dim())]
    unseen = ~mask.any(dim=2).any(dim=1)[:, None, :, None]  # (B or 1, 1, S or 1, 1)
    return torch.where(unseen, 0, key), torch.where(unseen, 0, value), mask


def _added(mask: Tensor | None, bias: Tensor | None, query: Tensor) -> Tensor | None:
    """Return what the kernel adds to the scores: it takes a mask or a bias, not both."""
    if bias is None:
        return mask
    bias = bias.to(query)
    return bias if mask is None else bias.masked_fill(~mask, -math.inf)


def _with_weights(query, key, value, mask, bias, dropout) -> tuple[Tensor, Tensor]:
    (B, h, T, d_k), (_, n_kv, S, d_v) = query.shape, value.shape
    together = query.reshape(B, n_kv, h // n_kv * T, d_k)  # heads that share keys: one longer row
    scores = scaled_dot.compare(together, key).view(B, h, T, S)
    weights = masked_softmax(scores if bias is None else scores + bias, mask)
    kept = F.dropout(weights, dropout) if dropout else weights
    context = kept.view(*together.shape[:3], S) @ value
    return context.view(B, h, T, d_v), weights


class BiasedAttention(nn.Module):
    """`dot_product_attention` with a bias that depends on the places of query and key.

    bias: called with T and S, returns what is added to the scores, broadcastable to (B, h, T, S),
        as `positions.Alibi` does. If it is a module, its parameters belong to this one.
    """

    def __init__(self, bias: Callable[[int, int], Tensor]):
        super().__init__()
        self.bias = bias

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, *how: object
    ) -> tuple[Tensor, Tensor | None]:
        """Attend; `how` is what follows the values in `dot_product_attention`."""
        bias = self.bias(query.shape[2], key.shape[2])
        return dot_product_attention(query, key, value, *how, bias=bias)
