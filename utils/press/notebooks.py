"""The lessons as files: scripts and the executed notebooks beside them.

`python -m utils.press.notebooks` executes the notebooks that are out of step with their scripts;
with names, as in `01_convolution` (all pages of the day), `deeper/01_convolution` or
`solutions/01_convolution`, those; with `--all`, every one.
"""

import argparse
import math
import os
import re
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

import jupytext
import nbformat
from jupytext.combine import combine_inputs_with_outputs
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from psutil import Process

from utils import ROOT
from utils.exercises.numbers import titled
from utils.press.lessons import FOLDED

CHAPTERS = ROOT / "chapters"
BUDGET = {"chapters": 30, "deeper": 20, "solutions": 10}  # processor seconds of a page, by folder
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}

# Stored outputs are made, and compared, in an environment that is the same on every machine; there
# a finding that does not hold is an error.
REPRODUCIBLE = {
    "TQDM_DISABLE": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "BOOK_STRICT": "1",
}
TITLED = re.compile(r"(?:^[✓✗○] |^   |, )(\d+\.\d+ [a-z]\w*)(?=[:,]|$)", re.MULTILINE)
PERSONAL = ("BOOK_PROGRESS", "BOOK_DATA")


class LessonError(Exception):
    """Something about a lesson's files; the message is one sentence for the reader."""


def scripts() -> list[Path]:
    """The sources of all lessons, in order, then of their deeper pages, then of their solutions."""
    folders = (CHAPTERS, CHAPTERS / "deeper", CHAPTERS / "solutions")
    return [script for folder in folders for script in sorted(folder.glob("[0-9]*.py"))]


def find(name: str) -> list[Path]:
    """The scripts that `name` stands for: `01_convolution` is a lesson and its other pages.

    Raises: LessonError if there is no such lesson.
    """
    wanted = "/" + name.removesuffix(".py").removesuffix(".ipynb")
    found = [path for path in scripts() if path.with_suffix("").as_posix().endswith(wanted)]
    if not found:
        known = ", ".join(dict.fromkeys(path.stem for path in scripts()))
        raise LessonError(f"There is no lesson {name!r}; there are: {known}.")
    return found


def shown(path: Path) -> str:
    """A path as a reader knows it, from the book's folder."""
    return (path.relative_to(ROOT) if path.is_relative_to(ROOT) else path).as_posix()


def read(path: Path) -> NotebookNode:
    """The notebook in a file.

    Raises: LessonError if there is no notebook in it, or only a damaged one.
    """
    try:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
    except OSError as error:
        raise LessonError(f"{shown(path)} can't be opened: {error.strerror}.") from error
    except Exception as error:  # what damage raises depends on where it is
        raise LessonError(f"{shown(path)} is damaged: it can't be read as a notebook.") from error
    return notebook


def write(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook beside its place and rename it, so that nobody ever sees half of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8", newline="\n")
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


# ------------------------------------------------------------------------------------------- pairs


def from_script(script: Path) -> NotebookNode:
    """The notebook that a percent script stands for, without outputs; evidence is folded in it."""
    notebook = jupytext.read(script, fmt="py:percent")
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNEL))
    for cell in notebook.cells:
        if FOLDED.keys() & cell.metadata.get("tags", ()):
            cell.metadata.jupyter = NotebookNode(source_hidden=True)
    return notebook


def differences(script: Path) -> list[str]:
    """A line for each cell that differs between a script and the notebook beside it."""
    target = script.with_suffix(".ipynb")
    if not target.exists():
        return [f"{shown(target)} is missing"]
    found = []
    pairs = zip_longest(from_script(script).cells, read(target).cells)
    for number, (ours, theirs) in enumerate(pairs):
        if ours is None or theirs is None:
            found.append(f"cell {number} is only in {shown(script if theirs is None else target)}")
            continue
        parts = [key for key in ("cell_type", "source", "metadata") if ours[key] != theirs[key]]
        if parts:
            found.append(f"cell {number} of {shown(script)} differs in {', '.join(parts)}")
    return found


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def is_stale(script: Path) -> bool:
    """Whether the notebook of a script is missing, differs from it, or was not executed.

    An exercise that was put before one of its own makes it stale, since it printed other numbers.
    """
    if differences(script):
        return True
    cells = code_cells(read(script.with_suffix(".ipynb")))
    printed = "".join(output.get("text", "") for cell in cells for output in cell.outputs)
    names = {shown: shown.partition(" ")[2] for shown in TITLED.findall(printed)}
    return any(cell.execution_count is None for cell in cells) or any(
        titled(name) not in (shown, name)
        for shown, name in names.items()  # none: "0.3 correct"
    )


# --------------------------------------------------------------------------------------- execution


class Clock:
    """The processor seconds of a kernel and of processes that it has ended, but for imports'."""

    def __init__(self, client: NotebookClient):
        self.client, self.seconds, self.before = client, 0.0, 0.0

    def __call__(self, cell: NotebookNode, **_: object) -> None:
        now = sum(Process(self.client.km.provisioner.pid).cpu_times()[:4])  # user, system, children
        imports = self.before == 0 or "setup" in cell.metadata.get("tags", ())
        self.seconds += 0 if imports else now - self.before
        self.before = now


def execute(script: Path) -> int:
    """Run a lesson from its script in a fresh kernel and store the notebook.

    Cells that were there before keep their ids; nothing is stored that changes from run to run but
    the processor seconds of the page. The least of the same code count, since a busy neighbour on
    the same core makes them half as many again.
    Returns: these seconds, without those of imports.
    Raises: LessonError with the traceback if a cell fails; what was stored is then left as it was.
    """
    target = script.with_suffix(".ipynb")
    notebook = from_script(script)
    least = math.inf
    if target.exists():
        stored = read(target)
        sources = [[cell.source for cell in code_cells(each)] for each in (stored, notebook)]
        if sources[0] == sources[1]:
            least = stored.metadata.get("book", {}).get("processor_seconds", math.inf)
        before = combine_inputs_with_outputs(from_script(script), stored, "py:percent")
        for cell, old in zip(notebook.cells, before.cells, strict=True):
            cell.id = old.id
    client = NotebookClient(
        notebook,
        kernel_name=KERNEL["name"],
        extra_arguments=["--log-level=ERROR"],
        timeout=None,
        startup_timeout=600,
        iopub_timeout=600,  # nbclient's 4 seconds lose outputs where others compute
        raise_on_iopub_timeout=True,
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(script.parent)}},
    )
    clock = client.on_cell_executed = Clock(client)
    shared = {name: value for name, value in os.environ.items() if name not in PERSONAL}
    try:
        client.execute(env=shared | REPRODUCIBLE)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        raise LessonError(
            f"A cell of {shown(script)} fails; nothing was stored.\n{error}"
        ) from error
    notebook.metadata.language_info.pop("version")
    seconds = min(round(clock.seconds), least)
    notebook.metadata.book = NotebookNode(processor_seconds=seconds)
    for cell in code_cells(notebook):
        cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    write(notebook, target)
    return seconds


def execute_stale(names: list[str], everything: bool = False) -> None:
    """Execute the named lessons, or all, or those that are stale; then write the page of claims.

    Raises: LessonError if a lesson is unknown or one of its cells fails.
    """
    chosen = [script for name in names for script in find(name)]
    chosen = chosen or [script for script in scripts() if everything or is_stale(script)]
    if not chosen:
        print("Every notebook is in step with its script.")
    for script in chosen:
        print(f"{shown(script)} ...", end=" ", flush=True)
        seconds, budget = execute(script), BUDGET[script.parent.name]
        late = (
            f" (at most {budget}: train less, or show what is stored)" if seconds > budget else ""
        )
        print(f"{seconds} s of processor time{late}")
    if subprocess.run([sys.executable, "-m", "utils.press.claims"], cwd=ROOT).returncode:
        raise LessonError("The page of claims could not be written.")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m utils.press.notebooks", description=__doc__)
    parser.add_argument(
        "lessons", nargs="*", metavar="LESSON", help="such as solutions/01_convolution"
    )
    parser.add_argument("--all", action="store_true", help="also those that are in step")
    chosen = parser.parse_args(arguments)
    try:
        execute_stale(chosen.lessons, chosen.all)
    except LessonError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
