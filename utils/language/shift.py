"""Day 9: tokens that know the two before them, before anything is attended to.

Shapes: sequences are (B, T, D).
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.self_attention import MultiHeadAttention
from utils.self_attention.multi_head import Cache


class TokenShift(nn.Module):
    """Take some channels from the two positions before, without a parameter (Peng et al., 2023).

    There (§3.1), channels are mixed with those of the position before by weights that are learned.
    Here the first quarter comes from two positions before, the second from one before, and the
    other half from the position itself; before the first position is 0.
    Shapes: x (B, T, D) to the same.
    """

    def forward(self, x: Tensor) -> Tensor:
        quarter = x.shape[2] // 4
        two, one, here = x.split([quarter, quarter, x.shape[2] - 2 * quarter], dim=2)
        return torch.cat([_later(two, 2), _later(one, 1), here], dim=2)


def _later(x: Tensor, steps: int) -> Tensor:
    return F.pad(x, (0, 0, steps, 0))[:, : x.shape[1]]


class ShiftedAttention(MultiHeadAttention):
    """Multi-head self-attention whose queries, keys and values read shifted tokens.

    Raises: ValueError if a cache holds something, since the two tokens before are not in it; or for
        a mask, since those before the first that is real may be padding.
    """

    def __init__(self, d_model: int, n_heads: int, **how: object):
        super().__init__(d_model, n_heads, **how)
        self.shift = TokenShift()

    def forward(
        self,
        x: Tensor,
        memory: None = None,
        mask: None = None,
        *,
        cache: Cache | None = None,
        **how: object,
    ) -> tuple[Tensor, Tensor | None]:
        if cache is not None and cache.length:
            raise ValueError(
                "Shifted tokens can't go on from a cache, which has keys and values, but not the "
                "tokens before: give the model the whole text."
            )
        if mask is not None:
            raise ValueError(
                "Shifted tokens would read padding in front of a text: give the model texts of one "
                "length, without a mask."
            )
        return super().forward(self.shift(x), memory, cache=cache, **how)
