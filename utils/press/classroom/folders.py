"""A folder of some days for a class, without solutions, and one for its teacher, with them.

python -m utils.press.classroom.folders FROM TO [WITHOUT …]     into class/days-FROM-to-TO/
"""

import os
import re
import shutil
import sys
from collections.abc import Collection
from pathlib import Path

from utils import ROOT
from utils.exercises.numbers import numbers
from utils.press.lessons import days
from utils.press.notebooks import CHAPTERS, LessonError, read, scripts, shown, write

CLASS = ROOT / "class"
# What the lessons need to run, and whoever reads them to look things up.
PARTS = ("Makefile", "LICENSE", "CITATION.cff", "pyproject.toml", "requirements.txt")
PARTS += ("requirements-hashes.txt", "lessons.toml", "convolution_to_attention.py")
PARTS += ("references.bib", "notation.md", "glossary.md", "claims.md")
PARTS += ("utils", "data", "experiments", "_static")
SOLUTION = re.compile(r"(?: |\n(?:# )?)?\(\[Solution\]\([^)]*\)\)")
LINK = re.compile(r"\[([^\[\]]*)\]\(([^)\s#]+\.(?:ipynb|md))(?:#[^)]*)?\)")
EXERCISE = re.compile(r"\{numref\}`(exercise-[\w-]+)`")

README = """\
# From Convolution to Attention: {days}

You need Python 3.11, 3.12 or 3.13, and `make`. In a terminal, in this folder:

```bash
make lab
```

The first time, this sets everything up in a few minutes. Then it opens JupyterLab on copies of the
lessons, in the folder `my/`. Write into them as much as you like: nothing overwrites them.
`make fresh LESSON={lesson}` puts a new copy next to yours.

On Windows, in PowerShell:

```powershell
py -3.12 -m venv .venv
.venv\\Scripts\\python -m pip install -r requirements.txt
.venv\\Scripts\\python -m pip install --no-deps --no-build-isolation -e .
.venv\\Scripts\\python -m utils.press.jupyter lab
```

{more}

The code is under the MIT licence, text and figures are under CC BY 4.0: see LICENSE.
"""
STUDENTS = "**To hand in a day,** save its notebook and send the file, such as `my/{lesson}.ipynb`."
TEACHER = """\
**Solutions** are in `chapters/solutions/`. The students' folder is the same without them. Its
checks still need correct answers to compare with, so whoever looks for those finds them in
`utils/exercises/`.

**What is handed in:** put one notebook per student, or a folder of notebooks per student, into a
folder, and run

```bash
make collect FOLDER=that-folder
```"""


def make_folders(first: int, last: int, without: Collection[int] = (), into: Path = CLASS) -> Path:
    """Write `students/` and `teacher/` for the days from first to last; return their folder.

    without: days between these two that are left out.
    Raises: LessonError if there are no such days, or the folder is there already.
    """
    known = days()
    if not 0 <= first <= last < len(known):
        raise LessonError(f"The days are 0 to {known[-1].number}: name two, as in FROM=1 TO=7.")
    if not all(first < number < last for number in without):
        raise LessonError(
            "What is left out lies between the first day and the last, as in FROM=0 TO=9 WITHOUT=7."
        )
    which = f"Day {first}" if first == last else f"Days {first} to {last}"
    if without:
        which += f" without {' and '.join(map(str, sorted(set(without))))}"
    made = into / which.lower().replace(" ", "-")
    if os.path.lexists(made):
        raise LessonError(f"{shown(made)} is there already: rename it, and its work is safe.")
    draft = into / f".{made.name}.{os.getpid()}"
    taught = set(range(first, last + 1)).difference(without)
    try:
        for name in ("students", "teacher"):
            _make(draft / name, taught, which, solutions=name == "teacher")
        draft.replace(made)
    except OSError as error:
        raise LessonError(f"{shown(made)} can't be written: {error.strerror}.") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return made


def _make(folder: Path, taught: set[int], which: str, solutions: bool) -> None:
    folder.mkdir(parents=True)
    for part in PARTS:
        if (ROOT / part).is_dir():
            unwanted = shutil.ignore_patterns("__pycache__", ".*")
            shutil.copytree(ROOT / part, folder / part, ignore=unwanted)
        else:
            shutil.copy(ROOT / part, folder)
    pages = [
        script.relative_to(ROOT)
        for script in scripts()
        if int(script.stem[:2]) in taught and (solutions or script.parent.name != "solutions")
    ]
    there = {page.with_suffix(".ipynb").as_posix() for page in pages} | set(PARTS)
    for page in pages:
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / page).read_text(encoding="utf-8")
        (folder / page).write_text(rewritten(text, page, there), encoding="utf-8")
        notebook = read((ROOT / page).with_suffix(".ipynb"))
        for cell in notebook.cells:
            cell.source = rewritten(cell.source, page, there)
        write(notebook, (folder / page).with_suffix(".ipynb"))
    lesson = pages[0].stem
    more = (TEACHER if solutions else STUDENTS).replace("{lesson}", lesson)
    text = README.format(days=which, lesson=lesson, more=more)
    (folder / "README.md").write_text(text, encoding="utf-8")


def rewritten(text: str, page: Path, there: set[str]) -> str:
    """The text of a page in a folder that lacks some pages: it links to none of them.

    page: its path in the book. there: the paths of what the folder has.
    """

    def linked(match: re.Match) -> str:
        words, target = match.groups()
        place = os.path.normpath(page.parent / target).replace(os.sep, "/")
        if place in there:
            return match[0]
        return f"{words} (your teacher has them)" if "solutions/" in place else words

    def named(match: re.Match) -> str:
        number = numbers(CHAPTERS).get(match[1], "")
        day = f"chapters/{number.partition('.')[0]:0>2}_"
        here = any(path.startswith(day) for path in there)
        return match[0] if here else f"Exercise {number}"

    if not any("/solutions/" in path for path in there):
        text = SOLUTION.sub("", text)
    return EXERCISE.sub(named, LINK.sub(linked, text))


if __name__ == "__main__":
    try:
        first, last, *without = map(int, sys.argv[1:])
    except ValueError:
        sys.exit("Which days? Name the first and the last, as in `make class FROM=1 TO=7`.")
    try:
        print(f"For your students and for you: {shown(make_folders(first, last, without))}")
    except LessonError as error:
        sys.exit(str(error))
