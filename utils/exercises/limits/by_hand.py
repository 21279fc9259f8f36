"""Numbers that are set by hand, judged by what a machine does with them."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from utils.exercises.checking.comparing import article


def run_on(machine: Callable[[Tensor, Tensor], Any], shape: tuple[int, ...], what: str) -> Callable:
    """Make of an answer without arguments one that takes a word: what a machine does with both.

    machine: called with the answer's numbers, of this shape, and the word's ids (T,).
    what: the numbers in words.
    """

    def through(answer: Callable) -> Callable:
        @functools.wraps(answer)
        def on_word(*word: Tensor) -> Any:
            given = answer()
            return given if given is None or not word else machine(read(given), *word)

        return on_word

    def read(given: Any) -> Tensor:
        try:
            numbers = np.asarray(given)
        except ValueError:  # rows of different lengths
            numbers = np.array("")
        if numbers.shape != shape or numbers.dtype.kind not in "iuf":
            raise ValueError(f"you returned {article(given)}, not {what}.")
        if not np.isfinite(numbers).all():
            raise ValueError("one of your numbers isn't finite.")
        return torch.tensor(numbers, dtype=torch.float64)

    return through
