"""The number that a reader sees on an exercise: its day's, and its place on the day's pages."""

import re
from functools import cache
from itertools import count
from pathlib import Path

from utils import ROOT

LABEL = re.compile(r"^# :label: (exercise-[a-z0-9-]+)$", re.MULTILINE)


def label(name: str) -> str:
    """The label of an exercise's box: `exercise-split-heads` for split_heads."""
    return f"exercise-{name.replace('_', '-')}"


def numbers(chapters: Path) -> dict[str, str]:
    """{label: number} in the order of the boxes: a lesson's, then those of its deeper page."""
    found: dict[str, str] = {}
    for lesson in sorted(chapters.glob("[0-9]*.py")):
        day, following = int(lesson.stem[:2]), count(1)
        for page in (lesson, chapters / "deeper" / lesson.name):
            if page.exists():
                labels = LABEL.findall(page.read_text(encoding="utf-8"))
                found |= {label: f"{day}.{next(following)}" for label in labels}
    return found


@cache
def _in_the_book() -> dict[str, str]:
    return numbers(ROOT / "chapters")


def titled(name: str) -> str:
    """Number and name of an exercise, as in "5.3 split_heads"; the name alone if no page has it."""
    return " ".join(filter(None, (_in_the_book().get(label(name)), name)))
