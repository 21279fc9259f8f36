"""Low rank: keys and values are projected along the sequence, to a fixed number (Linformer)."""

import math

import torch
from torch import Tensor, nn

from utils.arguments import check_at_least
from utils.efficient.blocks import attend, real_keys


class Linformer(nn.Module):
    """Attend to `n_features` mixtures of the keys: softmax(q (E k)ᵀ / √d_k) F v.

    Wang et al. (2020, eq. 7), with one E and one F for all heads ("headwise sharing", §4). A
    shorter sequence uses their first S columns. Each mixture holds all positions, so there is no
    causal form. E and F start with variance 1 / max_len: a mixture is as large as a key.
    Shapes: query (B, h, T, d_k), key (B, h, S, d_k), value (B, h, S, d_v), key_mask (B, S), False
    at padding. Returns: context (B, h, T, d_v), 0 where all keys are padding.
    Raises: ValueError if shapes disagree, a size is < 1, or S > max_len.
    """

    def __init__(self, max_len: int, n_features: int):
        super().__init__()
        check_at_least(1, "max_len", max_len)
        check_at_least(1, "n_features", n_features)
        self.E = nn.Parameter(torch.randn(n_features, max_len) / math.sqrt(max_len))
        self.F = nn.Parameter(torch.randn(n_features, max_len) / math.sqrt(max_len))

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_mask: Tensor | None = None
    ) -> Tensor:
        key_mask = real_keys(query, key, value, key_mask)
        S, max_len = key.shape[2], self.E.shape[1]
        if S > max_len:
            raise ValueError(f"E and F were made for {max_len} positions, got {S}.")
        padding = ~key_mask[:, None, :, None]  # (B, 1, S, 1)
        k = self.E[:, :S] @ key.masked_fill(padding, 0)  # (B, h, m, d_k)
        v = self.F[:, :S] @ value.masked_fill(padding, 0)
        return attend(query, k, v)
