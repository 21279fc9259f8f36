"""Inputs for the exercises of Day 7."""

import torch
from torch import Tensor

from utils.exercises.checking import random


def heads(B: int, h: int, T: int, S: int, d_k: int, d_v: int) -> tuple[Tensor, Tensor, Tensor]:
    """Draw query (B, h, T, d_k), key (B, h, S, d_k) and value (B, h, S, d_v)."""
    return random(B, h, T, d_k), random(B, h, S, d_k), random(B, h, S, d_v)


def on_grid(*shape: int, step: float = 0.25) -> Tensor:
    """Draw from a grid, so that single precision holds large sums of it, too."""
    return step * torch.randint(-9, 10, shape).double()
