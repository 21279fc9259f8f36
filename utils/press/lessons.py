"""The days of the book, as lessons.toml lists them.

`python -m utils.press.lessons` writes what follows from them: the book's table of contents, and the
lists of days in README and index.
"""

import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from utils import ROOT

REGISTRY = "lessons.toml"
FIELDS = {"stem", "title", "teaches", "question", "fails", "concepts", "state"}
SECTIONS = (  # the headings of a lesson
    "Where we stand",
    "The idea",
    "Step by step",
    "Is it right?",
    "Train it",
    "Look inside",
    "Show someone",
    "Where it breaks",
    "What we found",
    "Exercises",
    "Checklist and tomorrow",
    "Further reading",
)
FOLDED = {  # the tag of a cell whose code is folded: what stands in its place
    "evidence": "How this was measured",
    "setup": "Set-up",
    "mechanism": "How this is drawn",
    "view": "How this is made",
}
LISTED = {  # the other pages, by the heading of their list
    "Look it up": ("installing", "claims", "notation", "glossary", "references", "making"),
    "For teachers": ("teaching", "errata"),
    "Reference": ("reference/index",),  # and below it a page for each concept and each of these
}
REFERENCE = "reference"
FLOORS = ("arguments", "data", "training", "measure", "show", "exercises.checking")
BEGIN, END = "<!-- days: made by `make days` from lessons.toml -->", "<!-- end of days -->"


@dataclass(frozen=True)
class Day:
    """A row of lessons.toml, which says what the fields mean."""

    stem: str
    title: str
    teaches: str
    question: str
    fails: str
    concepts: tuple[str, ...]
    state: str

    @property
    def number(self) -> int:
        return int(self.stem[:2])

    @property
    def topic(self) -> str:
        """The stem without its number: the name of the day's folder of exercises."""
        return self.stem[3:]

    @property
    def written(self) -> bool:
        return self.state == "written"


def days(book: Path = ROOT) -> list[Day]:
    """The days, in order.

    Raises: ValueError if a row lacks a field or has another, or the numbers don't run from 0 on.
    """
    rows = tomllib.loads((book / REGISTRY).read_text(encoding="utf-8"))["day"]
    for row in rows:
        if set(row) != FIELDS:
            raise ValueError(
                f"{REGISTRY}: the day {row.get('stem', '?')} has the fields {sorted(row)}, "
                f"and needs {sorted(FIELDS)}."
            )
    found = [Day(**row | {"concepts": tuple(row["concepts"])}) for row in rows]
    if [day.stem[:3] for day in found] != [f"{number:02d}_" for number in range(len(found))]:
        raise ValueError(
            f"{REGISTRY}: the stems have to begin with 00_, 01_, … in order, got "
            f"{', '.join(day.stem for day in found)}."
        )
    return found


def concepts(book: Path = ROOT) -> list[str]:
    """The concept modules of all days, in the order in which they are taught."""
    return [concept for day in days(book) for concept in day.concepts]


def table_of_contents(listed: list[Day]) -> str:
    """_toc.yml: below each lesson what belongs to its day."""
    lines = ["# made by `make days` from lessons.toml", "format: jb-book", "root: index", "parts:"]
    lines += ["  - caption: The days", "    chapters:"]
    for day in listed:
        lines += [f"      - file: chapters/{day.stem}", "        sections:"]
        for folder in ("deeper", "solutions"):
            page = f"file: chapters/{folder}/{day.stem}"
            lines.append(f"          - {{{page}, title: {folder.capitalize()}}}")
    for caption, pages in LISTED.items():
        lines += [f"  - caption: {caption}", "    chapters:"]
        lines += [f"      - file: {page}" for page in pages]
    lines.append("        sections:")
    for module, file in referred_to(listed).items():
        lines.append(f"          - {{file: {file.removesuffix('.rst')}, title: {module}}}")
    return "\n".join(lines) + "\n"


def referred_to(listed: list[Day]) -> dict[str, str]:
    """{module of `utils`: the file of its page in the reference}."""
    modules = (*(concept for day in listed for concept in day.concepts), *FLOORS)
    return {module: f"{REFERENCE}/{module}.rst" for module in modules}


def in_reference(listed: list[Day]) -> dict[str, str]:
    """{file: text} of the reference's pages: each is a directive, which the build fills in."""
    title, says = "Classes and functions", "What ``utils`` has for those who build on the lessons."
    made = {f"{REFERENCE}/index.rst": _page(title, f"{says}\n\n.. all-entries::")}
    for module, file in referred_to(listed).items():
        made[file] = _page(f"utils.{module}", f".. everything-in:: {module}")
    return made


def _page(title: str, body: str) -> str:
    made_by = ".. made by `make days` from lessons.toml"
    return f"{made_by}\n\n{title}\n{'=' * len(title)}\n\n{body}\n"


def in_index(listed: list[Day]) -> str:
    """The table of the first page: what each day teaches, and what fails at its end."""
    head = "| Day | Lesson | What is still missing |\n| --- | --- | --- |"
    rows = [
        f"| {day.number} | [{day.title}](chapters/{day.stem}.ipynb): {day.teaches}"
        f"{'' if day.written else ' (begun)'} | {day.fails} |"
        for day in listed
    ]
    return "\n".join([head, *rows])


def in_readme(listed: list[Day]) -> str:
    """The days, a line each."""
    return "\n".join(
        f"- **Day {day.number}: {day.title}{'' if day.written else ' (begun)'}.** {day.question}"
        for day in listed
    )


def pages(book: Path = ROOT) -> dict[str, str]:
    """{file: text} of what follows from the registry."""
    listed = days(book)
    made = {"_toc.yml": table_of_contents(listed)} | in_reference(listed)
    for file, inside in (("README.md", in_readme(listed)), ("index.md", in_index(listed))):
        before, _, rest = (book / file).read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        made[file] = f"{before}{BEGIN}\n\n{inside}\n\n{END}{after}"
    return made


def write_pages(book: Path = ROOT) -> None:
    """Write what follows from the registry."""
    for file, text in pages(book).items():
        (book / file).parent.mkdir(exist_ok=True)
        (book / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    try:
        write_pages()
    except ValueError as error:
        sys.exit(str(error))
