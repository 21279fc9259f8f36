"""The exercises of a day, and the call under each of them."""

import importlib
import itertools
import pkgutil
from collections.abc import Callable
from types import ModuleType
from typing import Any

from utils.exercises.checking.exercise import Exercise, Prediction
from utils.exercises.progress import progress
from utils.show import luck
from utils.show.display import show_reference


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
        luck.in_place[getattr(attempt, "__name__", id)] = attempt if passed else exercise.reference
        return attempt if passed else exercise.reference

    def show_reference(self, id: str) -> None:
        """Show how the book writes an exercise, closed until the reader opens it."""
        show_reference(self.exercises[id].reference)


def _path(file: ModuleType) -> str:
    return file.__name__.replace(".", "/") + ".py"


def _number(file: ModuleType) -> list[int]:
    return [int(part) for part in file.exercise.id.split(".")]
