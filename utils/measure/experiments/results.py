"""What experiments measured: stored tables, their grids, and whether they are still true."""

import importlib.util
import itertools
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from statistics import fmean
from types import ModuleType

from utils import ROOT
from utils.measure.fingerprint import fingerprint

SCRIPTS = ROOT / "experiments"
ROOTS = "measure", "data"  # what a script measures with begins with these functions


class ExperimentError(Exception):
    """An experiment that can't be run or read; the message says what to do."""


@dataclass(frozen=True)
class Result:
    """A stored experiment: a row {parameter or measured name: value} for each of the grid.

    stamps: {fingerprint, commit} of the code that measured, then, with `verified_by`, of code that
        was found to measure the same.
    runs: {versions, machine} that rows were measured with.
    seconds: of processor time, row by row. Of an old run only those of all rows together are known:
        each row counts as its share.
    """

    rows: list[dict]
    parameters: dict
    stamps: list[dict]
    runs: list[dict]
    seconds: list[float]

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

    def lowest(self, parameter: str, column: str, **where) -> object:
        """The value of a parameter at which the mean of a column over the seeds is lowest."""
        values = self.parameters[parameter]
        return min(values, key=lambda value: self.spread(column, **where | {parameter: value})[0])


def names() -> list[str]:
    """The experiments that there are."""
    return sorted(path.stem for path in SCRIPTS.glob("*.py"))


def load(name: str) -> Result:
    """The stored result of an experiment, from its latest run.

    Raises: ExperimentError if there is none or the file is damaged.
    """
    held = stored(name)
    return Result(
        [row["member"] | row["numbers"] for row in held["rows"]],
        held["parameters"],
        held["stamps"],
        held["runs"],
        [seconds_of(row, held["runs"][row["run"]]) for row in held["rows"]],
    )


def stored(name: str) -> dict:
    """The stored file: parameters, stamps, runs, and rows {member, numbers, seconds, run}.

    Raises: ExperimentError if there is none or it is damaged.
    """
    path = place(name)
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        for row in held["rows"]:
            check_numbers(name, row["member"], row["numbers"])
            seconds_of(row, held["runs"][row["run"]])
        if held["parameters"].keys() and all(stamp["fingerprint"] for stamp in held["stamps"]):
            return held
        problem = f"The stored result {path.name} is damaged"
    except FileNotFoundError:
        problem = f"The experiment {name!r} has no stored result"
    except OSError as error:
        problem = f"The stored result {path.name} can't be read ({error.strerror})"
    except (ValueError, TypeError, LookupError, AttributeError, ExperimentError):
        problem = f"The stored result {path.name} is damaged"
    raise ExperimentError(f"{problem}: run `python -m utils.measure.experiments {name}`.")


def seconds_of(row: dict, run: dict) -> float:
    """Processor time of a row; its share, if only that of a whole run is known."""
    return run["seconds"] / run["members"] if row["seconds"] is None else row["seconds"]


def is_stale(name: str) -> bool:
    """Whether code, data or the members of the grid are no longer those of the stored result."""
    try:
        held = stored(name)
    except ExperimentError:
        return True
    script = load_script(name)
    measured = {key(row["member"]) for row in held["rows"]}
    members = {key(member) for member in grid(script.PARAMETERS)}
    return measured != members or not has_stamp(held, fingerprint_of(script))


def has_stamp(held: dict, mark: str) -> bool:
    """Whether the stored rows are known to be those of the code with this fingerprint."""
    return mark in [stamp["fingerprint"] for stamp in held["stamps"]]


def missing(name: str) -> str:
    """Why an experiment can't be measured here, by its script's `missing`; empty if it can."""
    script = load_script(name)
    return script.missing() if hasattr(script, "missing") else ""


def live(name: str, **member) -> tuple[dict, dict]:
    """Measure one member of the grid now; return its row and the stored one.

    Raises: ExperimentError if there is no such script; ValueError if the grid has no such member.
    """
    result = load(name)
    (row,) = result.select(**member)
    member = {parameter: row[parameter] for parameter in result.parameters}
    return member | check_numbers(name, member, load_script(name).measure(**member)), row


def grid(parameters: dict) -> Iterator[dict]:
    """Every combination of one value of each parameter, the last one changing fastest."""
    choices = [value if isinstance(value, list) else [value] for value in parameters.values()]
    for values in itertools.product(*choices):
        yield dict(zip(parameters, values, strict=True))


def key(member: dict) -> str:
    """A member as a text, in which True is not 1."""
    return json.dumps(member, sort_keys=True)


def place(name: str) -> Path:
    """Where the result of an experiment is stored."""
    return SCRIPTS / "results" / f"{name}.json"


def write_atomically(path: Path, text: str) -> None:
    """Write a text file beside its place, then move it there: a reader never sees half of it.

    Raises: ExperimentError if there is no room, or no leave to write.
    """
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise ExperimentError(
            f"{path.name} can't be written ({error.strerror}): what was there before is kept. "
            "Make room for it, then run this again."
        ) from error


class Uncached(SourceFileLoader):
    """Loads a script and leaves no bytecode, which a change in the same second would not renew."""

    def set_data(self, *_, **__) -> None:
        pass


def load_script(name: str, folder: Path | None = None) -> ModuleType:
    """The script as a module; its `measure` is not yet called."""
    path = (folder or SCRIPTS) / f"{name}.py"
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


def fingerprint_of(script: ModuleType) -> str:
    """The fingerprint of the code and the data that a script measures with."""
    return fingerprint(Path(script.__file__), ROOTS, data_of(script))


def data_of(script: ModuleType) -> list:
    """The arrays that a script measures with, if it names any."""
    return list(script.data()) if hasattr(script, "data") else []


def check_numbers(name: str, member: dict, numbers: dict) -> dict:
    """What was measured for a member, if a table can hold it; None stands for "did not happen"."""
    for column, value in numbers.items():
        flat = value if isinstance(value, list) else [value]
        finite = all(x is None or isinstance(x, (int, float)) and math.isfinite(x) for x in flat)
        if column in member or not finite:
            raise ExperimentError(
                f"{name}: measure({member}) returned {column} = {value!r}; "
                "a stored table holds finite numbers, under names that no parameter has."
            )
    return numbers
