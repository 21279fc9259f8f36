"""Day 10: T5's attention: how far apart, not where; no scale, no biases.

Shapes: queries (B, h, T, d_k), keys (B, h, S, d_k); what is added to the scores (h, T, S).
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_sizes
from utils.self_attention import dot_product_attention, split_heads
from utils.transformer import CrossAttention


def relative_buckets(
    T: int, S: int, n_buckets: int = 32, max_distance: int = 128, is_causal: bool = False
) -> Tensor:
    """Return in which bucket each distance is, (T, S) (Raffel et al., 2020, §2.1).

    Half of the buckets hold one distance each; the others grow by a constant factor up to
    max_distance, beyond which all is one. What lies ahead has buckets of its own, as many as what
    lies behind; if causal, all are for what lies behind. The last query stands at the last key.
    Raises: ValueError if there is no query, key or bucket to spare, or max_distance is too small.
    """
    check_sizes(T=T, S=S)
    check_buckets(n_buckets, max_distance, is_causal)
    behind = torch.arange(S - T, S)[:, None] - torch.arange(S)  # t - s
    first = 0
    if not is_causal:
        n_buckets //= 2
        first = n_buckets * (behind < 0)
        behind = behind.abs()
    distance = behind.clamp(min=0)
    near = n_buckets // 2
    grown = (distance.clamp(min=near) / near).log() / math.log(max_distance / near)
    far = near + (grown * (n_buckets - near)).long()
    return first + torch.where(distance < near, distance, far.clamp(max=n_buckets - 1))


class RelativeBias(nn.Module):
    """What is added to the scores for each distance, head by head; all begin at 0 (ibid.).

    A function of T and S, as `self_attention.BiasedAttention` takes one. Where several layers are
    given the same one, they share it.
    Shapes: the table (n_buckets, h) to (h, T, S).
    """

    def __init__(
        self, n_heads: int, n_buckets: int = 32, max_distance: int = 128, is_causal: bool = False
    ):
        super().__init__()
        check_sizes(n_heads=n_heads)
        check_buckets(n_buckets, max_distance, is_causal)
        self.how = n_buckets, max_distance, is_causal
        self.table = nn.Parameter(torch.zeros(n_buckets, n_heads))

    def forward(self, T: int, S: int) -> Tensor:
        buckets = relative_buckets(T, S, *self.how).to(self.table.device)
        return self.table[buckets].permute(2, 0, 1)


class UnscaledAttention(CrossAttention):
    """Attention whose scores are q·k: the division by √d_k is in how the weights begin (ibid.).

    There are no biases, and heads are d_k wide, where h·d_k need not be d_model. All else is
    `CrossAttention`'s.
    Shapes: x (B, T, d_model), memory (B, S, d_model) to outputs (B, T, d_model).
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        d_k: int,
        dropout: float = 0.0,
        attend: Callable[..., tuple[Tensor, Tensor | None]] = dot_product_attention,
    ):
        super().__init__(d_model, 1, bias=False, dropout=dropout, attend=attend)
        check_sizes(n_heads=n_heads, d_k=d_k)
        self.n_heads = self.n_kv_heads = n_heads
        width = n_heads * d_k
        self.rows = width, width, width
        self.W_in = nn.Parameter(torch.randn(3 * width, d_model) * d_model**-0.5)
        self.W_o = nn.Linear(width, d_model, bias=False)
        with torch.no_grad():
            self.W_in[:width] *= d_k**-0.5
            nn.init.normal_(self.W_o.weight, std=width**-0.5)

    def project(self, x: Tensor, memory: Tensor | tuple | None) -> tuple[Tensor, ...]:
        q, k, v = super().project(x, memory)
        return math.sqrt(q.shape[-1]) * q, k, v  # by which the scores are divided next

    def queries(self, x: Tensor) -> Tensor:
        return split_heads(F.linear(x, self.W_in[: self.rows[0]]), self.n_heads)

    def keys_and_values(self, memory: Tensor | tuple[Tensor, Tensor]) -> tuple[Tensor, ...]:
        if isinstance(memory, tuple):
            return memory
        both = F.linear(memory, self.W_in[self.rows[0] :]).chunk(2, dim=-1)
        return tuple(split_heads(y, self.n_heads) for y in both)


def check_buckets(n_buckets: int, max_distance: int, is_causal: bool) -> None:
    """Raise a ValueError if these buckets can't hold the distances up to the largest."""
    check_sizes(n_buckets=n_buckets, max_distance=max_distance)
    sides = 1 if is_causal else 2
    if n_buckets % (2 * sides):
        raise ValueError(
            f"n_buckets is divided into near and far{'' if is_causal else ', behind and ahead'}, "
            f"so it is a multiple of {2 * sides}, got {n_buckets}."
        )
    near = n_buckets // sides // 2
    if max_distance <= near:
        raise ValueError(
            f"{n_buckets} buckets hold the distances below {near} one by one, so max_distance is "
            f"above {near}, got {max_distance}."
        )
