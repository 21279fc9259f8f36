"""The exercises of a day, and the call under each of them."""

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

from utils.exercises.checking.exercise import Exercise, Prediction
from utils.exercises.checking.sandbox import message
from utils.exercises.numbers import titled
from utils.exercises.progress import FORMER, progress
from utils.show import luck
from utils.show.display import show_reference


class Checker:
    """The exercises of a day: `check(name, attempt)` is the call under each of them.

    Readers' copies of version 0.8.0 call them by the numbers that they had then.
    """

    def __init__(self, *exercises: Exercise | Prediction):
        self.exercises = {exercise.name: exercise for exercise in exercises}

    @classmethod
    def of(cls, day: str) -> "Checker":
        """Gather the exercises of a package of `utils.exercises`: the files that define one.

        Raises: ValueError if one is begun and not defined.
        """
        found = []
        for info in pkgutil.iter_modules(importlib.import_module(day).__path__):
            file = importlib.import_module(f"{day}.{info.name}")
            if hasattr(file, "exercise"):
                file.exercise.name = info.name
                found.append(file.exercise)
            elif {"Exercise", "Prediction"} & vars(file).keys():
                raise ValueError(
                    f"{file.__name__.replace('.', '/')}.py defines no exercise: write `exercise = "
                    "Exercise(reference)`, or a Prediction, under that name."
                )
        return cls(*found)

    def __call__(self, name: str, attempt: Any) -> Callable | None:
        """Check a learner's attempt and print the verdict; never raise, never return early.

        Returns: what the lesson goes on with, if it does (`runs`): the attempt if it is right, else
        the reference. From other exercises nothing.
        """
        name = FORMER.get(name, name)
        if name not in self.exercises:
            print(
                f"There is no exercise {name} here. The exercises are {', '.join(self.exercises)}."
            )
            return None
        exercise = self.exercises[name]
        runs = getattr(exercise, "runs", False)
        try:
            passed, sentence = exercise.judge(attempt)
        except KeyboardInterrupt:
            passed, sentence = False, "you stopped the check."
        except BaseException as error:  # what it gave runs code of its own when it is looked at
            problem = f"{type(error).__name__}: {message(error)}".partition("\n")[0]
            passed, sentence = False, f"its result can't be read: that raised {problem}"
        sign = {True: "✓", False: "✗", None: "○"}[passed]
        print(f"{sign} {titled(name)}: {sentence}")
        if passed:
            progress.add(name)
        if not runs:
            return None
        whose = "yours" if passed else "the book's"
        print(f"   From here on, the page uses {whose}.")
        luck.in_place[name] = attempt if passed else exercise.reference
        return luck.in_place[name]

    def show_reference(self, name: str) -> None:
        """Show how the book writes an exercise, closed until the reader opens it."""
        show_reference(self.exercises[FORMER.get(name, name)].reference)
