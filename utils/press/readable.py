"""What the book's pages have and JupyterLab lacks: citations, captions, numbers by day."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from pybtex.database import Entry, parse_file
from pybtex.richtext import Text

from utils import ROOT
from utils.press.lessons import FOLDED

EQUATION = re.compile(r"^\$\$\n([^$]*)\n\$\$(?: \(([\w-]+)\))?$", re.MULTILINE)
EXERCISE = re.compile(r"(?<=:label: )(exercise-[\w-]+)$", re.MULTILINE)
TITLE = re.compile(r"^\(([\w-]+)\)=\n+#+ (.*)$", re.MULTILINE)
SOLUTION = re.compile(r"^\(solution-([\w-]+)\)=\n+#+ ", re.MULTILINE)
REFERENCE = re.compile(r"\{(numref|eq|ref)\}`(?:([^<`]+?) *<)?([\w-]+)>?`")


def names_in_the_book(
    pages: Sequence[NotebookNode], day: int, exercises: Mapping[str, str]
) -> dict[str, str]:
    """What the book calls its exercises, and a day's figures, equations and sections, by labels.

    pages: those of the day, in order: each goes on counting where the one before stopped.
    exercises: {label: number}.
    """
    names = {label: f"Exercise {number}" for label, number in exercises.items()}
    count: Counter = Counter()

    def number(kind: str, label: str) -> None:
        count[kind] += 1
        names[label] = f"{kind}{day}.{count[kind]}"

    for cell in (cell for page in pages for cell in page.cells):
        if figure := cell.metadata.get("mystnb", {}).get("figure"):
            number("Figure ", figure["name"])
        if cell.cell_type == "markdown":
            names |= TITLE.findall(cell.source)
            for _, label in EQUATION.findall(cell.source):
                if label:
                    number("", label)
    return names


def number_solutions(text: str, names: Mapping[str, str]) -> str:
    """Begin the headings of solutions with the numbers of their exercises."""

    def numbered(match: re.Match) -> str:
        name = names.get(f"exercise-{match[1]}")
        return f"{match[0]}{name.removeprefix('Exercise ')} " if name else match[0]

    return SOLUTION.sub(numbered, text)


def make_readable(notebook: NotebookNode, names: dict[str, str]) -> None:
    """Change a lesson so that it reads in JupyterLab as it does in the book.

    Citations become names and years, with a list of references at the end; a computed figure gets
    its number and its caption in a cell below it; equations, exercises and solutions get their
    numbers; code that the book folds away is folded away, under a first line that says what it is.
    names: what the book calls figures, equations, exercises and sections, by their labels.
    """
    cited: set[str] = set()
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        tags = cell.metadata.get("tags", ())
        if {"hide-input", "hide-cell"} & set(tags):
            cell.metadata.jupyter = {"source_hidden": True}
        says = [f"# {told}" for tag, told in FOLDED.items() if tag in tags]
        cell.source = "\n".join([*says, cell.source])
        if figure := cell.metadata.get("mystnb", {}).get("figure"):
            caption = f"*{names[figure['name']]}.* {figure['caption']}"
            cells.append(new_markdown_cell(caption))
    linked = {label for cell in cells for _, label in EQUATION.findall(cell.source)}
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = REFERENCE.sub(
                lambda match: match[0] if match[3] in linked else _reference_to(match, names),
                cell.source,
            )
            cell.source = EQUATION.sub(lambda match: _equation(match, names), cell.source)
            cell.source = EXERCISE.sub(
                lambda match: (
                    f"{match[1]}\n:enumerator: {names[match[1]].removeprefix('Exercise ')}"
                ),
                cell.source,
            )
            cell.source = number_solutions(cell.source, names)
            cell.source = re.sub(
                r"\{cite(:t)?\}`([^`]+)`", lambda match: _citation(match, cited), cell.source
            )
    if cited:
        entries = [_reference(references()[key]) for key in sorted(cited)]
        cells.append(new_markdown_cell("\n".join(["**References**", "", *entries])))
    notebook.cells = cells


@cache
def references() -> dict[str, Entry]:
    """references.bib by key."""
    return dict(parse_file(ROOT / "references.bib", bib_format="bibtex").entries)


def _reference_to(match: re.Match, names: dict[str, str]) -> str:
    role, words, label = match.groups()
    return words or (f"({names[label]})" if role == "eq" else names[label])


def _equation(match: re.Match, names: dict[str, str]) -> str:
    """An equation as a directive, which alone can be told its number, or to have none."""
    text, label = match.groups()
    options = f":label: {label}\n:enumerator: {names[label]}" if label else ":enumerated: false"
    return f"~~~{{math}}\n{options}\n{text}\n~~~"


def _names(entry: Entry) -> list[str]:
    return [" ".join(map(str, person.rich_last_names)) for person in entry.persons["author"]]


def _citation(match: re.Match, cited: set[str]) -> str:
    """`{cite:t}` in the manner of LeCun et al. [1998], `{cite}` of [LeCun et al., 1998]."""
    keys = [key.strip() for key in match[2].split(",")]
    cited.update(keys)
    shown = []
    for key in keys:
        entry = references()[key]
        names, year = _names(entry), entry.fields["year"]
        who = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
        shown.append(f"{who} [{year}]" if match[1] else f"{who}, {year}")
    return ", ".join(shown) if match[1] else f"[{'; '.join(shown)}]"


def _reference(entry: Entry) -> str:
    field = {name: str(Text.from_latex(value)) for name, value in entry.fields.items()}
    parts = [f"- {', '.join(_names(entry))} ({field['year']}). *{field['title']}*."]
    parts += [f"{field[name]}." for name in ("journal", "booktitle", "publisher") if name in field]
    if "doi" in field:
        parts.append(f"[doi:{field['doi']}](https://doi.org/{field['doi']})")
    elif "note" in field:
        parts.append(re.sub(r"arXiv:(\S+)", r"[arXiv:\1](https://arxiv.org/abs/\1)", field["note"]))
    return " ".join(parts)
