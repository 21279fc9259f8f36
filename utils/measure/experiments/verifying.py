"""Where only the form of the code changed: does it still measure the same, bit for bit?

For each value of each parameter that is not a number, the cheapest member is measured twice on this
machine, on one thread: by the code of the commit that measured the stored rows, in a folder of its
own, and by the present code.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from numbers import Number
from pathlib import Path
from tempfile import TemporaryDirectory

from utils import ROOT
from utils.measure.experiments.results import (
    SCRIPTS,
    ExperimentError,
    fingerprint_of,
    grid,
    has_stamp,
    key,
    load_script,
    place,
    seconds_of,
    stored,
)
from utils.measure.experiments.running import git, rows_of, surroundings, write

# needs nothing of the book but a script and the folder that it imports from
RUNNER = """\
import importlib.util, json, sys
import torch
torch.set_num_threads(1)
script, members = sys.argv[1], json.loads(sys.argv[2])
spec = importlib.util.spec_from_file_location("script", script)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
found = [module.measure(**member) for member in members]
print("\\n" + json.dumps(found))
"""


def verify(name: str) -> str:
    """Compare the present code with the commit that measured; if all agrees, add its stamp.

    Returns: what was found, in a few words.
    Raises: ExperimentError if nothing is stored, what is there now is not a commit, or one of both
        can't be run.
    """
    held, script = stored(name), load_script(name)
    now = fingerprint_of(script)
    if has_stamp(held, now):
        return "of its members, some are not measured yet: run `make experiments`"
    if git("status", "--porcelain", "--", "utils", "experiments/*.py"):
        raise ExperimentError(
            "What is verified is a commit: commit the changes in utils and experiments first."
        )
    members = _cheapest(held, script.PARAMETERS)
    seconds = set(getattr(script, "SECONDS", ()))
    columns = {key(row["member"]): row["numbers"].keys() - seconds for row in held["rows"]}
    if not any(columns[key(member)] for member in members):
        return "nothing to compare but seconds or other members; stale: run `make experiments`"
    commit = _measured_at(name, held)
    with _worktree(commit) as then, ThreadPoolExecutor() as both:
        sides = [(then / _script_then(name, commit), then), (SCRIPTS / f"{name}.py", ROOT)]
        found = both.map(lambda side: _measure(*side, members), sides)
        before, after = ([_texts(numbers) for numbers in side] for side in found)
    for member, old, new in zip(members, before, after, strict=True):
        asked = columns[key(member)]
        differ = {each for each in asked if old.get(each) != new.get(each)}
        if differ := sorted(differ | new.keys() - asked - seconds):
            return f"other numbers of {member}: {', '.join(differ)}; stale: run `make experiments`"
    by = surroundings() | {"members": len(members), "compared with": commit}
    stamp = {"fingerprint": now, "commit": git("rev-parse", "HEAD"), "verified_by": by}
    write(name, held["parameters"], [*held["stamps"], stamp], rows_of(held))
    return f"verified: {len(members)} members measured as at {commit[:7]}, the same to the bit"


def _cheapest(held: dict, parameters: dict) -> list[dict]:
    """For each value of each parameter that is not a number, the member that takes least time.

    Of rows whose seconds are not known, it is the one with the smallest numbers.
    """
    members = {key(member) for member in grid(parameters)}
    rows = [row for row in held["rows"] if key(row["member"]) in members]

    def effort(row: dict) -> tuple:
        numbers = [value for value in row["member"].values() if _is_number(value)]
        return seconds_of(row, held["runs"][row["run"]]), numbers

    least = {}
    for row in sorted(rows, key=effort):
        kinds = [(name, value) for name, value in row["member"].items() if not _is_number(value)]
        for kind in kinds or [None]:
            least.setdefault(kind, row["member"])
    return list({key(member): member for member in least.values()}.values())


def _is_number(value: object) -> bool:
    return isinstance(value, Number) and not isinstance(value, bool)


def _texts(numbers: dict) -> dict[str, str]:
    """Numbers as texts, which are equal where all bits are."""
    return {column: json.dumps(value) for column, value in numbers.items()}


def _measured_at(name: str, held: dict) -> str:
    """The commit with the code that measured, or that was the last to be found equal to it.

    Results that came with their code, in one commit, know no other than that one.
    """
    commits = [stamp["commit"] for stamp in held["stamps"]]
    for commit in [each for each in reversed(commits) if each]:
        if commit in git("rev-list", "HEAD").split():
            return commit
    commit = git("log", "-1", "--format=%H", "--", str(place(name)))
    if not commit or any(commits):
        raise ExperimentError(
            f"{name}: the commit that measured it is not in this history: fetch all of it "
            "(`git fetch --unshallow`), or measure anew with `make experiments`."
        )
    return commit


def _script_then(name: str, commit: str) -> str:
    """The path of the script at a commit, by whatever name."""
    path = f"experiments/{name}.py"
    renamed = git("diff", "--find-renames", "--name-status", "--diff-filter=R", commit, "HEAD")
    for line in renamed.splitlines():
        _, old, new = line.split("\t")
        if new == path:
            return old
    return path


@contextmanager
def _worktree(commit: str) -> Iterator[Path]:
    """A folder with the book as it was at a commit."""
    with TemporaryDirectory() as folder:
        path = Path(folder).resolve() / "then"
        git("worktree", "add", "--detach", "--force", str(path), commit)
        try:
            yield path
        finally:
            git("worktree", "remove", "--force", str(path))


def _measure(script: Path, book: Path, members: list[dict]) -> list[dict]:
    """Measure members by the code of a folder, in a process of its own."""
    one = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    ended = subprocess.run(
        [sys.executable, "-c", RUNNER, str(script), json.dumps(members)],
        cwd=book,
        env=os.environ | one | {"PYTHONPATH": str(book)},
        capture_output=True,
        text=True,
    )
    if ended.returncode:
        reason = ended.stderr.strip().splitlines()[-1:] or ["it was ended"]
        raise ExperimentError(f"{script.stem} can't be measured in {book}: {reason[0]}")
    return json.loads(ended.stdout.splitlines()[-1])
