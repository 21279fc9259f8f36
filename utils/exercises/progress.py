"""Which exercises a reader has passed, and the chapter's checklist."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from filelock import FileLock

PATIENCE = 10  # seconds that a tick waits for other notebooks to store theirs
EDITION = 3  # of the numbers of exercises
IN_THE_THIRD = ("1.", "4.", "7.")  # the days that the third numbers anew; the second the others
MOVED = {  # what exercises of earlier editions are called now; None if they ask for something else
    **{"0.1": "0.3", "0.3": "0.5", "0.5": "0.6"},
    **{"1.1": "1.5", "1.2": "1.6", "1.3": "1.7", "1.4": "1.10", "1.5": "1.11", "1.6": "1.12"},
    **{"1.7": "1.8", "1.8": "1.13", "1.9": "1.14", "1.10": "1.15", "1.11": "1.9"},
    **{"2.1": "2.5", "2.2": "2.6", "2.3": "2.10", "2.4": "2.7", "2.5": "2.11", "2.6": "2.8"},
    **{"2.7": "2.12", "2.8": None, "2.10": "2.4", "2.11": "2.13", "2.12": "2.14"},
    **{"2.13": "2.15", "2.14": "2.16"},
    **{"3.1": "3.5", "3.2": "3.11", "3.3": "3.6", "3.4": "3.12", "3.5": "3.7", "3.6": "3.13"},
    **{"3.7": "3.8", "3.8": "3.9", "3.9": "3.3", "3.10": "3.14", "3.11": "3.15", "3.12": "3.10"},
    **{"3.13": "3.16", "3.14": "3.17"},
    **{"4.1": "4.5", "4.2": "4.6", "4.3": "4.11", "4.4": "4.12", "4.5": "4.13", "4.6": "4.14"},
    **{"4.8": "4.18", "4.9": "4.10", "4.10": "4.15", "4.11": "4.16", "4.12": "4.9"},
    **{"4.13": "4.17", "4.14": "4.19", "4.15": "4.8"},
    **{"5.1": None, "5.2": "5.6", "5.3": "5.10", "5.4": "5.7", "5.5": "5.14", "5.6": "5.15"},
    **{"5.7": "5.13", "5.8": "5.11", "5.10": "5.16", "5.11": "5.17", "5.12": "5.18"},
    **{"5.13": "5.19", "5.14": "5.8", "5.15": "5.12"},
    **{"6.1": "6.4", "6.2": "6.5", "6.3": "6.9", "6.4": "6.10", "6.5": "6.7", "6.6": "6.11"},
    **{"6.7": "6.6", "6.8": "6.12", "6.9": "6.13", "6.10": "6.14", "6.11": "6.8"},
    **{"6.12": "6.15", "6.13": "6.16", "6.14": "6.17", "6.15": "6.18"},
    **{"7.1": "7.5", "7.2": "7.6", "7.3": "7.7", "7.4": "7.8", "7.5": "7.11", "7.6": "7.12"},
    **{
        "7.7": "7.13",
        "7.8": "7.14",
        "7.11": "7.15",
        "7.12": "7.16",
        "7.13": "7.17",
        "7.14": "7.18",
    },
}


class Progress:
    """Which exercises a reader has passed, kept in the file that BOOK_PROGRESS names, if any."""

    def __init__(self) -> None:
        self.session: set[str] = set()

    def passed(self) -> set[str]:
        """Return the ids passed in this session or stored before it."""
        try:
            return self.session | _stored()
        except (OSError, ValueError) as error:
            print(f"Your progress cannot be read ({error}): ticks count for this session only.")
            return set(self.session)

    def add(self, id: str) -> None:
        """Tick an exercise; notebooks that do so at once write in turn, and a damaged file is left.

        The file is written beside and then renamed, under a lock in the folder (a hidden file).
        """
        self.session.add(id)
        try:
            file = _file()
            if not file or self.session <= _stored():
                return
            if not file.parent.is_dir():  # the lock would make one
                raise FileNotFoundError(f"there is no folder {file.parent}")
            with FileLock(file.with_name(f".{file.name}.lock"), timeout=PATIENCE):
                _store(_stored() | self.session)
        except (OSError, ValueError) as error:
            print(f"Your progress cannot be stored ({error}): ticks count for this session only.")


def _file() -> Path | None:
    name = os.environ.get("BOOK_PROGRESS")
    return Path(name) if name else None


def _stored() -> set[str]:
    file = _file()
    if not file or not file.exists():
        return set()
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        passed, edition = stored["passed"], stored.get("edition", 1)
    except (ValueError, KeyError, TypeError, AttributeError):
        passed = edition = None
    if not isinstance(passed, list):
        raise ValueError(f"{file} is damaged: delete it to begin a new one")
    present = [
        MOVED.get(id, id) if edition == 1 or edition == 2 and id.startswith(IN_THE_THIRD) else id
        for id in map(str, passed)
    ]
    return {id for id in present if id is not None}


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


def checklist(points: Mapping[str, Sequence[str]]) -> None:
    """Print a chapter's points, ticked where all their exercises are passed."""
    passed = progress.passed()
    for point, ids in points.items():
        sign = "☑" if set(ids) <= passed else "☐"
        print(f"{sign} {point} (exercise{'s' if len(ids) > 1 else ''} {', '.join(ids)})")
