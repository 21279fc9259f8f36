"""An answer's gradients, and an answer in single precision."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from utils.exercises.checking.sandbox import Outcome, call, copies, each


def gradients(function: Callable, inputs: tuple, data: Sequence[int]) -> Outcome:
    """Differentiate a fixed random weighting of the results by each input of floating point.

    data: places of inputs that are given, and have no gradient.
    """
    given = copies(inputs)
    leaves = [given[place].requires_grad_() for place in _varied(given, data)]
    outcome = call(function, given)
    if outcome.problem:
        return outcome
    results = outcome.value if isinstance(outcome.value, tuple | list) else (outcome.value,)
    if not all(result.requires_grad for result in results):
        return Outcome(
            problem="the result is cut off from autograd: compute with tensors all the way, "
            "without no_grad, .item(), .detach(), .data or numpy."
        )
    generator = torch.Generator().manual_seed(1)
    weighted = sum(
        (torch.randn(result.shape, dtype=torch.float64, generator=generator) * result).sum()
        for result in results
    )
    coarsest = min((result.dtype for result in results), key=lambda dtype: dtype.itemsize)

    def differentiate() -> tuple[Tensor, ...]:
        gradients = torch.autograd.grad(weighted, leaves, allow_unused=True, materialize_grads=True)
        return tuple(gradient.to(coarsest) for gradient in gradients)

    outcome = call(differentiate, ())
    if "modified by an inplace operation" in outcome.raised:
        return Outcome(
            problem="autograd can't follow it, because it overwrites a tensor that the gradient "
            "needs: write x = x + … in place of x += …, or collect the parts in a list and join "
            "them with torch.stack."
        )
    if outcome.raised:
        return Outcome(problem=f"the gradient can't be computed: {outcome.raised}")
    return outcome


def _varied(inputs: tuple, data: Sequence[int]) -> list[int]:
    """Return the places of the inputs that have a gradient."""
    return [
        place
        for place, x in enumerate(inputs)
        if place not in data and isinstance(x, Tensor) and x.is_floating_point()
    ]


def unlike(
    got: Sequence[Tensor], expected: Sequence[Tensor], inputs: tuple, data: Sequence[int]
) -> str:
    """Say what is wrong with gradients: which argument none reaches, if there is one."""
    for place, ours, right in zip(_varied(inputs, data), got, expected, strict=True):
        if right.any() and not ours.any():
            return (
                f"no gradient reaches argument number {place + 1}: compute with it as a tensor, "
                "without float(), .item() or .detach()."
            )
    return "the gradient is not."


def in_single(function: Callable) -> Callable:
    """The function on inputs in single precision."""

    def on_single(*inputs: Any) -> Any:
        return function(*map(_single, inputs))

    on_single.__wrapped__ = function
    return on_single


def _single(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.float() if value.dtype == torch.float64 else value
    return each(_single, value)
