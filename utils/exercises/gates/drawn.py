"""What several exercises of the day are tried on."""

import torch
from torch import Tensor


def gates(*shape: int) -> Tensor:
    """Draw numbers between 0 and 1."""
    return torch.rand(*shape, dtype=torch.float64)
