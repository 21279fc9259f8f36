"""The readers' copies of the lessons, in my/, JupyterLab on them, and how far the readers are.

python -m utils.press.jupyter lab [LESSON] [-- options of JupyterLab]     read and work, in copies
python -m utils.press.jupyter fresh LESSON                                a second, new copy
python -m utils.press.jupyter progress                                    what is passed, and next
python -m utils.press.jupyter summary                                     a page of it to print
python -m utils.press.jupyter edit [LESSON] [-- options of JupyterLab]    the originals, for authors
"""

import hashlib
import json
import os
import re
import sys
from datetime import date
from pathlib import Path

from nbformat import NotebookNode

from utils import ROOT
from utils.exercises.numbers import numbers
from utils.exercises.progress import carry_over, progress
from utils.press.notebooks import CHAPTERS, KERNEL, LessonError, find, read, scripts, shown, write
from utils.press.readable import make_readable, names_in_the_book

MINE = ROOT / "my"
SETTINGS = Path(__file__).with_name("jupyterlab_settings")
DATA = Path(__file__).with_name("jupyter_data")
OPENING = """\
JupyterLab opens in your browser, on copies of the lessons that are yours, in {mine}/.
Leave this window open while you work; Ctrl+C ends it. Another evening, `make lab` brings you
back, and `make progress` shows how far you have come."""


def fingerprint(notebook: NotebookNode) -> str:
    """A hash of what the cells say; outputs and metadata don't count."""
    cells = [(cell.cell_type, cell.source) for cell in notebook.cells]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def origin(copy: Path) -> str:
    """The fingerprint of the lesson from which a copy was made.

    Raises: LessonError if the copy is damaged, or doesn't say.
    """
    note = read(copy).metadata.get("book", {})
    if "copied_from" not in note:
        raise LessonError(f"{shown(copy)} doesn't say which version of the lesson it is a copy of.")
    return note["copied_from"]


def make_copy(original: Path, copy: Path) -> None:
    """Write a lesson as a reader gets it: without outputs, with a note of what it was copied from.

    Raises: LessonError if the lesson can't be read or the copy can't be written.
    """
    notebook = read(original)
    note = NotebookNode(copied_from=fingerprint(notebook))
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNEL), book=note)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    pages = [read(page.with_suffix(".ipynb")) for page in scripts() if page.stem == original.stem]
    names = names_in_the_book(pages, int(original.stem[:2]), numbers(CHAPTERS))
    make_readable(notebook, names)
    if original.parent == CHAPTERS and original.stem.startswith("00_"):
        from utils.press import course  # with PyTorch, for which no other start has to wait

        notebook.cells.insert(1, course.first_cell())
    try:
        write(notebook, copy)
    except OSError as error:
        raise LessonError(f"{shown(copy)} can't be written: {error.strerror}.") from error


def folder() -> Path:
    """Where the reader works: my/, or a folder in it if my/ holds lessons as they were before.

    A lesson was rewritten if it has a section that the reader's copy lacks.
    """
    for lesson in sorted(CHAPTERS.glob("[0-9]*.ipynb")):
        try:
            before = _sections(MINE / lesson.name)
        except LessonError:  # none, or a damaged one
            continue
        if _sections(lesson) - before:
            return MINE / "rewritten"
    return MINE


def _sections(lesson: Path) -> set[str]:
    text = "\n".join(cell.source for cell in read(lesson).cells if cell.cell_type == "markdown")
    return set(re.findall(r"^## (.+)", text, re.MULTILINE))


def provide_copies() -> list[str]:
    """Make the readers' copies that are missing; one that is there is never touched.

    Returns: where the lessons are, if they were rewritten since the reader began; and a sentence on
    each copy that is damaged, or of which the lesson has changed meanwhile.
    Raises: LessonError if a copy can't be made.
    """
    messages, mine = [], folder()
    if mine != MINE:
        messages.append(
            f"The lessons have been rewritten since you began. The new ones are in {shown(mine)}/. "
            f"Your copies in {shown(MINE)}/ stay as they are, and your ticks count for both."
        )
    for script in scripts():
        original = script.with_suffix(".ipynb")
        copy = mine / original.relative_to(CHAPTERS)
        if not os.path.lexists(copy):
            make_copy(original, copy)
            continue
        name = script.relative_to(ROOT).with_suffix("").as_posix()
        offer = f"`make fresh LESSON={name}` puts a new copy beside it"
        present = fingerprint(read(original))
        try:
            if origin(copy) != present:
                newer = [path for path in _beside(copy) if origin(path) == present]
                offer = f"the current one is {shown(newer[-1])}" if newer else offer
                messages.append(f"{shown(copy)}: the lesson has changed since you began; {offer}.")
        except LessonError as error:
            messages.append(f"{str(error).rstrip('.')}; it was left as it is, and {offer}.")
    return messages


def fresh_copy(name: str) -> Path:
    """Put a new copy of a lesson beside the reader's, under a free name, and return its path.

    Raises: LessonError if there is no such lesson, or the copy can't be made.
    """
    original = find(name)[0].with_suffix(".ipynb")
    copy = folder() / original.relative_to(CHAPTERS)
    number = 1
    while os.path.lexists(fresh := copy.with_suffix(f".new{number}.ipynb")):
        number += 1
    make_copy(original, fresh)
    return fresh


def _beside(copy: Path) -> list[Path]:
    return sorted(copy.parent.glob(f"{copy.stem}.new*.ipynb"))


def remember_progress() -> list[str]:
    """Let the kernels know where the reader's ticks are kept: out of sight, beside the lessons.

    Returns: a sentence if those of a former version, in sight, can't be carried over.
    """
    os.environ["BOOK_PROGRESS"] = str(MINE / ".progress.json")
    former = MINE / "progress.json"
    try:
        if former.exists():
            carry_over(former)
    except (OSError, ValueError) as error:
        return [f"The ticks in {shown(former)} can't be carried over: {error}."]
    return []


def tell_progress(to_print: bool) -> None:
    """Print how far the reader is, or write what they can do now as a page that prints well.

    Raises: LessonError if a lesson can't be read or the page can't be written.
    """
    from utils.press import course

    for message in remember_progress():
        print(message)
    found = course.standings(progress.passed())
    if to_print:
        course.write_summary(file := MINE / "summary.html", course.summary(found, date.today()))
        print(f"Open {file.as_uri()} in your browser, and print it from there.")
    else:
        print("\n".join([*course.sentences(found), "", course.table(found)]))


def open_lab(workspace: str, page: Path, options: list[str]) -> None:
    """Run JupyterLab on one notebook, with tabs of its own, until the reader ends it."""
    from jupyterlab.labapp import LabApp  # it takes seconds, and what `main` says comes first

    LabApp.serverapp_class.static_custom_path.tag(config=True)  # else it has no option
    own = [
        f"--ServerApp.static_custom_path={DATA / 'custom'}",
        "--LabApp.custom_css=True",
        f"--ServerApp.root_dir={ROOT}",
        f"--LabApp.default_url=/lab/workspaces/{workspace}/tree/{page.relative_to(ROOT).as_posix()}",
        f"--LabApp.app_settings_dir={SETTINGS}",  # no question about news
    ]
    if workspace == "book-lab":
        own.append("--Application.log_level=WARN")
        path = [str(DATA), os.environ.get("JUPYTER_PATH", "")]  # there are the book's kernels
        os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, path))
    else:
        own.append("--FileContentsManager.pre_save_hook=utils.press.jupyter.tidy")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        own.append("--allow-root")
    LabApp.launch_instance([*own, *options])
    sys.stdout.flush()
    os._exit(0)  # without waiting for the thread of a request that was cut off: it never ends


def tidy(model: dict, **_: object) -> None:
    """Leave out of a notebook to be saved what would differ on the next author's machine."""
    if model["type"] == "notebook":
        metadata = model["content"]["metadata"]
        metadata.pop("jupytext", None)
        metadata.get("language_info", {}).pop("version", None)


def main(arguments: list[str]) -> None:
    split = arguments.index("--") if "--" in arguments else len(arguments)
    command, *names = arguments[:split] or [""]
    options = arguments[split + 1 :]
    if (
        command not in ("lab", "fresh", "progress", "summary", "edit")
        or len(names) > 1
        or (command == "fresh" and not names)
        or (command in ("progress", "summary") and names)
    ):
        sys.exit(__doc__)
    try:
        if command in ("progress", "summary"):
            tell_progress(command == "summary")
            return
        if command == "fresh":
            print(f"A new copy: {shown(fresh_copy(names[0]))}")
            return
        lesson = (find(names[0]) if names else scripts())[0].with_suffix(".ipynb")
        if command == "lab":
            for message in [*remember_progress(), *provide_copies()]:
                print(message, flush=True)
            lesson = folder() / lesson.relative_to(CHAPTERS)
            print(OPENING.format(mine=shown(lesson.parent)), flush=True)
    except LessonError as error:
        sys.exit(str(error))
    open_lab(f"book-{command}", lesson, options)


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # in a file or a pipe, Windows has no ✓ otherwise
    main(sys.argv[1:])
