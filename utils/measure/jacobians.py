"""How a gradient changes on its way back through a recurrence: products of its Jacobians."""

import torch
from torch import Tensor
from torch.nn import functional as F


def random_matrix(radius: float, seed: int, size: int = 64) -> Tensor:
    """A matrix (N, N) of normal numbers, scaled to a spectral radius."""
    W = torch.randn(size, size, generator=torch.Generator().manual_seed(seed))
    return W * radius / torch.linalg.eigvals(W).abs().max()


def noise(steps: int, size: float, seed: int, units: int = 64) -> Tensor:
    """Random inputs (T, N) of a standard deviation, already multiplied by W_x."""
    generator = torch.Generator().manual_seed(1000 + seed)
    return size * torch.randn(steps, units, generator=generator)


def sizes_of_products(W: Tensor, inputs: Tensor, linear: bool = False) -> list[float]:
    """log₁₀ of the norms of the products of 0, 1, …, T Jacobians, along a run over inputs (T, N).

    linear: of h_t = W h_{t-1} + u_t, else with a tanh around it. The norm is the root of the mean
    square of a row, so that of the identity is 1.
    """
    h, total, logs = torch.zeros(len(W)), 0.0, [0.0]
    product = torch.eye(len(W)) / len(W) ** 0.5
    for u in inputs:
        h = torch.tanh(W @ h + u)
        product = W @ product if linear else (1 - h**2)[:, None] * (W @ product)
        total += product.norm().log10().item()
        product = product / product.norm()  # or it would underflow
        logs.append(total)
    return logs


def arrivals(radius: float, linear: bool) -> Tensor:
    """What `sizes_of_products` gives of five random networks of 64 units, (5, 101)."""
    networks = ((random_matrix(radius, seed), noise(100, 1.0, seed)) for seed in range(5))
    return torch.tensor([sizes_of_products(*network, linear) for network in networks])


def factor(W: Tensor, inputs: Tensor) -> float:
    """Mean factor per step of the product of Jacobians, after 100 steps to settle: e^λ."""
    logs = sizes_of_products(W, inputs)
    return 10 ** ((logs[-1] - logs[100]) / (len(logs) - 101))


def rounds_to_settle(W: Tensor, inputs: Tensor) -> int:
    """Rounds until no state (T, N) changes by more than 1e-10, all steps at once in each."""
    h, rounds, change = torch.zeros_like(inputs), 0, 1.0
    while change > 1e-10:
        new = torch.tanh(F.pad(h[:-1], (0, 0, 1, 0)) @ W.T + inputs)
        h, rounds, change = new, rounds + 1, (new - h).abs().max().item()
    return rounds
