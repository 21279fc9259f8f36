"""Day 5: multi-head attention, a layer with n_heads ways to look at once.

Shapes: sequences (B, T, d_model), in heads (B, h, T, d_k), d_k = d_model / h.
"""

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_head_counts, check_sequences, check_share, check_sizes
from utils.self_attention.dot_product import dot_product_attention

# Several heads ------------------------------------------------------------------------------------


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Cut the width into heads. Shapes: (B, T, h·d) to (B, h, T, d).

    Raises: ValueError if the heads do not divide the width.
    """
    if n_heads < 1 or x.shape[-1] % n_heads:
        raise ValueError(f"{n_heads} heads do not divide a width of {x.shape[-1]}.")
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)  # a view: no number moves


def merge_heads(x: Tensor) -> Tensor:
    """Lay the heads side by side again. Shapes: (B, h, T, d) to (B, T, h·d)."""
    return x.transpose(1, 2).flatten(2)


class Cache(Protocol):
    """Keys and values of the positions so far, (B, n_kv_heads, length, d_k) each."""

    length: int

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add those of the next positions; return all that are now held."""
        ...


class MultiHeadAttention(nn.Module):
    """Attend in n_heads ways at once, each in d_k = d_model / n_heads numbers of its own.

    Vaswani et al. (2017, §3.2.2): concat(head_1, …, head_h) W_o, where head_i attends with queries
    x W_q,i, keys m W_k,i and values m W_v,i. The memory m is x itself (self-attention) or another
    sequence. W_in holds W_q, W_k and W_v, one below the other, so that self-attention is a single
    product. Weights begin as the library's.

    n_kv_heads: heads of keys and values, each shared by n_heads / n_kv_heads heads of queries: 1 is
        multi-query (Shazeer, 2019), more is grouped-query attention (Ainslie et al., 2023).
    dropout: share of the weights that is dropped in training.
    rotary: turns queries and keys by position, as `positions.Rotary(d_k)` does.
    attend: what makes contexts of queries, keys and values: another function, or a module, that is
        called as `dot_product_attention` is, as far as `is_causal`.

    Shapes: x (B, T, d_model), memory (B, S, d_model), mask broadcastable to (B, h, T, S), to
    outputs (B, T, d_model) and weights (B, h, T, S), or None unless they are needed. NaN at what a
    mask hides from all reaches no output; of gradients it makes NaN, as in the library.
    memory: or its keys and values, where `keys_and_values` has made them before.
    is_causal: mask the future; the last query sees the last key.
    cache: holds what earlier calls have seen, so that x is only what follows. S counts all of it.
    Raises: ValueError if heads do not divide the width or each other, if x or the memory has
    another width or is empty, if a cache or rotary positions meet a memory, or for the mask as
    `dot_product_attention` does.
    """

    library = nn.MultiheadAttention  # a class that computes the same as that says so itself

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        n_kv_heads: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
        rotary: nn.Module | None = None,
        attend: Callable[..., tuple[Tensor, Tensor | None]] = dot_product_attention,
    ):
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        check_sizes(d_model=d_model, n_heads=n_heads, n_kv_heads=n_kv_heads)
        check_head_counts(d_model, n_heads, n_kv_heads)
        check_share("dropout", dropout)
        self.d_model, self.n_heads, self.n_kv_heads = d_model, n_heads, n_kv_heads
        self.dropout, self.rotary, self.attend = dropout, rotary, attend
        d_kv = d_model // n_heads * n_kv_heads
        self.rows = d_model, d_kv, d_kv  # of W_q, W_k and W_v
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        weight = torch.empty(sum(self.rows), d_model)
        self.W_in = nn.Parameter(nn.init.xavier_uniform_(weight))
        self.b_in = None
        if bias:
            self.b_in = nn.Parameter(torch.zeros(sum(self.rows)))
            nn.init.zeros_(self.W_o.bias)

    def project(self, x: Tensor, memory: Tensor | tuple | None) -> tuple[Tensor, ...]:
        """Return queries (B, h, T, d_k), keys and values (B, n_kv_heads, T or S, d_k)."""
        if memory is None:
            q, k, v = F.linear(x, self.W_in, self.b_in).split(self.rows, dim=-1)
            heads = self.n_heads, self.n_kv_heads, self.n_kv_heads
            return tuple(split_heads(y, n) for y, n in zip((q, k, v), heads, strict=True))
        return self.queries(x), *self.keys_and_values(memory)

    def queries(self, x: Tensor) -> Tensor:
        """Return queries (B, h, T, d_k) to a memory."""
        D = self.d_model  # of W_in, the first D rows are W_q
        bias = None if self.b_in is None else self.b_in[:D]
        return split_heads(F.linear(x, self.W_in[:D], bias), self.n_heads)

    def keys_and_values(self, memory: Tensor | tuple[Tensor, Tensor]) -> tuple[Tensor, ...]:
        """Return a memory's keys and values (B, n_kv_heads, S, d_k), unless it is made of them."""
        if isinstance(memory, tuple):
            return memory
        D = self.d_model
        bias = None if self.b_in is None else self.b_in[D:]
        both = F.linear(memory, self.W_in[D:], bias).chunk(2, dim=-1)
        return tuple(split_heads(y, self.n_kv_heads) for y in both)

    def forward(
        self,
        x: Tensor,
        memory: Tensor | tuple[Tensor, Tensor] | None = None,
        mask: Tensor | None = None,
        *,
        is_causal: bool = False,
        need_weights: bool = False,
        cache: Cache | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        check_memory(x, memory, self.d_model, cache or self.rotary)
        q, k, v = self.project(x, memory)
        if self.rotary is not None:
            start = 0 if cache is None else cache.length
            q, k = self.rotary(q, start), self.rotary(k, start)
        if cache is not None:
            k, v = cache.append(k, v)
        dropout = self.dropout if self.training else 0.0
        context, weights = self.attend(q, k, v, mask, need_weights, dropout, is_causal)
        return self.W_o(merge_heads(context)), weights

    def load_library(self, library: nn.MultiheadAttention) -> None:
        """Take the weights of nn.MultiheadAttention.

        Raises: ValueError if it is of another kind or size, or has what this layer has not: keys
        and values of other widths, add_bias_kv, add_zero_attn; or if this layer has what that has
        not: shared keys, rotary positions, another way to attend, or all that is another class's.
        """
        if "library" not in vars(type(self)):
            raise ValueError(
                f"A {type(self).__name__} computes something else than the library's layer: load "
                "that into MultiHeadAttention."
            )
        D, h, bias = self.d_model, self.n_heads, self.b_in is not None
        twin = nn.MultiheadAttention(D, h, bias=bias, device="meta")
        wanted, found = (
            {name: tuple(weight.shape) for name, weight in layer.state_dict().items()}
            for layer in (twin, library)
        )
        settings = [getattr(library, name, None) for name in ("num_heads", "add_zero_attn")]
        if found != wanted or settings != [h, False]:
            raise ValueError(
                f"Expected the weights of nn.MultiheadAttention({D}, {h}, {bias=}), got "
                f"{type(library).__name__} with {settings[0]} heads and {found}."
            )
        if self.n_kv_heads != h:
            raise ValueError("The library's heads share no keys: leave n_kv_heads out to load it.")
        if self.rotary is not None or self.attend is not dot_product_attention:
            raise ValueError(
                "The library's layer turns nothing by position and attends by dot products alone: "
                "leave rotary and attend out to load it."
            )
        with torch.no_grad():
            self.W_in.copy_(library.in_proj_weight)
            if self.b_in is not None:
                self.b_in.copy_(library.in_proj_bias)
            self.W_o.load_state_dict(library.out_proj.state_dict())


def check_memory(
    x: Tensor,
    memory: Tensor | tuple[Tensor, Tensor] | None,
    d_model: int,
    counts_positions: object,
) -> None:
    """Raise a ValueError if a layer of attention can't read these sequences and this memory."""
    check_sequences(x, d_model, None)
    if memory is None:
        return
    if counts_positions:
        raise ValueError(
            "A cache and rotary positions count one sequence's own positions: leave them out "
            "where there is a memory."
        )
    if isinstance(memory, tuple):
        return
    check_sequences(memory, d_model, None)
    if len(memory) != len(x):
        raise ValueError(f"{len(x)} sequences need as many memories, got {len(memory)}.")
