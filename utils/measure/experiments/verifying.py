"""Where only the form of the code changed: does it still measure the same, bit for bit?

A script names a short form of itself, a run of a few seconds: `SHORT`, {name: value}. A name is
that of a parameter of `measure`, or of a constant that `measure` reaches, in whichever module; of
two that are called alike, it begins with the module's own name ("race.GOAL"). A text as a
constant's value is code, which may name what the constant was ("replace(WINNER, steps=20)").

The short form is measured twice at once on this machine, each time on one thread: by the code of
the commit that measured the stored rows, or was the last to be found equal to that, and by the code
of the present commit. Each is in a folder of its own, where the constants are overwritten. What is
compared are the columns, but those of seconds, and every loss that is propagated back.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from numbers import Number
from pathlib import Path
from tempfile import TemporaryDirectory

from utils.measure.experiments.results import (
    ROOTS,
    ExperimentError,
    data_of,
    fingerprint_of,
    has_stamp,
    load_script,
    place,
    stored,
)
from utils.measure.experiments.running import git, rows_of, surroundings, write
from utils.measure.fingerprint import Modules, fingerprint

# needs nothing of the book but a script and the folder that it imports from
RUNNER = """\
import hashlib, importlib.util, json, sys, time
import torch
torch.set_num_threads(1)
script, members = sys.argv[1], json.loads(sys.argv[2])
spec = importlib.util.spec_from_file_location("script", script)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
backward, found = torch.Tensor.backward, []
def noted(loss, *arguments, **options):
    losses.update(repr(loss.tolist()).encode())
    return backward(loss, *arguments, **options)
torch.Tensor.backward = noted
begin = time.process_time()
for member in members:
    losses = hashlib.sha256()
    found.append(module.measure(**member))
    found[-1]["losses on the way"] = losses.hexdigest()
print("\\n" + json.dumps([found, round(time.process_time() - begin, 2)]))
"""


def verify(name: str) -> str:
    """Compare the present code with the commit that measured; if all agrees, add its stamp.

    Returns: what was found, in a few words.
    Raises: ExperimentError if nothing is stored, or what is there now or measured is no commit.
    """
    held, script = stored(name), load_script(name)
    now = fingerprint_of(script)
    if has_stamp(held, now):
        return "of its members, some are not measured yet: run `make experiments`"
    if not hasattr(script, "SHORT"):
        return "nothing to compare but seconds; stale: run `make experiments`"
    if git("status", "--porcelain", "--", "utils", "experiments/*.py"):
        raise ExperimentError(
            "What is verified is a commit: commit the changes in utils and experiments first."
        )
    members, constants = short_form(script.SHORT, script.PARAMETERS, held["parameters"])
    commits = _measured_at(name, held), git("rev-parse", "HEAD")
    with worktree(commits[0]) as then, worktree(commits[1]) as here, ThreadPoolExecutor() as both:
        old = then / "experiments" / f"{name}.py"
        if old.exists() and not has_stamp(held, fingerprint(old, ROOTS, data_of(script), then)):
            return "the data are no longer those that were measured; run `make experiments`"
        asked = partial(_measure, name, members=members, constants=constants)
        try:
            (before, _), (after, seconds) = both.map(asked, commits, (then, here))
        except ExperimentError as error:
            return str(error)
    timed = {*getattr(script, "SECONDS", ())}
    for member, old, new in zip(members, before, after, strict=True):
        columns = (old.keys() | new.keys()) - timed
        if differ := sorted(each for each in columns if old.get(each) != new.get(each)):
            return f"other numbers of {member}: {', '.join(differ)}; stale: run `make experiments`"
    by = surroundings() | {"members": len(members), "seconds": seconds, "compared with": commits[0]}
    stamp = {"fingerprint": now, "commit": commits[1], "verified_by": by}
    write(name, held["parameters"], [*held["stamps"], stamp], rows_of(held))
    return f"verified: its short form measures as at {commits[0][:7]}, the same to the bit"


def short_form(short: dict, parameters: dict, before: dict) -> tuple[list[dict], dict]:
    """The members of a short form, and the constants that it sets.

    The first member has the first value of each parameter. Another one differs from it in one
    parameter: there is one for each value that is not a number and that the grid had before, and
    for each that the short form lists.
    """
    choices = {}
    for name, given in parameters.items():
        values, known = (
            each if isinstance(each, list) else [each] for each in (given, before.get(name, given))
        )
        if name in short:
            choices[name] = short[name] if isinstance(short[name], list) else [short[name]]
        elif any(_is_number(value) for value in values):
            choices[name] = values[:1]
        else:
            choices[name] = [value for value in values if value in known] or values[:1]
    first = {name: values[0] for name, values in choices.items()}
    others = [first | {name: value} for name, values in choices.items() for value in values[1:]]
    constants = {name: value for name, value in short.items() if name not in parameters}
    return [first, *others], constants


def _is_number(value: object) -> bool:
    return isinstance(value, Number) and not isinstance(value, bool)


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


def _measure(
    name: str, commit: str, book: Path, members: list[dict], constants: dict
) -> tuple[list[dict], float]:
    """Measure members by a commit's code in a folder, in a process of its own; also, its seconds.

    Raises: ExperimentError if the commit's code can't measure them.
    """
    one = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    script = book / "experiments" / f"{name}.py"
    try:
        overwrite(script, book, constants)
        ended = subprocess.run(
            [sys.executable, "-c", RUNNER, str(script), json.dumps(members)],
            cwd=book,
            env=os.environ | one | {"PYTHONPATH": str(book)},
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(ended.stdout.splitlines()[-1])
    except (OSError, LookupError) as error:
        reason = str(error)
    except subprocess.CalledProcessError as error:
        (reason,) = error.stderr.strip().splitlines()[-1:] or ["it was ended"]
    raise ExperimentError(
        f"its short form can't be measured at {commit[:7]} ({reason}): mend `SHORT`, or run "
        "`make experiments`"
    )


@contextmanager
def worktree(commit: str) -> Iterator[Path]:
    """A folder with the book as it was at a commit."""
    with TemporaryDirectory() as folder:
        path = Path(folder).resolve() / "then"
        git("worktree", "add", "--detach", "--force", str(path), commit)
        try:
            yield path
        finally:
            git("worktree", "remove", "--force", str(path))


def overwrite(script: Path, book: Path, constants: dict) -> None:
    """Set constants that a script reaches, in the files of a book that define them."""
    places = lines(script, book, constants)
    for file, end, line in sorted(places, reverse=True):
        text = file.read_text(encoding="utf-8").splitlines()
        text.insert(end, line)
        file.write_text("\n".join(text) + "\n", encoding="utf-8")


def lines(script: Path, book: Path, constants: dict) -> list[tuple[Path, int, str]]:
    """(file, line behind which it stands, line that sets it) of each constant.

    Raises: OSError if there is no such script; LookupError if it reaches none or several constants
        of a name, its own excepted.
    """
    modules = Modules(script, book)
    reached, found = modules.reached(ROOTS), []
    for constant, value in constants.items():
        places = [place for place in reached if place == ("", constant)] or [
            place for place in reached if f".{place.module}.{place.name}".endswith(f".{constant}")
        ]
        if len(places) != 1:
            raise LookupError(f"{len(places)} constants that it reaches are called {constant}")
        module, name = places[0]
        end = modules.read[module].definitions[name][-1].end_lineno
        code = value if isinstance(value, str) else repr(value)
        found.append((modules.file(module), end, f"{name} = {code}"))
    return found
