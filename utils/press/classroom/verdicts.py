"""What is said of each exercise that a class had: from what the processes reported, verified."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from utils.exercises.checking import Exercise, Prediction
from utils.exercises.numbers import label, numbers
from utils.press.classroom.evidence import bears_out
from utils.press.classroom.running import Run
from utils.press.lessons import days
from utils.press.minutes import of_day
from utils.press.notebooks import CHAPTERS

# From the best to the worst. "refused": the hand-in's process says that the check was passed, but
# the numbers it sent are not those of a right answer.
VERDICTS = ("passed", "known mistake", "wrong", "not started", "missing", "stopped", "refused")


@dataclass(frozen=True)
class Asked:
    """An exercise as the book asks it: its page, as `deeper/05_self_attention`, and minutes."""

    page: str
    number: str
    minutes: int
    exercise: Exercise | Prediction


@dataclass(frozen=True)
class Row:
    """A row of the table: of one student and one exercise, or of a file that can't be read.

    minutes: those that the book estimates for the exercise; nobody measured the student's.
    """

    student: str
    file: str
    page: str
    number: str
    exercise: str
    verdict: str
    mistake: str
    said: str
    minutes: int | str


@cache
def book() -> dict[str, Asked]:
    """{name: exercise} of the whole book, in its order."""
    places, found = numbers(CHAPTERS), {}
    for day in days():
        exercises = import_module(f"utils.exercises.{day.topic}").check.exercises
        for name, page, minutes in of_day(day):
            found[name] = Asked(page, places[label(name)], minutes, exercises[name])
    return found


def rows(student: str, file: str, run: Run) -> list[Row]:
    """A row for each exercise of the pages of which a hand-in has any."""
    if run.unreadable:
        said = shortened(run.unreadable)
        return [Row(student, file, "", "", "", "unreadable", "", said, "")]
    here = [name for name in book() if name in run.lines or name in run.stopped]
    pages = {book()[name].page for name in here}
    return [
        Row(student, file, asked.page, asked.number, name, *_verdict(name, run), asked.minutes)
        for name, asked in book().items()
        if asked.page in pages
    ] or [Row(student, file, "", "", "", "unreadable", "", "it has no check of the book's", "")]


def _verdict(name: str, run: Run) -> tuple[str, str, str]:
    """(verdict, mistake, what was said)."""
    if name not in run.lines:
        stopped = run.stopped.get(name, "")
        return ("stopped", "", stopped) if stopped else ("missing", "", "no cell checks it")
    line, exercise = run.lines[name], book()[name].exercise
    said = shortened(line.get("said"))
    if line.get("passed") is True:
        right = isinstance(sent := line.get("evidence"), str) and bears_out(sent, exercise)
        return ("passed", "", "") if right else ("refused", "", "its numbers are not right")
    if line.get("passed") is None:
        return "not started", "", ""
    known = [
        mistake.says
        for mistake in exercise.mistakes.values()
        if mistake.says in str(line.get("said"))
    ]
    return ("known mistake", max(known, key=len), "") if known else ("wrong", "", said)


def shortened(text: object, longest: int = 200) -> str:
    """One line of text that a spreadsheet shows and doesn't compute."""
    line = re.sub(r"\s+", " ", "".join(c if c.isprintable() else " " for c in str(text))).strip()
    line = line if len(line) <= longest else line[: longest - 1] + "…"
    return f"'{line}" if line.startswith(("=", "+", "-", "@")) else line


def best(found: Iterable[Row]) -> list[Row]:
    """Of a student's rows on one exercise, from several files, the best one."""
    kept: dict[tuple[str, str], Row] = {}
    for row in found:
        key = row.student, row.exercise or row.file
        if key not in kept or _rank(row) < _rank(kept[key]):
            kept[key] = row
    return list(kept.values())


def _rank(row: Row) -> int:
    return VERDICTS.index(row.verdict) if row.verdict in VERDICTS else len(VERDICTS)
