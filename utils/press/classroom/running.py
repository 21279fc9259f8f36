"""A hand-in runs in a process of its own, which is watched from here and ended when it is time."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Thread

import psutil

from utils import ROOT

LONGEST, MOST = 1 << 20, 10_000  # bytes in a line, and lines, that are read from a hand-in
KEPT = ("PATH", "SYSTEMROOT", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "VIRTUAL_ENV")  # of the settings
SETTINGS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
SETTINGS |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "PYTHONUTF8": "1"}
SETTINGS |= {"MPLBACKEND": "agg", "TQDM_DISABLE": "1", "PYTHONPATH": str(ROOT)}
FOLDERS = ("HOME", "TMPDIR", "MPLCONFIGDIR", "TORCHINDUCTOR_CACHE_DIR")
FOLDERS += ("USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP")  # on Windows


@dataclass(frozen=True)
class Limits:
    """Seconds by the clock, until the first cell, for a cell and for all; bytes; cells given up."""

    start: float = 120
    cell: float = 30
    whole: float = 300
    memory: int = 2 << 30
    given_up: int = 8


@dataclass
class Run:
    """What came of a hand-in.

    lines: {exercise: what its process reported}, nothing of it verified. stopped: {exercise: why
    there is no report}. unreadable: why there is nothing at all, or "". contained: what was.
    """

    lines: dict[str, dict] = field(default_factory=dict)
    stopped: dict[str, str] = field(default_factory=dict)
    unreadable: str = ""
    contained: list[str] = field(default_factory=list)


def run(notebook: bytes, limits: Limits) -> Run:
    """Run a hand-in; where a cell hangs or ends the process, once more without that cell."""
    found, left_out = Run(), []
    end = time.monotonic() + limits.whole
    while True:
        names, at, why = _attempt(notebook, left_out, limits, end, found)
        late = time.monotonic() >= end or len(left_out) == limits.given_up
        if why and at is None:
            found.unreadable = found.unreadable or why
        elif why:
            found.stopped |= dict.fromkeys(names, why)
            left_out.append(at)
        if not why or at is None or late:
            return found


def _attempt(
    notebook: bytes, left_out: list[int], limits: Limits, end: float, found: Run
) -> tuple[list[str], int | None, str]:
    """Start a process and listen; return where it was at its end, and why it didn't go on."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        copy = Path(folder, "hand-in")
        copy.write_bytes(notebook)
        names, at, due = [], None, min(end, time.monotonic() + limits.start)
        with copy.open("rb") as given:
            process = _start(folder, given, left_out, limits)
        try:
            for line in _listen(process, limits):
                if line is not None:
                    if "contained" in line and at is None:
                        found.contained = line["contained"]
                    elif isinstance(number := line.get("at"), int):
                        names, at = _texts(line.get("names")), number
                        due = min(end, time.monotonic() + limits.cell)
                    elif isinstance(name := line.get("name"), str):
                        found.lines[name] = line
                    elif "unreadable" in line:
                        return [], None, str(line["unreadable"])
                    elif "ended" in line:
                        return [], at, ""
                if time.monotonic() >= due:
                    return names, at, "it ran too long"
                with suppress(psutil.Error):  # where the kernel doesn't limit it
                    if psutil.Process(process.pid).memory_info().rss > 2 * limits.memory:
                        return names, at, "it took too much memory"
            return names, at, "its process ended early"
        finally:
            _end(process)


def _texts(given: object) -> list[str]:
    return [each for each in given if isinstance(each, str)] if isinstance(given, list) else []


def _start(folder: str, given, left_out: list[int], limits: Limits) -> subprocess.Popen:
    inside = [sys.executable, "-m", "utils.press.classroom.inside", str(limits.memory)]
    own = {name: os.environ[name] for name in KEPT if name in os.environ}
    own |= SETTINGS | dict.fromkeys(FOLDERS, folder)
    return subprocess.Popen(
        [*inside, *map(str, left_out)],
        cwd=folder,
        env=own,
        stdin=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _listen(process: subprocess.Popen, limits: Limits) -> Iterator[dict | None]:
    """What a process says, line by line, and None whenever it has said nothing for a while."""
    said: Queue[bytes | None] = Queue(maxsize=16)

    def read() -> None:
        with suppress(Full):  # nobody listens any more
            for line in iter(lambda: process.stdout.readline(LONGEST), b""):
                said.put(line, timeout=60)
            said.put(None, timeout=60)

    Thread(target=read, daemon=True).start()
    for _ in range(MOST):
        try:
            line = said.get(timeout=0.1)
        except Empty:
            yield None
            continue
        if line is None:
            return
        with suppress(ValueError, RecursionError):
            if isinstance(facts := json.loads(line), dict):
                yield facts


def _end(process: subprocess.Popen) -> None:
    """End a process and all that it started, as far as they can be found."""
    with suppress(psutil.Error):
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.Error):
                child.kill()
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(process.pid, 9)
    process.kill()
    process.wait()
