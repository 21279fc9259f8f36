"""Whether two values agree, and what to say where they don't."""

import math
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, allclose, equal, isclose  # an answer may patch torch's own


def same(got: Any, expected: Any) -> bool:
    """Say whether two values agree, numbers to the precision of the coarser type."""
    try:
        return _agree(got, expected)
    except Exception:  # not what it says it is
        return False


def _agree(got: Any, expected: Any) -> bool:
    if isinstance(expected, Tensor):
        if not isinstance(got, Tensor) or _kind(got) != _kind(expected):
            return False
        if not expected.is_floating_point():
            widest = torch.complex128 if expected.is_complex() else torch.int64
            return equal(got.to(widest), expected.to(widest))
        tolerance = 1e-8 if got.dtype == expected.dtype == torch.float64 else 1e-4
        got, expected = got.detach().double(), expected.detach().double()
        return allclose(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
    if isinstance(expected, tuple | list):
        return (
            isinstance(got, tuple | list)
            and len(got) == len(expected)
            and all(map(same, got, expected))
        )
    if isinstance(expected, bool | str | int) or expected is None:
        return type(got) is type(expected) and got == expected
    if isinstance(expected, float):
        if isinstance(got, str | bytes):  # float() reads them
            return False
        both_nan = math.isnan(got) and math.isnan(expected)
        return both_nan or math.isclose(float(got), expected, rel_tol=1e-4, abs_tol=1e-9)
    return got is expected


def _kind(x: Tensor) -> tuple:
    number = x.dtype is torch.bool, x.is_floating_point(), x.is_complex()
    return x.shape, number, x.layout, x.device


def explains(wrong: Any, got: Any, expected: Any) -> bool:
    """Say whether a mistake gives the numbers of an answer wherever these are wrong."""
    if same(got, expected):
        return True
    if all(isinstance(value, tuple | list) for value in (wrong, got, expected)):
        return len(wrong) == len(got) == len(expected) and all(map(explains, wrong, got, expected))
    if all(isinstance(value, Tensor) and value.is_floating_point() for value in (wrong, got)):
        with suppress(Exception):  # not what they say they are
            right = isclose(got.double(), expected.double(), rtol=1e-4, atol=1e-4, equal_nan=True)
            wrong = torch.where(right, got.double(), wrong.double())
    return same(got, wrong)


def numbers(value: Any) -> set:
    """The different numbers in a result, NaN left out."""
    if isinstance(value, tuple | list):
        return set().union(*map(numbers, value))
    found = value.detach().flatten().tolist() if isinstance(value, Tensor) else [value]
    return {number for number in found if isinstance(number, int | float) and number == number}


def difference(got: Any, expected: Any) -> str:
    """Say what is wrong: the kind of result, a few numbers side by side, or how many differ."""
    try:
        return _told_apart(got, expected)
    except Exception:
        return f"it returned {article(got)} that can't be compared with the expected result."


def _told_apart(got: Any, expected: Any) -> str:
    if problem := _type_problem(got, expected):
        return problem
    if isinstance(expected, tuple | list):
        pairs = enumerate(zip(got, expected, strict=True), start=1)
        return next(f"value {i}: {difference(a, b)}" for i, (a, b) in pairs if not same(a, b))
    if isinstance(expected, Tensor) and expected.numel() > 12:
        right = isclose(got.double(), expected.double(), rtol=1e-4, atol=1e-4)
        if not right.all():
            return f"{int((~right).sum())} of {right.numel()} numbers are wrong."
    elif _short(got) != _short(expected):
        return f"you got {_short(got)}; it should be {_short(expected)}."
    return (
        "the first four digits are correct, but the next ones are not: is a part in single "
        "precision, or was a small number added?"
    )


def _type_problem(got: Any, expected: Any) -> str:
    """Explain in a sentence why `got` cannot be compared with `expected`, or return nothing."""
    if got is None:
        return "it returned None: is a `return` missing?"
    if isinstance(expected, Tensor):
        if not isinstance(got, Tensor):
            made = isinstance(got, list | tuple | int | float)
            how = " Turn the numbers into one with torch.stack or torch.tensor." if made else ""
            if isinstance(got, tuple) and any(same(each, expected) for each in got):
                how = " One of its values is correct: return that alone."
            if type(got).__module__ == "torch.return_types":  # such as that of x.max(dim=1)
                part = "values" if expected.is_floating_point() else "indices"
                how = f" It holds the values and their positions: take its .{part}."
            if type(got).__module__ == "numpy":
                how = " Compute with torch's functions: numpy's have no gradient."
            if isinstance(got, int | float) and expected.ndim == 0:
                how = " A plain number has no gradient: leave out .item() and the like."
            return f"it returned {article(got)}, not a tensor.{how}"
        if got.shape != expected.shape:
            return f"the result has shape {tuple(got.shape)}; it should be {tuple(expected.shape)}."
        if got.layout != expected.layout:
            return f"the result has layout {got.layout}; it should be {expected.layout}."
        if got.device != expected.device:
            return f"the result is on device {got.device}; it should be on {expected.device}."
        if _kind(got) != _kind(expected):
            return f"the result has type {got.dtype}; it should be {expected.dtype}."
    if isinstance(expected, bool) and not isinstance(got, bool):
        return f"it returned {article(got)}, not True or False."
    if type(expected) is int and type(got) is not int:
        return f"it returned {article(got)}, not a whole number (int)."
    if isinstance(expected, float) and not isinstance(got, int | float | Tensor):
        return f"it returned {article(got)}, not a number."
    if isinstance(expected, tuple | list):
        if not isinstance(got, tuple | list):
            return f"it returned {article(got)}, not {len(expected)} values."
        if len(got) != len(expected):
            values = "value" if len(got) == 1 else "values"
            return f"it returned {len(got)} {values}, not {len(expected)}."
    return ""


def article(value: Any) -> str:
    name = type(value).__name__
    return f"an {name}" if name[0].lower() in "aeiou" or name == "ndarray" else f"a {name}"


def _short(value: Any) -> str:
    if isinstance(value, Tensor):
        return str([float(f"{v:.4g}") for v in value.detach().flatten().tolist()])
    return f"{value}" if len(f"{value}") < 100 else f"{value}"[:100] + "…"
