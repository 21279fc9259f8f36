"""How an exercise checks itself and names the mistake.

An exercise is a file in `utils/exercises/<day>/`, read from top to bottom: a docstring that says
what is asked, the reference, `exercise = Exercise(number, reference)`, and under it the stages and
the mistakes, each a decorated function.
"""

import importlib
import inspect
import io
import itertools
import math
import os
import pkgutil
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, allclose, equal, isclose  # an answer may patch torch's own

from utils.exercises.progress import progress
from utils.show.display import show_reference


def random(*shape: int) -> Tensor:
    """Draw a tensor in double precision, in which mistakes can't hide behind rounding."""
    return torch.randn(*shape, dtype=torch.float64)


NOT_STARTED = "not started: write the function's body and run this cell again."
MIXED = re.compile(r"\bfloat\b.*\bdouble\b|\bdouble\b.*\bfloat\b", re.IGNORECASE)
SHARED = (torch, torch.nn.functional, Tensor, math)  # what an answer may patch, and all others use


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that people are known to give, and the idea that it misses."""

    says: str
    wrong: Any  # a function for a code exercise, a value for a prediction


@dataclass(frozen=True)
class Stage:
    """A step of a check: what it looks at, and the inputs that isolate it."""

    looks_at: str
    inputs: Callable[[], Iterable[tuple]]  # draws from torch's generator, which the check seeds


@dataclass(frozen=True)
class Outcome:
    """What a call gave: a value, or one sentence about what stopped it."""

    value: Any = None
    problem: str = ""
    raised: str = ""  # the exception's type and message
    untouched: bool = False


class _Mute(io.TextIOBase):
    """Swallow what a learner's function prints."""

    used = False

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.used = True
        return len(text)


def _copies(values: Iterable) -> tuple:
    return tuple(_copy(value) for value in values)


def _copy(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.clone()
    return _each(_copy, value)


def _each(change: Callable, value: Any) -> Any:
    """Change each part of a tuple, a named one too, or of a list; leave all else as it is."""
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(map(change, value))
    return type(value)(map(change, value)) if type(value) in (tuple, list) else value


def _call(function: Callable, inputs: tuple) -> Outcome:
    """Call a learner's function so that nothing it does can break the notebook."""
    given, process = _copies(inputs), os.getpid()
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
    changed = [i for i, (a, b) in enumerate(zip(inputs, given, strict=True)) if not _same(b, a)]
    if changed:
        return Outcome(problem=f"it changed its argument number {changed[0] + 1}: work on a copy.")
    return Outcome(value)


@contextmanager
def _unpatched() -> Iterator[None]:
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


def _same(got: Any, expected: Any) -> bool:
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
            and all(map(_same, got, expected))
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


def _type_problem(got: Any, expected: Any) -> str:
    """Explain in a sentence why `got` cannot be compared with `expected`, or return nothing."""
    if got is None:
        return "it returned None: is a `return` missing?"
    if isinstance(expected, Tensor):
        if not isinstance(got, Tensor):
            made = isinstance(got, list | tuple | int | float)
            how = " Make one of the numbers with torch.stack or torch.tensor." if made else ""
            if type(got).__module__ == "torch.return_types":  # such as that of x.max(dim=1)
                how = " It holds the values and their places: take its .values."
            if isinstance(got, int | float) and expected.ndim == 0:
                how = " It has no gradient: leave out what made it a number, such as .item()."
            return f"it returned {_article(got)}, not a tensor.{how}"
        if got.shape != expected.shape:
            return f"the result has shape {tuple(got.shape)}, it should be {tuple(expected.shape)}."
        if _kind(got) != _kind(expected):
            return f"the result has type {got.dtype}, it should be {expected.dtype}."
    if isinstance(expected, bool) and not isinstance(got, bool):
        return f"it returned {_article(got)}, not True or False."
    if type(expected) is int and type(got) is not int:
        return f"it returned {_article(got)}, not a whole number (int)."
    if isinstance(expected, float) and not isinstance(got, int | float | Tensor):
        return f"it returned {_article(got)}, not a number."
    if isinstance(expected, tuple | list):
        if not isinstance(got, tuple | list):
            return f"it returned {_article(got)}, not {len(expected)} values."
        if len(got) != len(expected):
            return f"it returned {len(got)} values, not {len(expected)}."
    return ""


def _article(value: Any) -> str:
    name = type(value).__name__
    return f"an {name}" if name[0].lower() in "aeiou" or name == "ndarray" else f"a {name}"


def _short(value: Any) -> str:
    if isinstance(value, Tensor):
        return str([float(f"{v:.4g}") for v in value.detach().flatten().tolist()])
    return f"{value}" if len(f"{value}") < 100 else f"{value}"[:100] + "…"


def _difference(got: Any, expected: Any) -> str:
    """Say what is wrong: the kind of result, a few numbers side by side, or how many differ."""
    try:
        return _told_apart(got, expected)
    except Exception:
        return f"it returned {_article(got)} that cannot be compared with what was asked for."


def _told_apart(got: Any, expected: Any) -> str:
    if problem := _type_problem(got, expected):
        return problem
    if isinstance(expected, tuple | list):
        pairs = enumerate(zip(got, expected, strict=True), start=1)
        return next(f"value {i}: {_difference(a, b)}" for i, (a, b) in pairs if not _same(a, b))
    if isinstance(expected, Tensor) and expected.numel() > 12:
        right = isclose(got.double(), expected.double(), rtol=1e-4, atol=1e-4)
        if not right.all():
            return f"{int((~right).sum())} of {right.numel()} numbers are wrong."
    elif _short(got) != _short(expected):
        return f"you got {_short(got)}, it should be {_short(expected)}."
    return (
        "the first four digits are right, and the next are not: is a part in single precision, or "
        "a small number added?"
    )


def _gradients(function: Callable, inputs: tuple, data: Sequence[int]) -> Outcome:
    """Differentiate a fixed random weighting of the results by each input of floating point.

    data: places of inputs that are given, and have no gradient.
    """
    given = _copies(inputs)
    varied = [x for place, x in enumerate(given) if place not in data]
    leaves = [x.requires_grad_() for x in varied if isinstance(x, Tensor) and x.is_floating_point()]
    outcome = _call(function, given)
    if outcome.problem:
        return outcome
    results = outcome.value if isinstance(outcome.value, tuple | list) else (outcome.value,)
    if not all(result.requires_grad for result in results):
        return Outcome(
            problem="the result is cut off from autograd: stay with tensors all the way, "
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

    outcome = _call(differentiate, ())
    if "modified by an inplace operation" in outcome.raised:
        return Outcome(
            problem="autograd cannot follow it, since it writes into a tensor that a later step "
            "reads: collect the parts in a list, and put them together with torch.stack."
        )
    if outcome.raised:
        return Outcome(problem=f"the gradient cannot be computed: {outcome.raised}")
    return outcome


def _in_single(function: Callable) -> Callable:
    """The function on inputs in single precision."""

    def on_single(*inputs: Any) -> Any:
        return function(*map(_single, inputs))

    on_single.__wrapped__ = function
    return on_single


def _single(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.float() if value.dtype == torch.float64 else value
    return _each(_single, value)


@dataclass
class Exercise:
    """A function to write, checked in stages from simple to full.

    A wrong answer is compared with the known mistakes on all inputs of all stages; a mistake is
    named only if it is the only one that gives the learner's results everywhere.
    gradient: whether the results' gradients by all inputs are compared too, but those at the
        places in `data`.
    runs: whether the lesson goes on with what the learner wrote.
    through: makes of an answer the one that is judged.
    """

    id: str
    reference: Callable
    stages: list[Stage] = field(default_factory=list)
    mistakes: dict[str, Mistake] = field(default_factory=dict)
    gradient: bool = True
    data: tuple[int, ...] = ()
    runs: bool = False
    through: Callable[[Callable], Callable] | None = None

    def stage(self, looks_at: str) -> Callable[[Callable], Callable]:
        """Add the next stage: the function under this decorator gives its inputs, tuples."""

        def add(inputs: Callable[[], Iterable[tuple]]) -> Callable:
            self.stages.append(Stage(looks_at, inputs))
            return inputs

        return add

    def mistake(self, says: str) -> Callable[[Callable], Callable]:
        """Add a known mistake: the function under this decorator makes it."""

        def add(wrong: Callable) -> Callable:
            _keep(self.mistakes, wrong, Mistake(says, wrong))
            return wrong

        return add

    def trials(self) -> list[tuple[Stage, tuple]]:
        """Draw the inputs of all stages: the same in each call, the caller's seed untouched."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(20120930)
            return [(stage, inputs) for stage in self.stages for inputs in stage.inputs()]

    def judge(self, attempt: Any) -> tuple[bool | None, str]:
        """Return True, False or (untouched) None, and a sentence."""
        if attempt is None:
            return None, NOT_STARTED
        if not callable(attempt):
            return False, f"expected a function, got {_article(attempt)}."
        if self.through is not None:
            attempt = self.through(attempt)
        mute = _Mute()
        with torch.random.fork_rng(devices=[]), torch.enable_grad(), _unpatched():
            torch.manual_seed(0)
            with redirect_stdout(mute), redirect_stderr(mute):
                passed, sentence = self._verdict(attempt)
        return passed, sentence + (" (What it printed is left out.)" if mute.used else "")

    def _verdict(self, attempt: Callable, in_double: bool = True) -> tuple[bool | None, str]:
        for stage, inputs in self.trials():
            outcome, expected = _call(attempt, inputs), self.reference(*_copies(inputs))
            if outcome.untouched:
                return None, NOT_STARTED
            if in_double and MIXED.search(outcome.raised):  # such as states made by torch.zeros
                return self._verdict(_in_single(attempt), in_double=False)
            if outcome.raised:
                return False, self.named(attempt, outcome.problem)
            if outcome.problem:
                return False, outcome.problem
            if not _same(outcome.value, expected):
                problem = _difference(outcome.value, expected)
                return False, self.named(attempt, f"looking at {stage.looks_at}: {problem}")
        if self.gradient:
            got, expected = (_gradients(f, inputs, self.data) for f in (attempt, self.reference))
            if got.problem:
                return False, f"the values are right, but {got.problem}"
            if not _same(got.value, expected.value):
                return False, "the values are right, but the gradient is not."
        return True, "correct."

    def named(self, attempt: Callable, otherwise: str) -> str:
        """Name the one known mistake that gives the learner's results everywhere."""
        trials = self.trials()
        got = []
        for _, inputs in trials:
            got.append(_call(attempt, inputs))
            if got[-1].problem and not got[-1].raised:
                return otherwise
        suspects = []
        for mistake in self.mistakes.values():
            gives = [_call(mistake.wrong, inputs) for _, inputs in trials]
            if all(
                a.raised == b.raised and (a.raised or _same(a.value, b.value))
                for a, b in zip(got, gives, strict=True)
            ):
                suspects.append(mistake)
        return suspects[0].says if len(suspects) == 1 else otherwise


@dataclass
class Prediction:
    """A number or a word to commit to before the experiment is run.

    tolerance: relative. choices: the words to choose from.
    """

    id: str
    answer: Callable[[], float | int | str | bool]
    mistakes: dict[str, Mistake] = field(default_factory=dict)
    tolerance: float = 0.0
    choices: tuple[str, ...] = ()

    def mistake(self, says: str) -> Callable[[Callable], Callable]:
        """Add a known mistake: the function under this decorator returns the wrong answer."""

        def add(wrong: Callable[[], float | int | str | bool]) -> Callable:
            _keep(self.mistakes, wrong, Mistake(says, wrong()))
            return wrong

        return add

    def agrees(self, attempt: Any, value: Any) -> bool:
        if isinstance(value, str):
            return isinstance(attempt, str) and attempt.strip().lower() == value
        if isinstance(value, bool) or isinstance(attempt, bool | str):
            return attempt is value
        try:
            both_nan = math.isnan(attempt) and math.isnan(value)
            return both_nan or math.isclose(attempt, value, rel_tol=self.tolerance, abs_tol=1e-9)
        except OverflowError:  # a whole number beyond all floats
            return False

    def judge(self, attempt: Any) -> tuple[bool | None, str]:
        """Return True, False or (untouched) None, and a sentence."""
        if attempt is None:
            return None, "not started: put your prediction in place of None."
        if isinstance(attempt, Tensor | np.generic) and attempt.ndim == 0:
            attempt = attempt.item()
        expected = self.answer()
        if isinstance(expected, str) != isinstance(attempt, str) or not isinstance(
            attempt, bool | int | float | str
        ):
            return False, f"expected {_article(expected)}, got {_article(attempt)}."
        if self.choices and not any(self.agrees(attempt, choice) for choice in self.choices):
            return False, f"say one of: {', '.join(self.choices)}."
        if self.agrees(attempt, expected):
            return True, "correct."
        for mistake in self.mistakes.values():
            if self.agrees(attempt, mistake.wrong):
                return False, mistake.says
        return False, "that is not it: think again, or run the experiment and ask why."


def _keep(mistakes: dict[str, Mistake], wrong: Callable, mistake: Mistake) -> None:
    if wrong.__name__ in mistakes:
        raise ValueError(f"Two mistakes are called {wrong.__name__}: give each its own name.")
    mistakes[wrong.__name__] = mistake


def _path(file: ModuleType) -> str:
    return file.__name__.replace(".", "/") + ".py"


def _number(file: ModuleType) -> list[int]:
    return [int(part) for part in file.exercise.id.split(".")]


class Checker:
    """The exercises of a day: `check(id, attempt)` is the call under each of them."""

    def __init__(self, *exercises: Exercise | Prediction):
        self.exercises = {exercise.id: exercise for exercise in exercises}

    @classmethod
    def of(cls, day: str) -> "Checker":
        """Gather the exercises of a package of `utils.exercises`: the files that define one.

        Raises: ValueError if two have the same number, or one is begun and not defined.
        """
        names = [info.name for info in pkgutil.iter_modules(importlib.import_module(day).__path__)]
        files = [importlib.import_module(f"{day}.{name}") for name in names]
        for file in files:
            if not hasattr(file, "exercise") and {"Exercise", "Prediction"} & vars(file).keys():
                raise ValueError(
                    f'{_path(file)} defines no exercise: write `exercise = Exercise("N.M", '
                    "reference)`, or a Prediction, under that name."
                )
        files = sorted((file for file in files if hasattr(file, "exercise")), key=_number)
        for one, other in itertools.pairwise(files):
            if _number(one) == _number(other):
                chapter, last = _number(files[-1])
                raise ValueError(
                    f"{_path(one)} and {_path(other)} are both Exercise {one.exercise.id}: the "
                    f"next free number is {chapter}.{last + 1}."
                )
        return cls(*(file.exercise for file in files))

    def __call__(self, id: str, attempt: Any) -> Callable | None:
        """Check a learner's attempt and print the verdict; never raise, never return early.

        Returns: what the lesson goes on with, if it does (`runs`): the attempt if it is right, else
        the reference. From other exercises nothing.
        """
        if id not in self.exercises:
            print(f"There is no exercise {id} here; there are {', '.join(self.exercises)}.")
            return None
        exercise = self.exercises[id]
        runs = getattr(exercise, "runs", False)
        try:
            passed, sentence = exercise.judge(attempt)
        except KeyboardInterrupt:
            passed, sentence = False, "you stopped the check."
        sign = {True: "✓", False: "✗", None: "○"}[passed]
        print(f"{sign} {id}  {sentence}")
        if passed:
            progress.add(id)
        if not runs:
            return None
        whose = "yours" if passed else "the book's own"
        print(f"   From here on the page runs on {whose}.")
        return attempt if passed else exercise.reference

    def show_reference(self, id: str) -> None:
        """Show how the book writes an exercise, closed until the reader opens it."""
        show_reference(self.exercises[id].reference)
