"""What an exercise is: a function to write or a value to predict, its stages and its mistakes."""

import math
import re
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor

from utils.exercises.checking.comparing import article, difference, explains, numbers, same
from utils.exercises.checking.gradients import gradients, in_single, unlike
from utils.exercises.checking.sandbox import Mute, Outcome, call, copies, own_lots, unchanged

NOT_STARTED = "not started. Write the function's body and run this cell again."
MIXED = re.compile(r"\bfloat\b.*\bdouble\b|\bdouble\b.*\bfloat\b", re.IGNORECASE)


def random(*shape: int) -> Tensor:
    """Draw a tensor in double precision, in which mistakes can't hide behind rounding."""
    return torch.randn(*shape, dtype=torch.float64)


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


@dataclass
class Exercise:
    """A function to write, checked in stages from simple to full.

    A wrong answer is compared with the known mistakes on all inputs of all stages; a mistake is
    named only if it is the only one that gives the learner's results (`named`).
    gradient: whether the results' gradients by all inputs are compared too, but those at the
        places in `data`.
    runs: whether the lesson goes on with what the learner wrote.
    through: makes of an answer the one that is judged.
    but: what has to be said of a correct answer all the same, such as that it is slow, or "".
    """

    reference: Callable
    stages: list[Stage] = field(default_factory=list)
    mistakes: dict[str, Mistake] = field(default_factory=dict)
    gradient: bool = True
    data: tuple[int, ...] = ()
    runs: bool = False
    through: Callable[[Callable], Callable] | None = None
    but: Callable[[Callable], str] | None = None
    name: str = ""  # of its file, from `Checker.of`

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
            return False, f"expected a function, got {article(attempt)}."
        if self.through is not None:
            attempt = self.through(attempt)
        mute = Mute()
        with own_lots(), torch.enable_grad(), redirect_stdout(mute), redirect_stderr(mute):
            passed, sentence = self._verdict(attempt)
            if passed and self.but is not None:
                with unchanged():
                    remark = self.but(attempt)
                sentence = f"correct, but {remark}" if remark else sentence
        return passed, sentence + (" (What it printed is not shown.)" if mute.used else "")

    def _verdict(self, attempt: Callable, in_double: bool = True) -> tuple[bool | None, str]:
        for stage, inputs in self.trials():
            outcome, expected = call(attempt, inputs), self.reference(*copies(inputs))
            if outcome.untouched:
                return None, NOT_STARTED
            if in_double and MIXED.search(outcome.raised):  # such as states made by torch.zeros
                return self._verdict(in_single(attempt), in_double=False)
            if outcome.raised:
                return False, self.named(attempt, outcome.problem)
            if outcome.problem:
                return False, outcome.problem
            if not same(outcome.value, expected):
                problem = difference(outcome.value, expected)
                return False, self.named(attempt, f"looking at {stage.looks_at}: {problem}")
        if self.gradient:
            got, expected = (gradients(f, inputs, self.data) for f in (attempt, self.reference))
            if got.problem:
                return False, f"the values are correct, but {got.problem}"
            if not same(got.value, expected.value):
                problem = unlike(got.value, expected.value, inputs, self.data)
                return False, f"the values are correct, but {problem}"
        return True, "correct."

    def named(self, attempt: Callable, otherwise: str) -> str:
        """Name the one known mistake that gives the learner's results.

        Where none gives them all, the answer may be wrong in two ways, or right at an edge. Then it
        is the one that gives them up to the first stage that fails, and wherever they are wrong in
        over two thirds of the trials: small inputs alone make many mistakes look alike. Results
        that are one and the same number everywhere have too many causes.
        """
        trials, got = self.trials(), []
        for _, inputs in trials:
            got.append(call(attempt, inputs))
            if got[-1].problem and not got[-1].raised:
                return otherwise
        right = [Outcome(self.reference(*copies(inputs))) for _, inputs in trials]
        failed = [i for i in range(len(trials)) if not _alike(got[i], right[i])]
        stage = trials[failed[0]][0] if failed else None  # none if it draws lots
        until = max((i for i, (at, _) in enumerate(trials) if at is stage), default=len(trials))
        suspects, in_part = [], []
        for mistake in self.mistakes.values():
            gives, fits = [], True
            wrong = self.through(mistake.wrong) if self.through else mistake.wrong
            for i, (_, inputs) in enumerate(trials):
                gives.append(call(wrong, inputs))
                fits = fits and _alike(got[i], gives[i])
                if not fits and i <= until:
                    break
            else:
                (suspects if fits else in_part).append((mistake, gives))
        if suspects or len(in_part) != 1 or any(got[i].raised for i in failed if i <= until):
            return suspects[0][0].says if len(suspects) == 1 else otherwise
        ((mistake, gives),) = in_part
        told = [
            i
            for i in failed
            if not got[i].raised and explains(gives[i].value, got[i].value, right[i].value)
        ]
        constant = len(numbers([got[i].value for i in told])) < 2  # such as 0, for many reasons
        if constant or len(told) < 2 or 3 * len(told) <= 2 * len(failed):
            return otherwise
        return (
            f"looking at {stage.looks_at}, your result is that of a common mistake: {mistake.says}"
        )


def _alike(a: Outcome, b: Outcome) -> bool:
    return a.raised == b.raised and bool(a.raised or same(a.value, b.value))


@dataclass
class Prediction:
    """A number or a word to commit to before the experiment is run.

    tolerance: relative. choices: the words to choose from.
    """

    answer: Callable[[], float | int | str | bool]
    mistakes: dict[str, Mistake] = field(default_factory=dict)
    tolerance: float = 0.0
    choices: tuple[str, ...] = ()
    name: str = ""

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
            return None, "not started. Replace None with your prediction."
        if isinstance(attempt, Tensor | np.generic) and attempt.ndim == 0:
            attempt = attempt.item()
        expected = self.answer()
        if isinstance(expected, str) != isinstance(attempt, str) or not isinstance(
            attempt, Real | str
        ):
            return False, f"expected {article(expected)}, got {article(attempt)}."
        if self.choices and not any(self.agrees(attempt, choice) for choice in self.choices):
            return False, f"choose one of: {', '.join(self.choices)}."
        if self.agrees(attempt, expected):
            return True, "correct."
        for mistake in self.mistakes.values():
            if self.agrees(attempt, mistake.wrong):
                return False, mistake.says
        return False, "that isn't it: think again."


def _keep(mistakes: dict[str, Mistake], wrong: Callable, mistake: Mistake) -> None:
    if wrong.__name__ in mistakes:
        raise ValueError(f"Two mistakes are called {wrong.__name__}: give each its own name.")
    mistakes[wrong.__name__] = mistake
