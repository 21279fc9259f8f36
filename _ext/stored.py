"""What pages around the lessons take from them: a view, and numbers that are counted here."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective, SphinxRole

from utils import ROOT
from utils.measure.claims import ANSWERS
from utils.press import budget, claims, lessons, notebooks
from utils.press.classroom import plan


def stored_view(notebook: Path, name: str) -> str:
    """The HTML of a view as an executed notebook holds it; of several by this name, the last.

    Raises: ValueError if it holds none, or there is no such notebook.
    """
    if not notebook.is_file():
        raise ValueError(f"There is no notebook {notebook.name} in {notebook.parent.name}/.")
    found = dict(_views(notebook))
    if name not in found:
        known = ", ".join(found) or "none"
        raise ValueError(
            f"{notebook.name} stores no view {name!r}; its views: {known}. Name one of these, or "
            f"run `make execute LESSON={notebook.stem}`."
        )
    return found[name]


def _views(notebook: Path) -> Iterator[tuple[str, str]]:
    """(name, HTML) of each view in a notebook, in order."""
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "".join(data.get("text/plain", "")).startswith("View: "):
                page = "".join(data["text/html"])
                yield re.search(r'id="view-(\w+)-', page)[1], page


class StoredView(SphinxDirective):
    """A lesson's view on any page, as in `{view} chapters/02_recurrent reading`."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        page, name = self.arguments
        notebook = Path(self.env.srcdir, f"{page}.ipynb")
        self.env.note_dependency(str(notebook))
        try:
            return [nodes.raw("", stored_view(notebook, name), format="html")]
        except ValueError as error:
            raise self.error(str(error)) from error


class CountedTable(SphinxDirective):
    """A table that the build counts, as in `{counted-table} term`; named in `plan.TABLES`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        if self.arguments[0] not in plan.TABLES:
            raise self.error(f"There is no such table; there are: {', '.join(plan.TABLES)}.")
        return self.parse_text_to_nodes(plan.table(self.arguments[0]))


class Counted(SphinxRole):
    """A number that the build counts, as in {counted}`exercises`; `counts` has their names."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.Node]]:
        self.env.note_reread()
        if self.text not in counts():
            known = ", ".join(counts())
            said = f"Nothing is counted by the name {self.text!r}; there are: {known}."
            return [], [self.inliner.reporter.error(said, line=self.lineno)]
        return [nodes.Text(f"{counts()[self.text]:,}")], []


@cache
def counts() -> dict[str, int]:
    """{what: how many} in the book; minutes are those of the longest lesson."""
    checks = [import_module(f"utils.exercises.{day.topic}").check for day in lessons.days()]
    asked = [exercise for check in checks for exercise in check.exercises.values()]
    pages = claims.lessons_and_deeper(notebooks.CHAPTERS)
    answers = [record for page in pages for _, record in claims.records(page)]
    lengths = [
        budget.count(notebooks.read(page)) for page in pages if page.parent == notebooks.CHAPTERS
    ]
    stored = [notebooks.read(script.with_suffix(".ipynb")) for script in notebooks.scripts()]
    tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").glob("test_*.py")]
    return {
        "days": len(checks),
        "exercises": len(asked),
        "mistakes": sum(len(exercise.mistakes) for exercise in asked),
        "claims": len(answers),
        **dict.fromkeys(ANSWERS, 0),
        **Counter(record["answer"] for record in answers),
        "experiments": len(list((ROOT / "experiments" / "results").glob("*.json"))),
        "cells": sum(cell.cell_type == "code" for page in stored for cell in page.cells),
        "tests": sum(len(re.findall(r"^def test_", text, re.MULTILINE)) for text in tests),
        "reading": round(max(length.reading for length in lengths)),
        "writing": max(length.writing for length in lengths),
        "words a minute": budget.WORDS,
    }
