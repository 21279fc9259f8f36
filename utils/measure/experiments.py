"""Long experiments: scripts in experiments/ measure what a lesson has no time for, and store it.

A script defines the grid, `PARAMETERS`, {name: value or list of values}, and `measure(**member)`,
which gets one value of each and returns {name: number, list of numbers, or None}. Where it measures
on data that does not come from the code, `data()` returns the arrays. A docstring says what for.

`python -m utils.measure.experiments` runs what is stale: where the code that `measure` reaches
(utils.measure.fingerprint), the parameters or the data are no longer those of the stored result.
"""

import argparse
import importlib.util
import itertools
import json
import math
import os
import platform
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from types import ModuleType

import torch
from tqdm import tqdm

from utils import ROOT
from utils.measure.fingerprint import fingerprint

SCRIPTS = ROOT / "experiments"
LIMIT = 2 * 15 * 60  # seconds of processor time an experiment may take: 15 minutes of two cores


class ExperimentError(Exception):
    """An experiment that can't be run or read; the message says what to do."""


@dataclass(frozen=True)
class Result:
    """A stored experiment: a row {parameter or measured name: value} for each of the grid.

    seconds: of processor time, all cores together, which no other program makes longer.
    """

    rows: list[dict]
    parameters: dict
    fingerprint: str
    seconds: float
    versions: dict[str, str]
    machine: dict[str, str | int]

    def select(self, **where) -> list[dict]:
        """The rows whose columns have the values in `where`; at least one, else ValueError."""
        rows = [row for row in self.rows if where.items() <= row.items()]
        if not rows:
            raise ValueError(f"No row has {where}; the experiment ran over {self.parameters}.")
        return rows

    def column(self, name: str, **where) -> list:
        """One column of the selected rows; ValueError if there are none, or no such column."""
        rows = self.select(**where)
        if name not in rows[0]:
            raise ValueError(f"There is no column {name!r}, only {', '.join(rows[0])}.")
        return [row[name] for row in rows]

    def spread(self, column: str, **where) -> tuple[float, float, float]:
        """Mean, lowest and highest of a column over the selected rows, one for each seed."""
        values = self.column(column, **where)
        if None in values:
            raise ValueError(
                f"{column!r} did not happen in {values.count(None)} of {len(values)} runs."
            )
        return fmean(values), min(values), max(values)


def names() -> list[str]:
    """The experiments that there are."""
    return sorted(path.stem for path in SCRIPTS.glob("*.py"))


def load(name: str) -> Result:
    """The stored result of an experiment, from its latest run.

    Raises: ExperimentError if there is none or the file is damaged.
    """
    path = _stored(name)
    try:
        return Result(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        problem = f"The experiment {name!r} has no stored result"
    except (ValueError, TypeError):
        problem = f"The stored result {path.relative_to(SCRIPTS.parent)} is damaged"
    raise ExperimentError(f"{problem}: run `python -m utils.measure.experiments {name}`.")


def is_stale(name: str) -> bool:
    """Whether code, parameters or data are no longer those of the stored result.

    Where a script says VARIES_WITH_PYTHON = True, its data come with Python, each release has its
    own, and only the release that measured can tell: another one calls the result up to date.
    """
    try:
        stored = load(name)
    except ExperimentError:
        return True
    script = _script(name)
    other_data = stored.versions["python"] != platform.python_version()
    if getattr(script, "VARIES_WITH_PYTHON", False) and other_data:
        return False
    return stored.fingerprint != _fingerprint(script)


def run(name: str) -> Result:
    """Measure every member of the grid and store the result; go on where the last run stopped.

    Raises: ExperimentError if there is no such script, or it measures what a table can't hold.
    """
    script = _script(name)
    now = _fingerprint(script)
    part = _stored(name).with_suffix(".json.part")
    done = _finished(part, now)
    members = list(grid(script.PARAMETERS))
    for member in tqdm(members[len(done["rows"]) :], desc=name, leave=False):
        start = time.process_time()
        numbers = script.measure(**member)
        done["seconds"] = round(done["seconds"] + time.process_time() - start, 1)
        done["rows"].append(_row(name, member, numbers))
        write_atomically(part, json.dumps(done))
    if done["seconds"] > LIMIT:
        message = (
            f"{name} took {done['seconds']:.0f} s of processor time; the book allows {LIMIT} s: "
            "make it smaller."
        )
        print(message, file=sys.stderr)
    result = {
        "parameters": script.PARAMETERS,
        "fingerprint": now,
        "seconds": done["seconds"],
        "versions": {"python": platform.python_version()}
        | {package: version(package) for package in ("torch", "numpy")},
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "threads": torch.get_num_threads(),
        },
        "rows": done["rows"],
    }
    write_atomically(_stored(name), _as_lines(result))
    part.unlink(missing_ok=True)
    return load(name)


def live(name: str, **member) -> tuple[dict, dict]:
    """Measure one member of the grid now; return its row and the stored one.

    Raises: ExperimentError if there is no such script; ValueError if the grid has no such member.
    """
    result = load(name)
    (stored,) = result.select(**member)
    member = {parameter: stored[parameter] for parameter in result.parameters}
    return _row(name, member, _script(name).measure(**member)), stored


def grid(parameters: dict) -> Iterator[dict]:
    """Every combination of one value of each parameter, the last one changing fastest."""
    choices = [value if isinstance(value, list) else [value] for value in parameters.values()]
    for values in itertools.product(*choices):
        yield dict(zip(parameters, values, strict=True))


def write_atomically(path: Path, text: str) -> None:
    """Write a text file beside its place, then move it there: a reader never sees half of it."""
    beside = path.with_name(path.name + ".new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def _stored(name: str) -> Path:
    return SCRIPTS / "results" / f"{name}.json"


class Uncached(SourceFileLoader):
    """Loads a script and leaves no bytecode, which a change in the same second would not renew."""

    def set_data(self, *_, **__) -> None:
        pass


def _script(name: str) -> ModuleType:
    """The script as a module; its `measure` is not yet called."""
    path = SCRIPTS / f"{name}.py"
    if not path.is_file():
        raise ExperimentError(f"There is no experiment {name!r}, only: {', '.join(names())}.")
    loader = Uncached(f"experiments.{name}", str(path))
    spec = importlib.util.spec_from_file_location(loader.name, path, loader=loader)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    if not isinstance(getattr(script, "PARAMETERS", None), dict) or not hasattr(script, "measure"):
        raise ExperimentError(
            f"experiments/{name}.py needs a dict PARAMETERS and a function measure."
        )
    return script


def _fingerprint(script: ModuleType) -> str:
    data = script.data() if hasattr(script, "data") else ()
    return fingerprint(Path(script.__file__), ("measure", "data"), script.PARAMETERS, data)


def _finished(part: Path, now: str) -> dict:
    """What an interrupted run has measured with the present code, or nothing."""
    try:
        done = json.loads(part.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        done = {}
    return (
        done if done.get("fingerprint") == now else {"fingerprint": now, "seconds": 0, "rows": []}
    )


def _row(name: str, member: dict, numbers: dict) -> dict:
    """The member with what was measured for it; None stands for "did not happen"."""
    row = dict(member)
    for column, value in numbers.items():
        flat = value if isinstance(value, list) else [value]
        finite = all(x is None or isinstance(x, (int, float)) and math.isfinite(x) for x in flat)
        if column in member or not finite:
            raise ExperimentError(
                f"{name}: measure({member}) returned {column} = {value!r}; "
                "a stored table holds finite numbers, under names that no parameter has."
            )
        row[column] = value
    return row


def _as_lines(result: dict) -> str:
    """The result as JSON, each row on a line of its own."""
    rows = ",\n  ".join(json.dumps(row) for row in result["rows"])
    head = [f'"{key}": {json.dumps(value)}' for key, value in result.items() if key != "rows"]
    return "{\n " + ",\n ".join([*head, f'"rows": [\n  {rows}\n ]']) + "\n}\n"


def processor() -> str:
    """The processor's model, where the system tells it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Run the long experiments whose results are stale."
    )
    parser.add_argument("names", nargs="*", help="only these (default: all)")
    parser.add_argument("--all", action="store_true", help="run what is not stale too")
    parser.add_argument("--list", action="store_true", help="say what is stale, and run nothing")
    options = parser.parse_args()
    for name in options.names or names():
        stale = is_stale(name)
        if not options.list and (stale or options.all):
            print(f"{name}: measured in {run(name).seconds} s of processor time")
        else:
            print(f"{name}: {'stale' if stale else 'up to date'}")


if __name__ == "__main__":
    try:
        main()
    except ExperimentError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("Stopped. What was measured is kept: the next run goes on from there.")
