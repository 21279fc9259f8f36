"""What a class handed in: each hand-in run alone and within limits, one table and one picture.

python -m utils.press.classroom.collecting FOLDER     a notebook, or a folder of them, per student
"""

import csv
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, fields
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
from joblib import cpu_count

from utils.press.classroom.contained import KINDS
from utils.press.classroom.running import Limits, Run, run
from utils.press.classroom.verdicts import VERDICTS, Row, best, book, rows, shortened
from utils.press.notebooks import LessonError
from utils.show.plotting import COLOURS, GREY, KEPT, PAPER, STYLE

LARGEST = 20 << 20  # bytes of a notebook
KINDS = KINDS | {"memory": "its memory is only watched, ten times a second"}
HEADS = {"minutes": "minutes_by_the_book"}
# Shares of the picture, from the left: (colour, hatch), told apart without colours, too.
LOOK = {
    "passed": (COLOURS[2], ""),
    "known mistake": (COLOURS[1], "//"),
    "wrong": (COLOURS[4], "\\\\"),
    "stopped": (COLOURS[6], ""),
    "not started": (PAPER, ""),
}
SHOWN = {"missing": "not started", "refused": "wrong"}  # in the picture


def hand_ins(folder: Path) -> Iterator[tuple[str, Path]]:
    """(student, notebook): FOLDER/student.ipynb, and all notebooks below FOLDER/student/.

    Raises: LessonError if there is no such folder, or nothing in it.
    """
    if not folder.is_dir():
        raise LessonError(f"There is no folder {folder}: name the one with what was handed in.")
    found = [
        path
        for path in sorted(folder.rglob("*.ipynb"))
        if path.is_file()
        and not path.is_symlink()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    if not found:
        packed = " Unpack the archives first." if [*folder.rglob("*.zip")] else ""
        raise LessonError(
            f"There is no notebook in {folder}: it has to hold student.ipynb, or a folder of "
            f"notebooks for each student.{packed}"
        )
    for path in found:
        yield path.relative_to(folder).with_suffix("").parts[0], path


def run_file(path: Path, limits: Limits) -> Run:
    """Run a notebook from its file; one that is too large is not even read."""
    try:
        if path.stat().st_size > LARGEST:
            return Run(unreadable=f"it is larger than {LARGEST >> 20} MB: clear its outputs")
        return run(path.read_bytes(), limits)
    except OSError as error:
        return Run(unreadable=f"it can't be opened: {error.strerror}")


def collect(folder: Path, limits: Limits | None = None) -> tuple[Path, Path]:
    """Run all hand-ins of a folder, write the table and the picture into it; print a summary.

    Returns: their paths, of names that were free.
    Raises: LessonError if there is nothing to run, or nothing can be written.
    """
    listed = list(hand_ins(folder))
    print(f"Notebooks: {len(listed)}, each in a process of its own …", flush=True)
    found: list[Row] = []
    least = set(KINDS)
    with ThreadPoolExecutor(cpu_count(only_physical_cores=True)) as pool:
        runs = pool.map(partial(run_file, limits=limits or Limits()), [path for _, path in listed])
        for (student, path), came in zip(listed, runs, strict=True):
            name = path.relative_to(folder).as_posix()
            found += rows(shortened(student), shortened(name), came)
            least &= set(came.contained) if came.contained or not came.unreadable else least
    found = best(found)
    table, picture = free(folder / "collected.csv"), free(folder / "collected.svg")
    try:
        write_table(found, table)
        draw(found, picture)
    except OSError as error:
        raise LessonError(f"The results can't be written: {error}.") from error
    print("\n".join([*summary(found), f"The table: {table}", f"The picture: {picture}"]))
    for kind in KINDS.keys() - least:
        print(f"Not contained on this machine: {kind}. A hand-in is a program, and {KINDS[kind]}.")
    return table, picture


def free(path: Path) -> Path:
    """The path, or the next one like it of which there is no file: yours may have notes in it."""
    number, found = 1, path
    while found.exists():
        number += 1
        found = path.with_stem(f"{path.stem}-{number}")
    return found


def write_table(found: Sequence[Row], path: Path) -> None:
    """Write a row for each student and exercise, as CSV that spreadsheets read."""
    draft = path.with_name(f".{path.name}")
    with draft.open("w", encoding="utf-8-sig", newline="") as file:
        table = csv.writer(file)
        table.writerow([HEADS.get(field.name, field.name) for field in fields(Row)])
        table.writerows(map(astuple, found))
    draft.replace(path)


def tally(found: Sequence[Row]) -> dict[str, Counter]:
    """{exercise: how many students have which verdict}, in the order of the book."""
    counted = {name: Counter() for name in book()}
    for row in found:
        if row.exercise:
            counted[row.exercise][SHOWN.get(row.verdict, row.verdict)] += 1
    return {name: verdicts for name, verdicts in counted.items() if verdicts}


def summary(found: Sequence[Row]) -> list[str]:
    """Who, how much, and the mistakes that were made most."""
    verdicts = Counter(row.verdict for row in found)
    told = ", ".join(f"{verdicts[each]} {each}" for each in VERDICTS if verdicts[each])
    students = len({row.student for row in found})
    lines = [f"{students} student{'s' * (students > 1)}: {told or 'no exercise'}."]
    lines += [f"{row.file}: {row.said}." for row in found if row.verdict == "unreadable"]
    made = Counter((row.number, row.exercise, row.mistake) for row in found if row.mistake)
    lines += [f"{n} × {number} {name}: {says}" for (number, name, says), n in made.most_common(5)]
    return lines


def draw(found: Sequence[Row], path: Path) -> None:
    """Draw where the class stumbled: of each exercise, the share of students by verdict."""
    counted = tally(found)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(6.4, 1.6 + 0.32 * max(len(counted), 1)))
        left = [0.0] * len(counted)
        names = [f"{book()[name].number} {name}" for name in counted]
        for verdict, (colour, hatch) in LOOK.items():
            shares = [100 * each[verdict] / each.total() for each in counted.values()]
            look = {"color": colour, "hatch": hatch, "edgecolor": GREY, "linewidth": 0.5}
            axes.barh(names, shares, left=left, label=verdict, **look)
            left = [a + b for a, b in zip(left, shares, strict=True)]
        axes.invert_yaxis()
        axes.set(xlim=(0, 100), xlabel="students (%)")
        axes.grid(visible=False, axis="y")
        figure.legend(loc="outside upper center", ncols=3, frameon=False)
        draft = path.with_name(f".{path.name}")
        figure.savefig(draft, format="svg", **KEPT)
        plt.close(figure)
    draft.replace(path)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1]:
        sys.exit("Which folder? Name the one with what was handed in, as in FOLDER=hand-ins.")
    try:
        collect(Path(sys.argv[1]))
    except LessonError as error:
        sys.exit(str(error))
