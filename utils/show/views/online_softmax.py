"""Day 7: an online softmax, one tile at a time."""

import math
from collections.abc import Sequence

from utils.show.views.frame import listed, paragraph, view


def online_softmax(scores: Sequence[float], values: Sequence[float], size: int) -> None:
    """Let the reader step through tiles, forward and back, and see maximum, sum and values move.

    scores, values: n finite numbers each, of one query. size: of a tile.
    Raises: ValueError if there is no score, the two differ in length, a number is not finite, or
        the size is below 1.
    """
    numbers = [*scores, *values]
    if not scores or len(scores) != len(values) or not all(map(math.isfinite, numbers)):
        raise ValueError(
            f"Each score needs its value, both finite: got {len(scores)} scores and "
            f"{len(values)} values."
        )
    if size < 1:
        raise ValueError(f"A tile holds at least one score, got {size}.")
    data = {"scores": list(scores), "values": list(values), "size": size}
    written = [f"{name} {', '.join(f'{x:g}' for x in row)}" for name, row in _named(scores, values)]
    still = paragraph(
        "An online softmax, tile by tile: an interactive picture, which needs JavaScript. In "
        "JupyterLab, run the cell to open it. It takes in:"
    ) + listed(written)
    says = "\n".join([f"View: an online softmax in tiles of {size}.", *written])
    view("online_softmax", data, says=says, still=still)


def _named(scores: Sequence[float], values: Sequence[float]) -> list[tuple[str, Sequence[float]]]:
    return [("scores", scores), ("values", values)]
