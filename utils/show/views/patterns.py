"""Day 7: which pairs a pattern computes, and what that costs."""

from collections.abc import Mapping
from itertools import product

from torch import Tensor
from torch.nn import functional as F

from utils.show.views.frame import listed, paragraph, view

CELLS = 64  # of a picture's side; a cell of a longer text holds several positions


def patterns(measured: Mapping[tuple[str, int, int], tuple[Tensor, int, int]]) -> None:
    """Let the reader choose a pattern, its window and a length: pairs, operations, bytes.

    measured: {(pattern, window, T): (mask, work, bytes)}, with a mask (T, T), True where a pair is
        computed. The first pattern is what the others are compared with.
    Raises: ValueError if a combination is missing, or a mask is not (T, T).
    """
    if not measured:
        raise ValueError("There is no pattern to show: give at least one.")
    names, windows, lengths = (list(dict.fromkeys(part)) for part in zip(*measured, strict=True))
    if missing := set(product(names, windows, lengths)) - set(measured):
        raise ValueError(f"Not measured: {', '.join(map(str, sorted(missing)))}.")
    rows = []
    for name, window, T in product(names, windows, lengths):
        mask, work, held = measured[name, window, T]
        if tuple(mask.shape) != (T, T):
            raise ValueError(f"A mask for {T} positions is ({T}, {T}), got {tuple(mask.shape)}.")
        row = {"pairs": int(mask.sum()), "work": int(work), "bytes": int(held)}
        rows.append(row | {"cells": _coarse(mask)})
    data = {"names": names, "windows": windows, "lengths": lengths, "rows": rows}
    still = paragraph(
        "Which pairs are computed, and what they cost: an interactive picture, which needs "
        "JavaScript. In JupyterLab, run the cell to open it. At the greatest length:"
    ) + listed(
        [
            f"{name}: {int(measured[name, windows[0], lengths[-1]][0].sum()):,} pairs"
            for name in names
        ]
    )
    says = (
        f"View: pairs, operations and bytes of {', '.join(names)}; windows of "
        f"{', '.join(map(str, windows))}, {', '.join(map(str, lengths))} positions."
    )
    view("patterns", data, says=says, still=still)


def _coarse(mask: Tensor) -> list[str]:
    """Rows of digits, a cell for each position or for several neighbours: 0 none, 9 all seen."""
    step = max(1, len(mask) // CELLS)
    shares = F.avg_pool2d(mask.double()[None], step, ceil_mode=True)[0]
    return ["".join(map(str, row)) for row in (9 * shares).ceil().int().tolist()]
