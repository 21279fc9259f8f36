"""Day 15: one ability, two measures: all or nothing, and digit by digit.

Shapes: correct (n, k) says of n answers which of their k digits are correct.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from utils.arguments import check_sizes


def all_correct(p, k: int):
    """Return the chance p^k that k digits are all correct, each with probability p alone.

    (Schaeffer et al., 2023, §2.) Slow growth of p looks like a jump here, the more so the larger k.
    p: a number from 0 to 1, or an array or tensor of such numbers.
    Raises: ValueError if k is below 1, or p is not from 0 to 1.
    """
    check_sizes(k=k)
    values = torch.as_tensor(p, dtype=torch.double)
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"p is a probability, from 0 to 1, got {p}.")
    return p**k


class Measures(NamedTuple):
    """How well the same answers do by two measures."""

    exact: float  # share of answers without a mistake
    by_digit: float  # share of digits that are correct
    independent: float  # what `exact` would be if each digit were correct by itself


def both_measures(correct: Tensor) -> Measures:
    """Judge the same answers all or nothing, and digit by digit.

    `independent` is the product of each position's share. Where `exact` is larger, mistakes come
    together in the same answers.
    Raises: ValueError if there is no answer, or correct is not (n, k) of truth values.
    """
    if correct.dtype != torch.bool or correct.dim() != 2 or 0 in correct.shape:
        raise ValueError(
            "Expected truth values (n, k), one for each digit of each answer, got "
            f"{tuple(correct.shape)} of {correct.dtype}."
        )
    by_position = correct.double().mean(dim=0)
    return Measures(
        correct.all(dim=1).double().mean().item(),
        by_position.mean().item(),
        by_position.prod().item(),
    )
