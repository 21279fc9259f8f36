"""Which exercises a reader has passed, and the chapter's checklist."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path


class Progress:
    """Which exercises a reader has passed, kept in the file that BOOK_PROGRESS names, if any."""

    def __init__(self) -> None:
        self.session: set[str] = set()

    def passed(self) -> set[str]:
        """Return the ids passed in this session or stored before it."""
        file = os.environ.get("BOOK_PROGRESS")
        if not file or not Path(file).exists():
            return self.session
        try:
            stored = json.loads(Path(file).read_text())
            return self.session | {str(id) for id in stored["passed"]}
        except (OSError, ValueError, KeyError, TypeError):
            print(f"Your progress in {file} cannot be read; ticks count for this session only.")
            return self.session

    def add(self, id: str) -> None:
        """Tick an exercise; the file is written beside and then renamed."""
        before = self.passed()
        self.session = self.session | {id}
        file = os.environ.get("BOOK_PROGRESS")
        if not file or id in before:
            return
        try:
            if Path(file).exists():
                json.loads(Path(file).read_text())["passed"]  # a damaged file is left as it is
            beside = Path(f"{file}.{os.getpid()}")
            beside.write_text(json.dumps({"passed": sorted(before | {id})}, indent=1))
            beside.replace(file)
        except (OSError, ValueError, KeyError, TypeError) as error:
            print(f"Your progress could not be stored ({error}); the tick counts for this session.")


progress = Progress()


def checklist(points: Mapping[str, Sequence[str]]) -> None:
    """Print a chapter's points, ticked where all their exercises are passed."""
    passed = progress.passed()
    for point, ids in points.items():
        sign = "☑" if set(ids) <= passed else "☐"
        print(f"{sign} {point} (exercise{'s' if len(ids) > 1 else ''} {', '.join(ids)})")
