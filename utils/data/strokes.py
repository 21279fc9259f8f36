"""Digits drawn by strokes, and how strokes become a picture like those of the digits' data."""

import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from utils import ROOT

SIDE, WIDTH = 32, 20  # pixels of the bitmap, and of the box in it that a digit fills
INK = 313  # pixels with ink: as many as in the data, on average (30.6 % of all)
PENS = [1 + i / 4 for i in range(21)]  # radius in pixels
WIDER = 2  # how many times more a drawing may be stretched in width than in height
RASTER = {"side": SIDE, "width": WIDTH, "ink": INK, "pens": PENS, "wider": WIDER}

Strokes = Sequence[Sequence[tuple[float, float]]]


class Drawing(NamedTuple):
    """Strokes, each a list of points (x, y) in a square of 100 by 100, y down, and their digit."""

    digit: int
    strokes: Strokes


def drawn_digits() -> list[Drawing]:
    """Load thirty digits that were drawn for this book, three of each, digit by digit."""
    rows = json.loads((ROOT / "data" / "drawn_digits.json").read_text(encoding="utf-8"))
    return [Drawing(row["digit"], row["strokes"]) for row in rows]


def rasterise(strokes: Strokes) -> Tensor:
    """Make a picture of strokes as the digits' data were made (Garris et al., 1994, section 4).

    The inked box is stretched to 20 × 32 pixels in the middle of a bitmap of 32 × 32, with the
    first pen that inks as much of it as is inked in the data; then ink is counted in blocks of 4
    by 4.

    Shapes: returns (1, 8, 8), float32 in 0..1.
    Raises: ValueError if there is no point, or one is not finite.
    """
    points = np.array([point for stroke in strokes for point in stroke], dtype=np.float64)
    if not len(points) or not np.isfinite(points).all():
        raise ValueError("A drawing needs at least one point, and points are finite numbers.")
    low, high = points.min(axis=0), points.max(axis=0)
    size, middle = np.maximum(high - low, 1e-6), (low + high) / 2
    for pen in PENS:
        tall = (SIDE - 2 * pen) / size[1]
        wide = (WIDTH - 2 * pen) / size[0]
        scale = np.array([min(wide, WIDER * tall), min(tall, WIDER * wide)])
        bitmap = np.zeros((SIDE, SIDE), dtype=bool)
        for stroke in strokes:
            bitmap |= _inked((np.array(stroke) - middle) * scale + SIDE / 2, pen)
        if bitmap.sum() >= INK:
            break
    blocks = bitmap.reshape(8, 4, 8, 4).sum(axis=(1, 3)) / 16
    return torch.tensor(blocks, dtype=torch.float32)[None]


def _inked(stroke: np.ndarray, pen: float) -> np.ndarray:
    """The pixels (SIDE, SIDE) whose middle is at most `pen` away from a stroke (n, 2)."""
    x, y = np.meshgrid(np.arange(SIDE) + 0.5, np.arange(SIDE) + 0.5)
    inked = np.zeros((SIDE, SIDE), dtype=bool)
    for (x0, y0), (x1, y1) in zip(stroke, [*stroke[1:], stroke[-1]], strict=True):
        along, down = x1 - x0, y1 - y0
        length = along * along + down * down
        t = ((x - x0) * along + (y - y0) * down) / length if length else 0 * x
        t = np.minimum(np.maximum(t, 0), 1)
        across, below = x - (x0 + t * along), y - (y0 + t * down)
        inked |= across * across + below * below <= pen * pen
    return inked
