"""What is written in a picture, and where: the tests of the pictures of mechanisms ask it."""

import math

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch
from torch import Tensor, as_tensor


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def numbers(ax: Axes) -> list[float]:
    """The numbers in the cells, in the order in which they were drawn."""
    return [float(text) for text in texts(ax) if text.replace(".", "").replace("-", "").isdigit()]


def places(ax: Axes, text: str) -> list[tuple[float, float]]:
    """Where a text is written, in units of the sheet; y runs down."""
    return [written.get_position() for written in ax.texts if written.get_text() == text]


def arrows(ax: Axes) -> list[FancyArrowPatch]:
    return [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]


def leads(
    ax: Axes, start: tuple[float, float], end: tuple[float, float], within: float = 1.0
) -> bool:
    """Whether an arrow begins near one place and ends near another (units of the sheet)."""
    ends = [arrow._posA_posB for arrow in arrows(ax)]
    return any(math.dist(a, start) < within and math.dist(b, end) < within for a, b in ends)


def near(drawn: list[float], *blocks: Tensor | list[float], off: float = 0.0051) -> bool:
    """Whether these are the blocks' numbers, row by row, to two decimals."""
    expected = [number for block in blocks for number in as_tensor(block).flatten().tolist()]
    return len(drawn) == len(expected) and all(
        abs(one - other) < off for one, other in zip(drawn, expected, strict=True)
    )
