"""Which exercises a reader has passed, by name, and the chapter's checklist."""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from filelock import FileLock

from utils.exercises.numbers import titled

PATIENCE = 10  # seconds that a tick waits for other notebooks to store theirs
EDITION = 4  # of the stored ticks: names; in the third they were the numbers of version 0.8.0
FORMER: dict[str, str] = json.loads(  # {number: name} of the exercises of version 0.8.0
    Path(__file__).with_name("numbers_of_0.8.0.json").read_text(encoding="utf-8")
)


class Progress:
    """Which exercises a reader has passed, kept in the file that BOOK_PROGRESS names, if any."""

    def __init__(self) -> None:
        self.session: set[str] = set()

    def passed(self) -> set[str]:
        """Return the names passed in this session or stored before it."""
        try:
            return self.session | _stored()
        except (OSError, ValueError) as error:
            print(f"Your progress can't be read ({error}): ticks count for this session only.")
            return set(self.session)

    def add(self, name: str) -> None:
        """Tick an exercise; notebooks that do so at once write in turn, and a damaged file is left.

        The file is written beside and then renamed, under a lock in the folder (a hidden file).
        """
        self.session.add(name)
        try:
            file = _file()
            if not file or self.session <= _stored():
                return
            if not file.parent.is_dir():  # the lock would make one
                raise FileNotFoundError(f"there is no folder {file.parent}")
            with FileLock(file.with_name(f".{file.name}.lock"), timeout=PATIENCE):
                _store(_stored() | self.session)
        except (OSError, ValueError) as error:
            print(f"Your progress can't be stored ({error}): ticks count for this session only.")


def _file() -> Path | None:
    name = os.environ.get("BOOK_PROGRESS")
    return Path(name) if name else None


def _stored() -> set[str]:
    file = _file()
    if not file or not file.exists():
        return set()
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        passed, edition = stored["passed"], int(stored.get("edition", 1))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        passed = edition = None
    if not isinstance(passed, list):
        raise ValueError(f"{file} is damaged: delete it to start a new one")
    if edition > EDITION:
        raise ValueError(f"{file} is from a newer version of the book, and is left as it is")
    if edition < 3:
        raise ValueError(f"{file} is from before version 0.8.0: delete it to start a new one")
    return {FORMER.get(id, id) for id in map(str, passed)}


def _store(passed: set[str]) -> None:
    file = _file()
    beside = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        stored = {"edition": EDITION, "passed": sorted(passed)}
        beside.write_text(json.dumps(stored, indent=1), encoding="utf-8")
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)


progress = Progress()


def carry_over(former: Path) -> None:
    """Add the ticks of a former file to those in the file that BOOK_PROGRESS names, and remove it.

    Raises: ValueError or OSError if one of them can't be read or written; both are then left.
    """
    file = _file()
    with ExitStack() as held:
        for each in (former, file):  # notebooks that are open may still tick there
            held.enter_context(FileLock(each.with_name(f".{each.name}.lock"), timeout=PATIENCE))
        os.environ["BOOK_PROGRESS"] = str(former)
        try:
            passed = _stored()
        finally:
            os.environ["BOOK_PROGRESS"] = str(file)
        _store(_stored() | passed)
        former.unlink(missing_ok=True)


def checklist(points: Mapping[str, Sequence[str]]) -> None:
    """Print a chapter's points, ticked where all their exercises are passed.

    points: with the names of the exercises, or their numbers in version 0.8.0.
    """
    passed = progress.passed()
    for point, given in points.items():
        names = [FORMER.get(name, name) for name in given]
        print("☑" if set(names) <= passed else "☐", point)
        print("  ", ", ".join(map(titled, names)))
