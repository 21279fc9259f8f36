"""Day 7: one text, written twice before your eyes, without a cache and with one."""

import math
from collections.abc import Mapping, Sequence

from utils.show.views.frame import listed, paragraph, view

WAYS = ("without a cache", "with a cache")


def race(runs: Mapping[str, tuple[str, Sequence[float], Sequence[float]]]) -> None:
    """Replay how a text was written, each character when it came.

    runs: {beginning: (the characters that follow, and for each the seconds that it took without a
        cache, and with one)}.
    Raises: ValueError if there is no run, or a character has not its seconds.
    """
    if not runs:
        raise ValueError("There is nothing to replay: give at least one beginning.")
    shown = []
    for start, (text, *ways) in runs.items():
        for way, seconds in zip(WAYS, ways, strict=True):
            if not text or len(seconds) != len(text):
                raise ValueError(
                    f"{start!r}, {way}: {len(text)} characters need as many times, at least one, "
                    f"got {len(seconds)}."
                )
            if not all(math.isfinite(s) and s >= 0 for s in seconds):
                raise ValueError(f"{start!r}, {way}: seconds are finite, and not below 0.")
        passed = [_milliseconds(seconds) for seconds in ways]
        shown.append({"start": start, "text": text, "passed": passed})
    still = paragraph(
        "The same text, written without a cache and with one: an interactive picture, which needs "
        "JavaScript. In JupyterLab, run the cell to open it. What was written:"
    ) + listed([run["start"] + run["text"] for run in shown])
    says = "\n".join(["View: one text, written without a cache and with one.", *runs])
    view("race", {"ways": list(WAYS), "runs": shown}, says=says, still=still, parts=["lanes"])


def _milliseconds(seconds: Sequence[float]) -> list[int]:
    """When each character was there, counted from the start."""
    passed, found = 0.0, []
    for one in seconds:
        passed += one
        found.append(round(1000 * passed))
    return found
