"""Measure two functions that compute the same, in turn, and say how they compare.

Seconds depend on the machine and on what else it is doing. A ratio of two runs that follow each
other depends on them less, and its spread over many rounds tells how much.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.func import functional_call

from utils.measure.costs import peak_bytes


@dataclass(frozen=True)
class Case:
    """A layer of ours and the library's, given the same inputs."""

    name: str
    ours: Callable[..., Tensor]
    library: Callable[..., Tensor]
    inputs: tuple[Tensor, ...]
    bound: float = float("inf")  # what a step of ours may take, in steps of the library's
    same: bool = True  # whether both compute the same


def with_parameters(
    layer: nn.Module, names: Sequence[str], n_inputs: int = 1, **how: object
) -> Callable[..., Tensor]:
    """Call a layer with parameters from outside, behind its inputs, so that all of them are given
    and differentiated alike. names: the parameters', in order; how: what else the layer is told.
    """

    def function(*given: Tensor) -> Tensor:
        weights = dict(zip(names, given[n_inputs:], strict=True))
        y = functional_call(layer, weights, given[:n_inputs], how)
        return y[0] if isinstance(y, tuple) else y

    return function


class Cost(NamedTuple):
    """What a forward and a backward pass take: seconds, or bytes at the peak."""

    forward: float
    backward: float

    @property
    def step(self) -> float:
        return self.forward + self.backward


@dataclass(frozen=True)
class Comparison:
    """What was measured of a case, a pair (ours, library's) for each round and for memory."""

    case: Case
    seconds: list[tuple[Cost, Cost]]
    peak: tuple[Cost, Cost]  # forward alone; forward and backward together

    def ratios(self, part: str) -> list[float]:
        """Return ours over the library's in each round; part: forward, backward or step."""
        return [getattr(a, part) / getattr(b, part) for a, b in self.seconds]

    def best(self, part: str) -> float:
        """Return the ratio of the quickest rounds: what other programs slowed down is left out."""
        ours, library = (
            min(getattr(c, part) for c in side) for side in zip(*self.seconds, strict=True)
        )
        return ours / library


def compare(case: Case, rounds: int) -> Comparison:
    """Measure both in turn, and each first in every other round.

    Raises: ValueError if they don't compute the same, though the case says so.
    """
    if case.same:
        _assert_same(case)
    pair = (case.ours, case.library)
    for function in pair * 2:  # warm-up
        _seconds(function, case.inputs)
    seconds = []
    for i in range(rounds):
        order = (0, 1) if i % 2 else (1, 0)
        taken = {side: _seconds(pair[side], case.inputs) for side in order}
        seconds.append((taken[0], taken[1]))
    ours, library = (_peak(function, case.inputs) for function in pair)
    return Comparison(case, seconds, (ours, library))


def _tracked(inputs: Iterable[Tensor]) -> list[Tensor]:
    return [x.detach().requires_grad_() for x in inputs]


def _assert_same(case: Case) -> None:
    ours, library = (function(*case.inputs) for function in (case.ours, case.library))
    if ours.shape != library.shape or not torch.allclose(ours, library, rtol=1e-3, atol=1e-3):
        raise ValueError(
            f"{case.name}: ours and the library's differ; there is nothing to compare."
        )


def _seconds(function: Callable[..., Tensor], inputs: tuple[Tensor, ...]) -> Cost:
    inputs = _tracked(inputs)
    start = time.perf_counter()
    y = function(*inputs)
    middle = time.perf_counter()
    gradient = torch.ones_like(y)
    begin = time.perf_counter()
    torch.autograd.grad(y, inputs, gradient)
    return Cost(middle - start, time.perf_counter() - begin)


def _peak(function: Callable[..., Tensor], inputs: tuple[Tensor, ...]) -> Cost:
    """Return the peak of what PyTorch allocates beside the inputs, in a forward pass and a step."""
    inputs = _tracked(inputs)

    def step() -> None:
        y = function(*inputs)
        torch.autograd.grad(y, inputs, torch.ones_like(y))

    return Cost(peak_bytes(lambda: function(*inputs)), peak_bytes(step))
