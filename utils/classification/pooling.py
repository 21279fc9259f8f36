"""Day 8: pooling. Of the vectors at all words, one is made for the text.

Shapes: x (B, T, D); lengths (B,) count what is real, None if nothing is padding; to (B, D). Day 6's
`mean_pool` is the first of them.
"""

import math

import torch
from torch import Tensor

from utils.arguments import check_lengths, check_sequences
from utils.attention import padding_mask
from utils.seq2seq import BOS


def max_pool(x: Tensor, lengths: Tensor | None = None) -> Tensor:
    """Return the largest number of each column, of real words alone (Collobert et al., 2011).

    Raises: ValueError if there is no step, or the lengths do not fit.
    """
    check_sequences(x, x.shape[-1], lengths)
    if lengths is not None:
        x = x.masked_fill(~padding_mask(lengths, x.shape[1]).mT, -math.inf)
    return x.max(dim=1).values


def first_pool(x: Tensor, lengths: Tensor | None = None) -> Tensor:
    """Return what stands at the first place: that of [CLS] (Devlin et al., 2019).

    Raises: ValueError if there is no step, or the lengths do not fit.
    """
    check_sequences(x, x.shape[-1], lengths)
    return x[:, 0]


def with_cls(ids: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
    """Put [CLS] before each text; it is read as any other symbol is.

    The vocabulary's BOS serves as [CLS]. Shapes: ids (B, T) to (B, T + 1); lengths grow by 1.
    Raises: ValueError if the lengths do not fit.
    """
    if lengths is not None:
        check_lengths(lengths, *ids.shape)
        lengths = lengths + 1
    return torch.cat([torch.full_like(ids[:, :1], BOS), ids], dim=1), lengths
