"""Runs what is missing of an experiment, its members side by side."""

import json
import os
import platform
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from types import ModuleType

from filelock import FileLock, Timeout
from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from utils import ROOT
from utils.measure.costs import one_thread
from utils.measure.experiments.results import (
    ExperimentError,
    Result,
    check_numbers,
    fingerprint_of,
    grid,
    has_stamp,
    key,
    load,
    load_script,
    place,
    stored,
    write_atomically,
)

PATIENCE = 5  # seconds until a cluster answers
LIMIT = 2 * 15 * 60  # seconds of processor time an experiment may take: 15 minutes of two cores
ONE_AT_A_TIME = Lock()  # the members of one process share its random numbers


def run(name: str, *, anew: bool = False, scheduler: str | None = None) -> Result:
    """Measure what is missing and store the result; go on where the last run stopped.

    anew: measure everything, also what is not stale.
    scheduler: the address of a Dask cluster, which is then used instead of this machine's cores;
        not for experiments that measure seconds.
    Raises: ExperimentError if there is no such script, it measures what a table can't hold, its
        result can't be written, or a process is killed while it measures.
    """
    script = load_script(name)
    with _alone(name):
        now = fingerprint_of(script)
        members = {key(member): member for member in grid(script.PARAMETERS)}
        head, rows = _still_true(name, now, anew)
        rows |= _unfinished(name, now)
        rows = {which: rows[which] for which in members if which in rows}
        missing = [member for which, member in members.items() if which not in rows]
        for row in tqdm(
            _measured(script, name, missing, now, scheduler),
            desc=name,
            initial=len(rows),
            total=len(members),
            leave=False,
        ):
            check_numbers(name, row["member"], row["numbers"])
            rows[key(row["member"])] = row
            write_atomically(
                _part(name), json.dumps({"fingerprint": now, "rows": [*rows.values()]})
            )
        stamps = head or [{"fingerprint": now, "commit": commit()}]
        write(name, script.PARAMETERS, stamps, [rows[which] for which in members])
        _part(name).unlink(missing_ok=True)
    result = load(name)
    if sum(result.seconds) > LIMIT:
        message = (
            f"{name} took {sum(result.seconds):.0f} s of processor time; the book allows {LIMIT} "
            "s: make it smaller."
        )
        print(message, file=sys.stderr)
    return result


def write(name: str, parameters: dict, stamps: list[dict], rows: list[dict]) -> None:
    """Store rows {member, numbers, seconds, run}, each on a line; runs are written once each."""
    runs = []
    for row in rows:
        if row["run"] not in runs:
            runs.append(row["run"])
    lines = [json.dumps(row | {"run": runs.index(row["run"])}) for row in rows]
    parts = [f'"parameters": {json.dumps(parameters)}']
    for title, entries in (("stamps", stamps), ("runs", runs)):
        parts.append(f'"{title}": ' + _lines([json.dumps(each) for each in entries]))
    parts.append('"rows": ' + _lines(lines))
    write_atomically(place(name), "{\n " + ",\n ".join(parts) + "\n}\n")


def rows_of(held: dict) -> list[dict]:
    """The rows of a stored result, each with its run instead of the run's number."""
    return [row | {"run": held["runs"][row["run"]]} for row in held["rows"]]


def _lines(lines: list[str]) -> str:
    return "[\n  " + ",\n  ".join(lines) + "\n ]"


def _still_true(name: str, now: str, anew: bool) -> tuple[list[dict], dict[str, dict]]:
    """Stamps and rows of the stored result, if the present code and data are known to give them."""
    try:
        held = stored(name)
    except ExperimentError:
        return [], {}
    if anew or not has_stamp(held, now):
        return [], {}
    return held["stamps"], {key(row["member"]): row for row in rows_of(held)}


def _unfinished(name: str, now: str) -> dict[str, dict]:
    """The rows that an interrupted run has measured with the present code and data."""
    try:
        done = json.loads(_part(name).read_text(encoding="utf-8"))
        if done["fingerprint"] != now:
            return {}
        for row in done["rows"]:
            check_numbers(name, row["member"], row["numbers"])
            assert row.keys() == {"member", "numbers", "seconds", "run"}
        return {key(row["member"]): row for row in done["rows"]}
    except (OSError, ValueError, TypeError, LookupError, AttributeError, AssertionError):
        return {}
    except ExperimentError:
        return {}


def _part(name: str) -> Path:
    return place(name).with_suffix(".json.part")


def _alone(name: str) -> ExitStack:
    """Hold the experiment, so that no other process measures it meanwhile."""
    place(name).parent.mkdir(exist_ok=True)
    lock = FileLock(place(name).with_suffix(".json.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        print(f"{name}: another process measures it; waiting for that one.", file=sys.stderr)
        lock.acquire()
    except OSError as error:
        raise ExperimentError(f"{lock.lock_file} can't be written ({error.strerror}).") from error
    held = ExitStack()
    held.callback(lock.release)
    return held


def _measured(
    script: ModuleType, name: str, members: list[dict], now: str, scheduler: str | None
) -> Iterator[dict]:
    """The rows of members, each as soon as it is there."""
    if hasattr(script, "SECONDS") or len(members) < 2 and not scheduler:
        for member in members:
            yield _measure(script, member)
        return
    calls = [delayed(measure_elsewhere)(Path(script.__file__), now, member) for member in members]
    with _workers(scheduler):
        failed = []
        try:
            for row in Parallel(n_jobs=-1, batch_size=1, return_as="generator_unordered")(calls):
                if isinstance(row, str):
                    failed.append(row)
                else:
                    yield row
        except TerminatedWorkerError:
            message = (
                f"{name}: a process was killed while it measured, perhaps for want of memory. "
                "What was measured is kept: the next run goes on from there."
            )
            raise ExperimentError(message) from None
        if failed:
            raise ExperimentError(failed[0])


def _workers(scheduler: str | None) -> ExitStack | parallel_config:
    """Processes of this machine, or of the cluster that is named."""
    if not scheduler:
        return parallel_config("loky", inner_max_num_threads=1)
    try:
        from distributed import Client
    except ImportError:
        message = 'A cluster needs Dask: install it with `.venv/bin/pip install -e ".[cluster]"`.'
        raise ExperimentError(message) from None
    try:
        client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ExperimentError(f"No cluster answers at {scheduler}: {error}") from error
    held = ExitStack()
    held.enter_context(client)
    held.enter_context(parallel_config("dask", client=client))
    return held


def measure_elsewhere(path: Path, now: str, member: dict) -> dict | str:
    """Measure a member in another process, perhaps of another machine; a str says what failed."""
    try:
        with ONE_AT_A_TIME:
            return _measure(_same_script(path, now), member)
    except ExperimentError as error:
        return str(error)
    except Exception:
        return f"{path.stem}: measure({member}) failed.\n{traceback.format_exc()}"


@cache
def _same_script(path: Path, now: str) -> ModuleType:
    """The script, if it measures here what it does in the process that asks."""
    script = load_script(path.stem, path.parent)
    if fingerprint_of(script) != now:
        raise ExperimentError(
            f"{path.stem}: a worker on {platform.node()} has other code or data than this process: "
            "bring both to the same state, and start the workers again."
        )
    return script


def _measure(script: ModuleType, member: dict) -> dict:
    """Measure a member on one thread: its row, with the processor time that it took."""
    with one_thread(), threadpool_limits(1):
        start = time.process_time()
        numbers = script.measure(**member)
        seconds = round(time.process_time() - start, 2)
    return {"member": member, "numbers": numbers, "seconds": seconds, "run": surroundings()}


@cache
def surroundings() -> dict:
    """The versions and the machine that this process measures with."""
    versions = {package: version(package) for package in ("torch", "numpy")}
    machine = {"processor": processor(), "cores": os.cpu_count(), "threads": 1}
    return {"versions": {"python": platform.python_version()} | versions, "machine": machine}


def processor() -> str:
    """The processor's model, where the system tells it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def commit() -> str | None:
    """The commit that this is; None if the code is not that of a commit."""
    try:
        changed = git("status", "--porcelain", "--", "utils", "experiments/*.py")
        return None if changed else git("rev-parse", "HEAD")
    except ExperimentError:
        return None


def git(*arguments: str) -> str:
    """What git says of this book."""
    try:
        return subprocess.run(
            ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        told = getattr(error, "stderr", "") or str(error)
        raise ExperimentError(f"git can't say ({' '.join(arguments)}): {told.strip()}") from error
