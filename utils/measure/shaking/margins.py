"""How near to its bounds a finding came, in runs that differ by the last bit of their weights."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean, stdev

ENOUGH = 3.0  # standard deviations of the runs between what is compared, on average


@dataclass(frozen=True)
class Comparison:
    """What one comparison of a finding compared, run by run: (left, right), or None."""

    finding: str
    written: str
    by: str
    sides: list[list[float] | None]

    def margins(self) -> list[float]:
        """By how much the comparison holds in each run; negative where it doesn't."""
        signs = {"L": -1, "G": 1}
        return [
            signs[self.by[0]] * (left - right)
            if self.by[0] in signs
            else abs(left - right) * (1 if self.by == "NotEq" else -1)
            for left, right in filter(None, self.sides)
        ]

    def unit(self) -> float:
        """The least step between two runs: one sentence of 500, where sentences are counted."""
        steps = [0.0]
        for side in zip(*filter(None, self.sides), strict=True):
            values = sorted(set(side))
            steps += [b - a for a, b in zip(values, values[1:], strict=False)]
        return min(filter(None, steps), default=0.0)

    def deviations(self) -> float:
        """The mean margin in standard deviations of the runs; infinite where nothing varies."""
        margins = self.margins()
        spread = stdev(margins) if len(margins) > 1 else 0.0
        return abs(fmean(margins)) / spread if spread > 0 else math.inf

    def has_room(self) -> bool:
        """Whether it lies three standard deviations and one counted unit away, on one side."""
        margins = self.margins()
        if not margins or self.unit() == 0:
            return True
        one_side = min(margins) > 0 or max(margins) < 0 or self.by == "LtE" and min(margins) >= 0
        enough = abs(fmean(margins)) >= self.unit() * (1 - 1e-9)
        return one_side and enough and self.deviations() >= ENOUGH


def comparisons(held: dict) -> Iterator[Comparison]:
    """Those of a page's stored result, finding by finding."""
    for finding, stored in held["findings"].items():
        for written, values in stored.items():
            if written != "held":
                yield Comparison(finding, written, values[0], values[1:])


def complaints(held: dict) -> list[str]:
    """A line for each finding that fell in a run, lies too near, or was told differently."""
    found = []
    for finding, stored in held["findings"].items():
        if not all(stored["held"]):
            found.append(f"holds in {sum(stored['held'])} of {len(stored['held'])}: {finding}")
    for seed, cells in held["fell"].items():
        found += [f"fell with BOOK_SHAKE={seed}: {cell}" for cell in cells]
    for each in comparisons(held):
        if not each.has_room():
            margins = each.margins()
            found.append(
                f"{each.deviations():.1f} sd from its bound (margin {fmean(margins):.3g}, least "
                f"{min(margins):.3g}, unit {each.unit():.3g}): {each.written}  [{each.finding}]"
            )
    return found
