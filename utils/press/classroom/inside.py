"""The process of one hand-in: contain yourself, run what the checks need, report line by line.

`python -m utils.press.classroom.inside BYTES [CELL …]` reads a notebook from its input. Its output
has one JSON object a line: what is contained; `at`, the cell that begins, with its exercises; and
`name`, the verdict on an exercise. BYTES of memory are allowed beyond Python's own; the CELLs, by
number, have hung before and are left out. No file is read that a hand-in may have written.
"""

import ast
import ctypes.util
import json
import linecache
import os
import re
import sys
import tempfile

from utils.press.classroom.contained import contain, limit_memory

HELD = contain()  # first of all, while there is but one thread and no code of a hand-in
tempfile.tempdir = os.getcwd()  # Python would look for one in which it may write
ctypes.util.find_library = lambda name: None  # so would this; PyTorch for GPUs asks it

from collections.abc import Callable  # noqa: E402
from importlib import import_module  # noqa: E402

from utils import ROOT  # noqa: E402
from utils.exercises.checking import Exercise, Prediction  # noqa: E402
from utils.exercises.checking.sandbox import message  # noqa: E402
from utils.exercises.progress import FORMER  # noqa: E402
from utils.press.classroom.evidence import encoded, evidence  # noqa: E402
from utils.press.classroom.excerpt import Cell, cells, excerpt  # noqa: E402

EXERCISES = ROOT / "utils" / "exercises"


def main(allowed: int, left_out: set[int]) -> None:
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)  # what a hand-in prints isn't it
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)

    def report(**facts: object) -> None:
        out.write(json.dumps(facts) + "\n")

    notebook = sys.stdin.read()
    held = HELD
    if sys.platform.startswith("linux"):
        limit_memory(allowed)
        held = [*held, "memory"]
    report(contained=held)
    try:
        page = excerpt(cells(notebook))
    except ValueError as error:
        report(unreadable=str(error))
        return
    exercises = asked({FORMER.get(name, name) for cell in page for name in cell.checks})
    judged: set[str] = set()

    def reporting(name: str, judge: Callable) -> Callable:
        def judge_and_report(attempt: object) -> tuple[bool | None, str]:
            try:
                passed, said = judge(attempt)
            except BaseException as error:  # what it gave runs code of its own when looked at
                passed, said = False, f"its result can't be read: {summed_up(error)}"
            sent = encoded(evidence(exercises[name], attempt)) if passed else ""
            report(name=name, passed=passed, said=explained(said), evidence=sent)
            judged.add(name)
            return passed, said

        return judge_and_report

    for name, exercise in exercises.items():
        exercise.judge = reporting(name, exercise.judge)
    space, earlier = {"__name__": "__main__"}, ""
    for number, cell in enumerate(page):
        names = {FORMER.get(name, name): target for name, target in cell.checks.items()}
        report(at=number, names=[*names])
        problem = "" if number in left_out else run(cell, f"<cell {number}>", space)
        for name, target in names.items():
            if name not in judged and name in exercises:
                if problem:
                    said = f"its cell fails: {problem}{earlier}"
                    report(name=name, passed=False, said=said, evidence="")
                if target:
                    space[target] = exercises[name].reference
        earlier = f", after {problem}" if problem else earlier
    report(ended=True)


def asked(names: set[str]) -> dict[str, Exercise | Prediction]:
    """The exercises of the days to which these names belong."""
    days = {day for day in EXERCISES.iterdir() for name in names if (day / f"{name}.py").is_file()}
    checks = [import_module(f"utils.exercises.{day.name}").check for day in days]
    return {name: each for check in checks for name, each in check.exercises.items()}


def run(cell: Cell, file: str, space: dict) -> str:
    """Run what is needed of a cell; say in a line what stopped it, if anything did."""
    if cell.problem:
        return cell.problem
    lines = cell.source.splitlines(keepends=True)
    linecache.cache[file] = (len(cell.source), None, lines, file)
    try:
        exec(compile(ast.Module(cell.code, []), file, "exec"), space)
    except BaseException as error:
        return summed_up(error)
    return ""


def summed_up(error: BaseException) -> str:
    return explained(f"{type(error).__name__}: {message(error)}".partition("\n")[0])


def explained(said: str) -> str:
    """What is said of an answer, with the words that Python's own MemoryError lacks."""
    words = "MemoryError: it needed more memory than there is"
    return re.sub(r"\bMemoryError: ?(?= \(|$)", words, said)


if __name__ == "__main__":
    main(int(sys.argv[1]), set(map(int, sys.argv[2:])))
