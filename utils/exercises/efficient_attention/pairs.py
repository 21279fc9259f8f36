"""Pairs of a query and a key: how far they lie apart, and the average that their weights give."""

import torch
from torch import Tensor


def steps_back(T: int) -> Tensor:
    """Return t - s for each query t and key s: (T, T)."""
    t = torch.arange(T)
    return t[:, None] - t


def averaged(weights: Tensor, value: Tensor) -> Tensor:
    return weights @ value / weights.sum(-1, keepdim=True)
