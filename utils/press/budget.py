"""What a lesson asks of its reader, counted from its stored notebook, and how much it may ask.

Minutes are estimates: those of reading are computed here, those of the exercises in `minutes`.
`python -m utils.press.budget` prints it all for each day.
"""

import ast
import html
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import nbformat
from nbformat import NotebookNode

from utils.measure.claims import RECORD
from utils.press import notebooks, readable
from utils.press.lessons import FOLDED
from utils.show.display import format_table

WORDS = 130  # read in a minute
LINE, EQUATION, FIGURE, VIEW = 4 / 60, 30 / 60, 20 / 60, 5  # minutes for each that is seen

LIMITS = {  # (at least, at most) of what `Budget` counts; Day 0 has half of everything
    "reading": (0, 55),
    "writing": (0, 45),  # both: 100 minutes, a long evening
    "words": (0, 3_000),
    "visible": (0, 240),
    "folded": (0, 400),
    "equations": (0, 6),
    "claims": (0, 5),
    "pictures": (15, inf),
    "mechanisms": (6, inf),
    "views": (1, inf),
    "questions": (1, 1),
    "guesses": (3, inf),
    "exercises": (3, 5),
    "first_exercise": (0, 1_200),
}
SHARES = {"evidence": (0, 1 / 3), "first_training": (0, 1 / 3)}
NOT_ON_DAY_0 = ("views", "questions")  # no day came before it
BOX = r"[`:]{3,}\{exercise"
STOP = "**Enough for tonight?**"  # the paragraph that begins so is a good place to stop


@dataclass
class Budget:
    """What a lesson asks of its reader.

    words: of prose, boxes, captions and questions. findings: words of what claims and observations
    say; they are read, too, but cost no word of prose. visible, folded: lines of code, of which
    the share `evidence` is evidence. equations: those with a number. pictures: all, `mechanisms` of
    them of mechanisms. exercises: those inside the steps, `after` those of the section Exercises.
    writing: minutes, of those inside. first_exercise: words before the first exercise.
    first_training: the share of all words that stand before the first trained output. stop: the
    share of all minutes that lie before the place to stop for tonight.
    """

    words: int = 0
    findings: int = 0
    visible: int = 0
    folded: int = 0
    evidence: float = 0.0
    equations: int = 0
    pictures: int = 0
    mechanisms: int = 0
    views: int = 0
    questions: int = 0
    guesses: int = 0
    claims: int = 0
    exercises: int = 0
    after: int = 0
    writing: int = 0
    writing_after: int = 0
    first_exercise: float = inf
    first_training: float = inf
    stop: float = inf

    @property
    def reading(self) -> float:
        """Minutes."""
        seen = LINE * self.visible + EQUATION * self.equations + FIGURE * self.pictures
        return (self.words + self.findings) / WORDS + seen + VIEW * self.views

    @property
    def minutes(self) -> float:
        """Reading and writing together."""
        return self.reading + self.writing

    def exceeded(self, day: int) -> list[str]:
        """A sentence for each limit that is not kept."""
        return [
            f"{name.replace('_', ' ')}: {_written(name, value)}, at "
            + (
                f"least {_written(name, least)}"
                if value < least
                else f"most {_written(name, most)}"
            )
            for name, (least, most) in limits(day).items()
            if not least <= (value := getattr(self, name)) <= most
        ]


def limits(day: int) -> dict[str, tuple[float, float]]:
    """{name: (at least, at most)} for a day's lesson; Day 0 has half of everything."""
    if day:
        return LIMITS | SHARES
    return {
        name: (least / 2, most / 2)
        for name, (least, most) in LIMITS.items()
        if name not in NOT_ON_DAY_0
    } | SHARES


def count(notebook: NotebookNode) -> Budget:
    """What an executed lesson asks of its reader."""
    found, evidence, after = Budget(), 0, False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            after = _count_text(found, cell.source, after)
        elif cell.cell_type == "code":
            tags = set(cell.metadata.get("tags", ()))
            if "training" in tags:
                found.first_training = min(found.first_training, found.words)
            lines = len([line for line in cell.source.splitlines() if line.strip()])
            if tags & {*FOLDED, "hide-input", "hide-cell"}:
                found.folded += lines
            else:
                found.visible += lines
            evidence += lines if "evidence" in tags else 0
            figure = cell.metadata.get("mystnb", {}).get("figure", {})
            found.words += words(figure.get("caption", ""))
            for output in cell.outputs:
                _count_output(found, output.get("data", {}), "mechanism" in tags)
    found.first_training /= max(found.words, 1)
    found.stop /= max(found.minutes, 1)
    found.evidence = evidence / max(found.visible + found.folded, 1)
    return found


def sections(notebook: NotebookNode) -> Iterator[tuple[str, str, Budget]]:
    """(title, how long it says it takes, what it asks) of each section that begins with that."""
    parts: list[tuple[str, str, list[NotebookNode]]] = []
    for cell in notebook.cells:
        texts = [cell.source]
        if cell.cell_type == "markdown":
            texts = re.split(r"^(?=##)", cell.source, flags=re.MULTILINE)
        for text in texts:
            if cell.cell_type == "markdown" and (title := re.match(r"##+ (.*)", text)):
                told = re.match(r".*\n+\*(\d+ minutes?[^*]*)\.\*", text)
                parts.append((title[1], told[1] if told else "", []))
            if parts:
                parts[-1][2].append({**cell, "source": text})
    for title, told, cells in parts:
        if told:
            yield title, told, count(nbformat.from_dict({"cells": cells}))


def spoken(found: Budget) -> str:
    """How long a section takes, as it says at its beginning: *8 minutes, 5 of them yours*."""
    minutes = max(1, round(found.minutes))
    yours = f", {found.writing} of them yours" if found.writing else ""
    return f"{minutes} minute{'s' * (minutes > 1)}{yours}"


def _count_text(found: Budget, text: str, after: bool) -> bool:
    """Count a cell of text; say whether after it we are in the section Exercises, as before it."""
    for part in re.split(rf"^(?=## |{BOX})", text, flags=re.MULTILINE):
        if re.search(rf"^{re.escape(STOP)}", part, re.MULTILINE):
            found.stop = found.minutes
        if part.startswith("## "):
            after = part.startswith("## Exercises")
        if re.match(BOX, part):
            found.first_exercise = min(found.first_exercise, found.words)
            found.exercises += not after
            found.after += after
            found.writing += 0 if after else stated(part)
            found.writing_after += stated(part) if after else 0
        found.words += words(part)
    found.equations += sum(bool(label) for _, label in readable.EQUATION.findall(text))
    return after


def _count_output(found: Budget, data: dict, mechanism: bool) -> None:
    text = "".join(data.get("text/plain", ""))
    markup = "".join(data.get("text/html", ""))
    picture = "image/png" in data or "image/svg+xml" in data
    found.pictures += picture
    found.mechanisms += picture and mechanism
    found.findings += words("".join(data.get("text/markdown", "")))
    found.views += text.startswith("View: ")
    found.guesses += text.startswith("Question: ")
    found.claims += "claim" in data.get(RECORD, {})
    found.questions += text.startswith("Questions: ")
    if text.startswith(("Question: ", "Questions: ")):  # read without what is said to each answer
        asked = text.partition(": ")[2]
        found.words += words(re.sub(r"^(- .*?): .*$", r"\1", asked, flags=re.MULTILINE))
    if '<div class="highlight">' in markup:
        lines = source_lines(_text(markup))
        if "<details" in markup:
            found.folded += lines
        else:
            found.visible += lines


def words(markdown: str) -> int:
    """The words that are read: no mathematics on lines of its own, code, labels or addresses."""
    text = re.sub(r"^\$\$.*?^\$\$.*?$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(:[\w-]+:.*|\([\w-]+\)=|[`:]{3,}(\{[\w-]+\})?)", "", text, flags=re.MULTILINE)
    text = re.sub(r"\{[\w:]+\}`[^`]*`|\$[^$]+\$", "one", text)  # a role, a formula in a line
    text = re.sub(r"\]\([^)]*\)|<[^>\n]+>", " ", text)
    return sum(any(map(str.isalnum, word)) for word in text.split())


def source_lines(source: str) -> int:
    """The lines of code in a source that is shown, without comments, docstrings and guards."""
    bodies = [getattr(node, "body", None) for node in ast.walk(ast.parse(source))]
    left_out = {
        line
        for body in bodies
        for statement in (body if isinstance(body, list) else ())
        if _is_docstring(statement) or _is_guard(statement)
        for line in range(statement.lineno, statement.end_lineno + 1)
    }
    lines = enumerate(source.splitlines(), start=1)
    code = {n for n, line in lines if line.strip() and not line.strip().startswith("#")}
    return len(code - left_out)


def _is_docstring(statement: ast.stmt) -> bool:
    value = getattr(statement, "value", None)
    return isinstance(statement, ast.Expr) and isinstance(getattr(value, "value", None), str)


def _is_guard(statement: ast.stmt) -> bool:
    """Whether a statement only refuses what is wrong: `if …: raise …`, or `check_…(…)`."""
    if isinstance(statement, ast.If):
        return all(map(_is_guard, statement.body + statement.orelse))
    if isinstance(statement, ast.Raise):
        return True
    call = getattr(statement, "value", None)
    return isinstance(call, ast.Call) and ast.unparse(call.func).startswith("check_")


def _text(markup: str) -> str:
    """What stands in the highlighted part of an output."""
    shown = "".join(re.findall(r"<pre>(.*?)</pre>", markup, re.DOTALL))
    return html.unescape(re.sub("<[^>]*>", "", shown))


def stated(exercise: str) -> int:
    """The minutes that a box says its exercise takes."""
    found = re.match(r".*\n(?::.*\n)*\n*\*[^*]*?(\d+) minutes?\b", exercise)
    if not found:
        raise ValueError(
            f"{exercise.splitlines()[0]} has to say at its beginning how long it takes, as in "
            "*10 minutes.*"
        )
    return int(found[1])


def _written(name: str, value: float) -> str:
    if value == inf:
        return "none"
    return f"{value:.0%}" if name in (*SHARES, "stop") else f"{round(value, 1):,g}"


def _wanted(name: str) -> str:
    """What a whole day has to keep to, such as "3 to 5"."""
    least, most = limits(1).get(name, (0, inf))
    if most == inf:
        return f"from {least}" if least else ""
    ends = dict.fromkeys(_written(name, end) for end in (least, most))  # one, if both are the same
    return " to ".join(ends) if least else f"to {_written(name, most)}"


def report() -> str:
    """The budgets side by side, and under them what is not kept."""
    found = {
        script.stem: count(notebooks.read(script.with_suffix(".ipynb")))
        for script in notebooks.scripts()
        if script.parent == notebooks.CHAPTERS
    }
    rows = [
        [
            name.replace("_", " "),
            *(_written(name, getattr(b, name)) for b in found.values()),
            _wanted(name),
        ]
        for name in ("minutes", "reading", *Budget.__annotations__)
    ]
    sentences = [
        f"{stem}: {sentence}"
        for stem, budget in found.items()
        for sentence in budget.exceeded(int(stem[:2]))
    ]
    heads = ["", *(stem[:2] for stem in found), "wanted"]
    return "\n".join([format_table(rows, heads), "", *sentences])


if __name__ == "__main__":
    try:
        print(report())
    except (ValueError, notebooks.LessonError) as error:
        sys.exit(str(error))
