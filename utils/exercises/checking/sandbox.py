"""A learner's function is called so that nothing it does can break the notebook."""

import inspect
import io
import math
import os
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from utils.exercises.checking.comparing import same

SHARED = (torch, torch.nn.functional, Tensor, math)  # what an answer may patch, and all others use


@dataclass(frozen=True)
class Outcome:
    """What a call gave: a value, or one sentence about what stopped it."""

    value: Any = None
    problem: str = ""
    raised: str = ""  # the exception's type and message
    untouched: bool = False


class Mute(io.TextIOBase):
    """Swallow what a learner's function prints."""

    used = False

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.used = True
        return len(text)


def copies(values: Iterable) -> tuple:
    return tuple(_copy(value) for value in values)


def _copy(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.clone()
    return each(_copy, value)


def each(change: Callable, value: Any) -> Any:
    """Change each part of a tuple, a named one too, or of a list; leave all else as it is."""
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(map(change, value))
    return type(value)(map(change, value)) if type(value) in (tuple, list) else value


def call(function: Callable, inputs: tuple) -> Outcome:
    """Call a learner's function so that nothing it does can break the notebook."""
    given, process = copies(inputs), os.getpid()
    try:
        value = function(*given)
    except KeyboardInterrupt:
        return Outcome(problem="you stopped it while it ran: does a loop never end?")
    except SystemExit:
        return Outcome(problem="it called exit(): return the result instead.")
    except BaseException as error:
        if type(error) is NotImplementedError and not error.args:  # PyTorch's have a message
            return Outcome(untouched=True)
        raised = f"{type(error).__name__}: {_message(error)}".partition("\n")[0]
        return Outcome(problem=f"it raised {raised}{_where(function, error)}", raised=raised)
    finally:
        if os.getpid() != process:  # a fork of the kernel, which must not go on with the notebook
            os._exit(0)
    changed = [i for i, (a, b) in enumerate(zip(inputs, given, strict=True)) if not same(b, a)]
    if changed:
        return Outcome(problem=f"it changed its argument number {changed[0] + 1}: work on a copy.")
    return Outcome(value)


@contextmanager
def unpatched() -> Iterator[None]:
    """Put back afterwards what an answer puts in place of the library's functions."""
    before = [(place, dict(vars(place))) for place in SHARED]
    try:
        yield
    finally:
        for place, names in before:
            now = dict(vars(place))
            for name in [name for name in names if now.get(name) is not names[name]]:
                setattr(place, name, names[name])
            if place is Tensor:  # a module is loaded in parts, a class is not
                for name in now.keys() - names.keys():
                    delattr(place, name)


def _message(error: BaseException) -> str:
    """What an exception says, if it can."""
    try:
        return str(error)
    except Exception:
        return "(its message cannot be printed)"


def _where(function: Callable, error: BaseException) -> str:
    """Quote the innermost line of the function itself that an exception passed through."""
    frames = zip(
        traceback.walk_tb(error.__traceback__),
        traceback.extract_tb(error.__traceback__),
        strict=True,
    )
    try:
        function = inspect.unwrap(function)
    except Exception:  # it claims to wrap itself
        return ""
    code = getattr(function, "__code__", None)
    lines = [line.line for (frame, _), line in frames if frame.f_code is code and line.line]
    return f" (in the line `{lines[-1]}`)" if lines else ""
