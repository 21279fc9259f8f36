"""The course at a glance: what a reader has passed, what is next, and how long the rest takes."""

import ast
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from html import escape
from pathlib import Path
from string import Template

from IPython.display import display
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output

from utils.exercises.numbers import label, titled
from utils.exercises.progress import progress
from utils.press import budget, minutes, notebooks
from utils.press.lessons import Day, days
from utils.press.notebooks import CHAPTERS, LessonError
from utils.show.display import format_table

PAGE = Path(__file__).parent / "templates" / "summary.html"
CELL = """\
# The course at a glance: run this cell again to see how far you have come
from utils.press import course

course.at_a_glance()"""
HEADERS = ("", "Day", "Lesson", "Exercises", "Beyond", "Minutes left")


@dataclass(frozen=True)
class Standing:
    """Where a reader is on a day.

    core: minutes of each exercise inside the lesson's steps, by name. beyond: names of all others,
    at the lesson's end and on its deeper page. reading: minutes of the lesson. points: what one can
    do after the day, each with its exercises. passed: names of the reader's, of all days.
    """

    day: Day
    core: dict[str, int]
    beyond: list[str]
    reading: float
    points: dict[str, list[str]]
    passed: set[str]

    @property
    def waiting(self) -> list[str]:
        """The core exercises that are not passed."""
        return [name for name in self.core if name not in self.passed]

    @property
    def left(self) -> float:
        """Minutes: of these exercises, and their share of the reading."""
        share = len(self.waiting) / max(len(self.core), 1)
        return sum(self.core[name] for name in self.waiting) + share * self.reading

    def count(self, names: Sequence[str]) -> str:
        return f"{len(self.passed.intersection(names))} of {len(names)}"


def standings(passed: set[str]) -> list[Standing]:
    """Where a reader with these exercises passed is on each day that is written."""
    return [_standing(day, passed) for day in days() if day.written]


def _standing(day: Day, passed: set[str]) -> Standing:
    lesson = CHAPTERS / f"{day.stem}.ipynb"
    notebook = notebooks.read(lesson)
    text = lesson.with_suffix(".py").read_text(encoding="utf-8")
    steps, _, _ = text.partition("\n# ## Exercises\n")
    boxes = minutes.of_day(day)
    core = {one.name: one.minutes for one in boxes if f"\n# :label: {label(one.name)}\n" in steps}
    beyond = [one.name for one in boxes if one.name not in core]
    return Standing(day, core, beyond, budget.count(notebook).reading, _points(text), passed)


def _points(lesson: str) -> dict[str, list[str]]:
    """A lesson's checklist: the exercises behind each point."""
    (points,) = re.findall(r"^points = (\{.*?^\})", lesson, re.MULTILINE | re.DOTALL)
    return {point: names.split() for point, names in ast.literal_eval(points).items()}


# ---------------------------------------------------------------------------------- at a glance


def at_a_glance() -> None:
    """Show the course in the first lesson, with what its reader has passed."""
    display(_bundle(), raw=True)


def first_cell() -> NotebookNode:
    """The cell of the first lesson that does so, with what it shows now."""
    shown = new_output("display_data", data=_bundle())
    return new_code_cell(CELL, outputs=[shown], metadata={"jupyter": {"source_hidden": True}})


def _bundle() -> dict[str, str]:
    found = standings(progress.passed())
    text = "\n\n".join([*sentences(found, in_lab=True), table(found, "pipe")])
    return {"text/plain": table(found), "text/markdown": text}


def sentences(found: list[Standing], in_lab: bool = False) -> list[str]:
    """How far the reader is, what is next, and how much is left, in words.

    in_lab: for a page in JupyterLab, else for a terminal.
    """
    passed = sum(len(each.core) - len(each.waiting) for each in found)
    core = sum(len(each.core) for each in found)
    said = [f"You have passed {passed} of the {core} exercises that the lessons are built on."]
    if begun := next((each for each in found if each.waiting), None):
        name = begun.waiting[0]
        where = f"{begun.day.stem}.ipynb" if in_lab else f"make lab LESSON={begun.day.stem}"
        page = f"[Day {begun.day.number}]({where})" if in_lab else f"Day {begun.day.number}"
        opens = "" if in_lab else f" `{where}` opens it."
        hours = max(1, round(sum(each.left for each in found) / 60))
        said += [
            f"Next: Exercise {titled(name)}, on {page} ({begun.core[name]} minutes).{opens}",
            f"About {hours} hour{'s' if hours > 1 else ''} of reading and writing are left.",
        ]
    else:
        said.append("That is the whole course. `make summary` writes a page of it to print.")
    return said


def table(found: list[Standing], style: str = "simple") -> str:
    """The days, a row each; in the style "pipe" with links, for JupyterLab."""
    next_one = next((each for each in found if each.waiting), None)
    rows = []
    for each in found:
        title = each.day.title
        if style == "pipe":
            title = f"[{title}]({each.day.stem}.ipynb)"
        sign = "✓" if not each.waiting else "→" if each is next_one else ""
        counts = each.count(list(each.core)), each.count(each.beyond)
        rows.append([sign, each.day.number, title, *counts, 5 * round(each.left / 5) or ""])
    return format_table(rows, HEADERS, style)


# -------------------------------------------------------------------------------------- to print


def summary(found: list[Standing], today: date) -> str:
    """A page that prints well: the days, and what the reader can do after each of them."""
    listed = []
    for each in found:
        points = "\n".join(
            f"<li>{'☑' if each.passed.issuperset(names) else '☐'} {escape(point)}</li>"
            for point, names in each.points.items()
        )
        counts = f"{each.count(list(each.core))} exercises, and {each.count(each.beyond)} beyond"
        listed.append(
            f"<section>\n<h2>Day {each.day.number}: {escape(each.day.title)}</h2>\n"
            f"<p>{escape(each.day.question)} <small>{counts}</small></p>\n"
            f"<ul>\n{points}\n</ul>\n</section>"
        )
    count = sum(len(each.passed.intersection([*each.core, *each.beyond])) for each in found)
    exercises = "1 exercise" if count == 1 else f"{count} exercises"
    page, day = Template(PAGE.read_text(encoding="utf-8")), f"{today.day} {today:%B %Y}"
    return page.substitute(exercises=exercises, day=day, days="\n".join(listed))


def write_summary(file: Path, page: str) -> None:
    """Write the page in place of an earlier one, beside it first.

    Raises: LessonError if something else has its name, or it can't be written.
    """
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        if file.exists() and page.partition("<body>")[0] not in file.read_text(encoding="utf-8"):
            raise LessonError(
                f"{notebooks.shown(file)} is none that `make summary` has written: rename it first."
            )
        file.parent.mkdir(exist_ok=True)
        draft.write_text(page, encoding="utf-8")
        draft.replace(file)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise LessonError(f"{notebooks.shown(file)} can't be written: {reason}.") from error
    finally:
        draft.unlink(missing_ok=True)
