"""What the first page proves at once: a check's answer, a claim's, and the ways in."""

import shutil
from contextlib import redirect_stdout
from functools import cache
from importlib import import_module
from io import StringIO
from pathlib import Path

import found
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from utils.press import claims, lessons, notebooks
from utils.press.offline import KINDS, NAME

TAKEN = {".pdf": "PDF", ".epub": "EPUB", ".zip": "these pages as a zip"}


def answer(name: str, code: str) -> str:
    """What the check of an exercise prints of a wrong answer, which it is given to check.

    Raises: ValueError if there is no such exercise, or the answer isn't wrong.
    """
    import torch  # here, because only the first page needs it

    checks = (import_module(f"utils.exercises.{day.topic}").check for day in lessons.days())
    check = next((check for check in checks if name in check.exercises), None)
    if check is None:
        raise ValueError(f"There is no exercise {name!r}.")
    defined = {"torch": torch}
    exec(code, defined)
    with redirect_stdout(StringIO()) as printed:
        check(name, list(defined.values())[-1])
    said = printed.getvalue().rstrip()
    if not said.startswith("✗"):
        raise ValueError(f"The check of {name!r} should refuse this answer, and it says: {said}")
    return said


@cache
def records() -> dict[str, dict]:
    """{id: record} of all claims that executed notebooks hold."""
    pages = claims.lessons_and_deeper(notebooks.CHAPTERS)
    return {record["claim"]: record for page in pages for _, record in claims.records(page)}


class WrongAnswer(SphinxDirective):
    """A wrong answer to an exercise, and what its check says of it in this build."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        code = "\n".join(self.content)
        try:
            said = answer(self.arguments[0], code)
        except ValueError as error:
            raise self.error(str(error)) from error
        return [
            nodes.literal_block(code, code, language="python"),
            nodes.literal_block(said, said, language="none", classes=["said"]),
        ]


class MeasuredClaim(SphinxDirective):
    """A claim with its answer as the notebook that measures it has them."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        if self.arguments[0] not in records():
            raise self.error(f"No notebook holds the claim {self.arguments[0]!r}.")
        return parsed(self, claims.listed(records()[self.arguments[0]]))


class WaysIn(SphinxDirective):
    """A row of links: read, try without installing (where there is an address), install."""

    def run(self) -> list[nodes.Node]:
        links = ["- [Read](chapters/00_first_steps.ipynb)"]
        links += [
            f"- [Try it in {place}]({address})"
            for place, address in found.ways_to_try("chapters/00_first_steps").items()
        ]
        links += ["- [`make lab`](installing.md)"]
        self.env.note_reread()
        return parsed(self, [":::{container} ways-in", *links, ":::"]) + to_take_along(self.env.app)


def made(app: Sphinx) -> list[Path]:
    """The files to take along, beside the folder of the pages, that are as new as each notebook."""
    pages = notebooks.CHAPTERS.rglob("[0-9]*.ipynb")
    newest = max((page.stat().st_mtime for page in pages), default=0.0)
    files = (Path(app.outdir).with_name(f"{NAME}.{kind}") for kind in KINDS)
    return [file for file in files if file.is_file() and file.stat().st_mtime >= newest]


def to_take_along(app: Sphinx) -> list[nodes.Node]:
    """A row of links to these files, if there are any."""
    links: list[nodes.Node] = []
    for file in made(app):
        words = f"{TAKEN[file.suffix]} ({file.stat().st_size / 1e6:.0f} MB)"
        links += [nodes.Text(", "), nodes.reference("", words, refuri=file.name)]
    if not links:
        return []
    links[0] = nodes.Text("Take the book with you: ")
    return [nodes.paragraph("", "", *links, nodes.Text("."), classes=["take-along"])]


def bring_along(app: Sphinx, failure: Exception | None) -> None:
    """Put the files to take along beside the pages."""
    if not failure and app.builder.name == "html":
        for file in made(app):
            shutil.copy(file, app.outdir)


def parsed(directive: SphinxDirective, lines: list[str]) -> list[nodes.Node]:
    """Lines of Markdown as they read in the directive's place."""
    within = nodes.Element()
    source = directive.get_source_info()[0]
    directive.state.nested_parse(StringList(lines, source), directive.content_offset, within)
    return within.children
