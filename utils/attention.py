"""Day 4: attention, a soft look-up: score each key, softmax the scores, average the values.

Shapes: query (B, T, d_q), keys (B, S, d_k), values (B, S, d_v), scores and weights (B, T, S),
context (B, T, d_v). A mask is boolean, True = may be attended to, and broadcasts to (B, T, S).
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_mask


def padding_mask(lengths: Tensor, size: int) -> Tensor:
    """Return (B, 1, S): True where a source of these lengths (B,) has a symbol, not padding."""
    return (torch.arange(size, device=lengths.device) < lengths[:, None])[:, None]


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Turn scores into weights, over the last axis; masked positions get exactly 0.

    Shapes: scores (..., S), mask broadcastable to them.
    Returns: weights (..., S); a row sums to 1, or is 0 where nothing is allowed.
    Raises: ValueError if the mask is not boolean or does not broadcast.
    """
    if mask is None:
        return scores.softmax(dim=-1)
    check_mask(mask, scores.shape)
    blocked = ~mask
    nothing = blocked.all(dim=-1, keepdim=True)  # only -inf in a row would make it NaN
    scores = scores.masked_fill(blocked, -math.inf).masked_fill(nothing, 0)
    return scores.softmax(dim=-1).masked_fill(nothing, 0)


def blanked(x: Tensor, mask: Tensor | None) -> Tensor:
    """Set to 0 what no query may attend to: a weight of 0 would leave NaN as it is.

    Shapes: x (B, S, d), mask broadcastable to (B, T, S).
    """
    if mask is None:
        return x
    seen = mask.any(dim=-2) if mask.dim() > 1 else mask  # (B or 1, S)
    return x.masked_fill(~seen[..., None], 0)


class Score(nn.Module):
    """How well each key fits each query.

    `prepare` does the work that concerns the keys alone, once for a source. `compare` does the
    rest, at each step. Calling the score does both.
    """

    def prepare(self, keys: Tensor) -> Tensor:
        return keys

    def compare(self, query: Tensor, prepared: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        return self.compare(query, self.prepare(keys))


class AdditiveScore(Score):
    """v·tanh(W_a s + U_a h): a small network with one hidden layer (Bahdanau et al., 2015, A.1.2).

    Shapes: query (B, T, d_query), keys (B, S, d_key) to scores (B, T, S).
    """

    def __init__(self, d_query: int, d_key: int, d_attention: int):
        super().__init__()
        self.W_a = nn.Linear(d_query, d_attention, bias=False)
        self.U_a = nn.Linear(d_key, d_attention, bias=False)
        self.v = nn.Parameter(torch.randn(d_attention) / math.sqrt(d_attention))

    def prepare(self, keys: Tensor) -> Tensor:
        return self.U_a(keys)  # (B, S, d_attention)

    def compare(self, query: Tensor, prepared: Tensor) -> Tensor:
        pairs = self.W_a(query)[:, :, None] + prepared[:, None]  # (B, T, S, d_attention)
        return pairs.tanh_() @ self.v  # in place: the largest tensor is held once


class ConcatScore(Score):
    """v·tanh(W [s; h]) as Luong et al. (2015, §3.1) write it: slow, and the definition.

    It is `AdditiveScore` with W = [W_a U_a], which multiplies each state once, not once per pair.
    """

    def __init__(self, d_query: int, d_key: int, d_attention: int):
        super().__init__()
        self.W = nn.Linear(d_query + d_key, d_attention, bias=False)
        self.v = nn.Parameter(torch.randn(d_attention) / math.sqrt(d_attention))

    def compare(self, query: Tensor, prepared: Tensor) -> Tensor:
        T, S = query.shape[1], prepared.shape[1]
        s = query[:, :, None].expand(-1, -1, S, -1)
        h = prepared[:, None].expand(-1, T, -1, -1)
        return self.W(torch.cat([s, h], dim=-1)).tanh() @ self.v


class DotScore(Score):
    """s·h: no weights, but query and key must have one width (Luong et al., 2015, §3.1)."""

    def scale(self, d_k: int) -> float:
        return 1.0

    def compare(self, query: Tensor, prepared: Tensor) -> Tensor:
        check_widths(query, prepared)
        return (query * self.scale(query.shape[-1])) @ prepared.mT


class ScaledDotScore(DotScore):
    """s·h / √d_k, which keeps the scores' variance at 1 (Vaswani et al., 2017, §3.2.1)."""

    def scale(self, d_k: int) -> float:
        return 1 / math.sqrt(d_k)


class GeneralScore(DotScore):
    """s·(W_a h): a matrix between query and key (Luong et al., 2015, §3.1)."""

    def __init__(self, d_query: int, d_key: int):
        super().__init__()
        self.W_a = nn.Linear(d_key, d_query, bias=False)

    def prepare(self, keys: Tensor) -> Tensor:
        return self.W_a(keys)  # (B, S, d_query)


class Memory(NamedTuple):
    """A source, prepared for attention."""

    keys: Tensor  # as the score prepared them: (B, S, …)
    values: Tensor  # (B, S, d_v)
    mask: Tensor | None  # broadcastable to (B, T, S)


class Attention(nn.Module):
    """Average the values, each weighted by how well its key fits the query. The score is given.

    Shapes: query (B, T, d_q), keys (B, S, d_k), values (B, S, d_v), mask broadcastable to
    (B, T, S). Returns: context (B, T, d_v) and weights (B, T, S), or None unless they are needed;
    a query that may attend to nothing gets a context of zeros.
    Raises: ValueError if sizes disagree, or the mask is not boolean or does not broadcast.
    """

    def __init__(self, score: Score):
        super().__init__()
        self.score = score

    def remember(self, keys: Tensor, values: Tensor, mask: Tensor | None = None) -> Memory:
        """Prepare a source once; `read` then looks at it as often as there are steps."""
        check_source(keys, values, mask)
        clean = blanked(keys, mask)
        values = clean if values is keys else blanked(values, mask)
        return Memory(self.score.prepare(clean), values, mask)

    def read(
        self, query: Tensor, memory: Memory, need_weights: bool = True
    ) -> tuple[Tensor, Tensor | None]:
        check_query(query, memory.values, memory.mask)
        if isinstance(self.score, DotScore) and not need_weights:
            return self._fused(query, memory), None
        weights = masked_softmax(self.score.compare(query, memory.keys), memory.mask)
        return weights @ memory.values, weights if need_weights else None

    def _fused(self, query: Tensor, memory: Memory) -> Tensor:
        """Compute the same in the library's kernel, which need not store the weights."""
        check_widths(query, memory.keys)
        scale = self.score.scale(query.shape[-1])
        mask = memory.mask
        if mask is not None:
            shape = (*query.shape[:2], memory.keys.shape[1])  # (B, T, S)
            check_mask(mask, shape)
            mask = mask.expand(shape)[:, None]
        one_head = (x[:, None] for x in (query, memory.keys, memory.values))  # (B, 1, T or S, …)
        return F.scaled_dot_product_attention(*one_head, attn_mask=mask, scale=scale)[:, 0]

    def forward(
        self,
        query: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor | None = None,
        need_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        return self.read(query, self.remember(keys, values, mask), need_weights)


class LocalAttention(Attention):
    """Look only at the 2·window + 1 source positions around p_t (Luong et al., 2015, §3.2).

    Positions count from 0. Without `d_query` p_t = t (local-m, "monotonic"). With it, the query
    predicts p_t = S·σ(v·tanh(W_p s)), where S is the number of positions that the mask lets
    through, and a Gaussian around p_t with σ = window / 2 scales the weights (local-p), which then
    sum to less than 1. A window that lies beyond the source's end gives a context of zeros.
    """

    def __init__(self, score: Score, window: int, d_query: int | None = None):
        super().__init__(score)
        check_reach(window)
        self.window = window
        self.position = None
        if d_query is not None:
            self.position = nn.Sequential(
                nn.Linear(d_query, d_query, bias=False),  # W_p
                nn.Tanh(),
                nn.Linear(d_query, 1, bias=False),  # v
                nn.Sigmoid(),
            )

    def read(
        self, query: Tensor, memory: Memory, need_weights: bool = True, start: int = 0
    ) -> tuple[Tensor, Tensor | None]:
        """start: the target position of the first query."""
        check_query(query, memory.values, memory.mask)
        scores = self.score.compare(query, memory.keys)  # (B, T, S)
        mask = torch.ones_like(scores, dtype=torch.bool)
        if memory.mask is not None:
            check_mask(memory.mask, scores.shape)
            mask = mask & memory.mask
        if self.position is None:
            p = torch.arange(start, start + query.shape[1], device=query.device)[:, None]  # (T, 1)
        else:
            p = mask.sum(dim=-1, keepdim=True) * self.position(query)  # (B, T, 1)
        distance = torch.arange(scores.shape[2], device=query.device) - p  # s - p_t
        weights = masked_softmax(scores, mask & (distance.abs() <= self.window))
        if self.position is not None:
            weights = weights * torch.exp(-(distance**2) / (2 * (self.window / 2) ** 2))
        return weights @ memory.values, weights if need_weights else None


def check_source(keys: Tensor, values: Tensor, mask: Tensor | None) -> None:
    """Raise a ValueError if keys, values and their mask disagree."""
    if keys.shape[:2] != values.shape[:2]:
        raise ValueError(
            f"Each key has one value, got keys {tuple(keys.shape)} and values "
            f"{tuple(values.shape)}."
        )
    if mask is not None:
        several = isinstance(mask, Tensor) and mask.dim() > 1
        n_queries = mask.shape[-2] if several else 1  # any number may still come to look
        check_mask(mask, (len(values), n_queries, values.shape[1]))


def check_query(query: Tensor, values: Tensor, mask: Tensor | None) -> None:
    """Raise a ValueError if queries don't fit the sources, or a mask could be read in two ways.

    A mask of two axes is (T, S), one for all sources; with B = T it may be meant as (B, S).
    """
    n_sources = len(values)
    if query.dim() != 3 or len(query) != n_sources:
        raise ValueError(
            f"Expected queries (B, T, d_q) for {n_sources} sources, got {tuple(query.shape)}."
        )
    if mask is not None and mask.dim() == 2 and 1 < len(mask) == n_sources == query.shape[1]:
        raise ValueError(
            f"With {n_sources} sources and as many queries, a mask of shape {tuple(mask.shape)} "
            "leaves open what its first axis counts: write mask[:, None] for sources, mask[None] "
            "for queries."
        )


def check_widths(query: Tensor, keys: Tensor) -> None:
    """Raise a ValueError if no dot product of queries and keys can be taken."""
    if query.shape[-1] != keys.shape[-1]:
        raise ValueError(
            f"A dot product needs queries and keys of one width, got {query.shape[-1]} and "
            f"{keys.shape[-1]}: use GeneralScore or AdditiveScore."
        )


def check_reach(window: int) -> None:
    """Raise a ValueError if a window around a position holds nothing but it."""
    if window < 1:
        raise ValueError(f"A window reaches at least 1 position to each side, got {window}.")
