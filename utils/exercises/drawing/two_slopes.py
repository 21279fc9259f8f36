"""What an answer's numbers don't tell: to which of two inputs its gradient goes."""

import functools
import inspect
import warnings
from collections.abc import Callable

import torch
from torch import Tensor

from utils.exercises.checking.comparing import same
from utils.exercises.checking.sandbox import Judged


def slopes(function: Callable, z: Tensor, q: Tensor, *others: object) -> tuple[Tensor, Tensor]:
    """Return the gradients with respect to z and q of the result in one direction, 0 without.

    Of several results it is the last one.
    """
    z, q = (x.detach().clone().requires_grad_() for x in (z, q))
    with warnings.catch_warnings(action="ignore"):  # that float(…) of a tensor drops its gradient
        value = function(z, q, *others)
    if isinstance(value, tuple | list):
        value = value[-1]
    if not value.requires_grad:
        return torch.zeros_like(z), torch.zeros_like(q)
    direction = torch.linspace(1, 2, value.numel(), dtype=value.dtype).view(value.shape)
    return torch.autograd.grad(
        (direction * value).sum(), (z, q), allow_unused=True, materialize_grads=True
    )


def with_slopes(reference: Callable) -> Callable[[Callable], Callable]:
    """Judge gradients with the numbers: where those alone are correct, say how gradients begin."""
    names = " and ".join([*inspect.signature(reference).parameters][:2])

    def judged(answer: Callable) -> Callable:
        @functools.wraps(answer)
        def within(*inputs):
            value = answer(*inputs)
            if not same(value, reference(*inputs)):
                return value
            got, expected = slopes(answer, *inputs), slopes(reference, *inputs)
            if not same(got, expected):
                raise Judged(
                    f"the numbers are correct, but not the gradients: those of {names} begin with "
                    f"{_first(got)}, and should begin with {_first(expected)}."
                )
            return value

        return within

    return judged


def _first(pair: tuple[Tensor, Tensor]) -> str:
    return " and ".join(f"{x.flatten()[0].item():.3f}" for x in pair).replace("-0.000", "0.000")
