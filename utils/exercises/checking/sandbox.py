"""A learner's function is called so that nothing it does can break the notebook."""

import builtins
import inspect
import io
import math
import operator
import os
import random
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from utils.exercises.checking.comparing import same
from utils.exercises.checking.errors import meant

# What an answer may patch, and all others use.
SHARED = (torch, torch.nn, torch.nn.functional, torch.linalg, Tensor, math, builtins)


def folder() -> str | None:
    with suppress(OSError):  # it was deleted
        return os.getcwd()


SETTINGS = (  # what an answer may set, and all others run with: how to read and to set it
    (torch.get_default_dtype, torch.set_default_dtype),
    (
        lambda: str(torch.get_default_device()),
        lambda device: torch.set_default_device(None if device == "cpu" else device),
    ),
    (torch.get_num_threads, torch.set_num_threads),
    (torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode),
    (torch.is_grad_enabled, torch.set_grad_enabled),
    (lambda: signal.getsignal(signal.SIGINT), lambda do: signal.signal(signal.SIGINT, do)),
    (folder, os.chdir),
    (sys.getrecursionlimit, sys.setrecursionlimit),
)


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


class Judged(Exception):
    """What `through` says of an answer, which raised nothing itself."""


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
        with unchanged():
            value = function(*given)
        value = plain(value)
    except KeyboardInterrupt:
        return Outcome(problem="you stopped it while it ran: does a loop never end?")
    except SystemExit:
        return Outcome(problem="it called exit(): return the result instead.")
    except Judged as sentence:
        return Outcome(problem=str(sentence), raised=str(sentence))
    except BaseException as error:
        if type(error) is NotImplementedError and not error.args:  # PyTorch's have a message
            return Outcome(untouched=True)
        raised = f"{type(error).__name__}: {message(error)}".partition("\n")[0]
        told = f"{says} It raised" if (says := meant(raised)) else "it raised"
        return Outcome(problem=f"{told} {raised}{_where(function, error)}", raised=raised)
    finally:
        if os.getpid() != process:  # a fork of the kernel, which must not go on with the notebook
            os._exit(0)
    changed = [i for i, (a, b) in enumerate(zip(inputs, given, strict=True)) if not same(b, a)]
    if changed:
        return Outcome(problem=f"it changed argument number {changed[0] + 1}: work on a copy.")
    return Outcome(value)


@contextmanager
def unchanged() -> Iterator[None]:
    """Put back afterwards what an answer patches of the library, and what it sets."""
    before = [(place, vars(place).copy()) for place in SHARED]
    set_before = [(read, put, read()) for read, put in SETTINGS]
    try:
        yield
    finally:
        for place, names in before:
            _put_back(place, names)
        for read, put, value in set_before:
            if read() != value:
                with suppress(OSError, TypeError, ValueError):  # a folder has gone, another thread
                    put(value)


@contextmanager
def own_lots() -> Iterator[None]:
    """Put the generators of random numbers back afterwards; PyTorch's starts from a seed."""
    drawn, by_numpy = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=[]):
        try:
            torch.manual_seed(0)
            yield
        finally:
            random.setstate(drawn)
            np.random.set_state(by_numpy)


def _put_back(place: Any, names: dict[str, Any]) -> None:
    now = vars(place).copy()
    if len(now) == len(names) and all(map(operator.is_, now.values(), names.values())):
        return
    for name in [name for name in names if now.get(name) is not names[name]]:
        setattr(place, name, names[name])
    if place is Tensor:  # a module is loaded in parts, a class is not
        for name in now.keys() - names.keys():
            delattr(place, name)


def plain(value: Any) -> Any:
    """A tensor of a class of its own as PyTorch's, whatever that class says of itself."""
    if issubclass(type(value), Tensor) and type(value) is not Tensor:
        with torch._C.DisableTorchFunctionSubclass():
            return Tensor.as_subclass(value, Tensor)
    return each(plain, value)


def message(error: BaseException) -> str:
    """What an exception says, if it can."""
    try:
        return str(error)
    except BaseException:
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
