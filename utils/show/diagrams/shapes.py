"""The shapes of which pictures of mechanisms are made; each gives back the Block it stands in."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Polygon, Rectangle, Wedge
from matplotlib.text import Text

from utils.show.diagrams.sheet import (
    DIM,
    LIGHT,
    SIDES,
    UNITS,
    Block,
    Point,
    fill_in,
    inside,
    measure,
    stroke,
    tinted,
    write,
)
from utils.show.plotting import INK, PAPER, WIDTH


def cells(
    ax: Axes,
    place: Point,
    contents,
    *,
    role: str | None = None,
    weights=None,
    size: Point = (1.05, 0.85),
    struck=False,
    hatched=False,
) -> Block:
    """Draw a matrix as cells, each with its number or text.

    Shapes: contents (rows, columns) of numbers or texts; weights, struck and hatched broadcast to
        it. weights: how strong each cell's colour is, in 0..1 (1, or 0 without a role). struck: a
        stroke through the cell. hatched: the cell does not count at all. size: of one cell.
    Raises: ValueError if contents are ragged, a weight or role is none, or a text does not fit.
    """
    rows = [list(row) for row in _plain(contents)]
    if not rows or not rows[0] or len({len(row) for row in rows}) > 1:
        raise ValueError(
            "Cells are rows of one length, at least one cell each; these rows have "
            f"{', '.join(str(len(row)) for row in rows) or 'none'}."
        )
    shape = len(rows), len(rows[0])
    weights = _spread(weights if weights is not None else float(role is not None), shape)
    struck, hatched = _spread(struck, shape), _spread(hatched, shape)
    block = inside(ax, Block(*place, shape[1] * size[0], shape[0] * size[1], *shape))
    for i, j in np.ndindex(shape):
        cell = block[i, j]
        fill = PAPER if hatched[i, j] else tinted(role, float(weights[i, j]))
        frame = Rectangle((cell.x, cell.y), *size, facecolor=fill, edgecolor=INK, linewidth=0.8)
        if hatched[i, j]:
            frame.set(hatch="////", hatchcolor=DIM)
        ax.add_patch(frame)
        if struck[i, j]:
            ends = [cell.x, cell.x + cell.width], [cell.y + cell.height, cell.y]
            ax.plot(*ends, color=DIM, linewidth=1.2, linestyle="-", marker="")
        fill_in(ax, cell, _number(rows[i][j]), fill)
    return block


def box(
    ax: Axes, place: Point, text: str, size: Point, *, role: str | None = None, weight: float = 1.0
) -> Block:
    """Draw a box with a text in it, in the colour of its role, or white.

    Raises: ValueError if the role or weight is none, or the text does not fit.
    """
    block = inside(ax, Block(*place, *size))
    fill = tinted(role, weight if role else 0.0)
    ax.add_patch(_rounded(block, 0.12, facecolor=fill, edgecolor=INK, linewidth=1.2))
    fill_in(ax, block, text, fill)
    return block


def words(
    ax: Axes, place: Point, sentence: str, *, gap: float = 0.2, role: str | None = None
) -> list[Block]:
    """Draw the words of a sentence in a row of boxes, each as wide as its word."""
    blocks = []
    x, y = place
    for word in sentence.split():
        width = measure(ax, write(ax, (0, 0), word), remove=True).width + 0.3
        blocks.append(box(ax, (x, y), word, (width, 0.85), role=role))
        x += width + gap
    return blocks


def stack(ax: Axes, foot: Point, texts: Sequence[str], size: Point, gap: float = 0.7) -> list:
    """Draw boxes one above the other, from the foot up, and the road through them."""
    x, y = foot
    blocks = []
    for text in texts:
        top = y - gap - size[1]
        arrow(ax, (x, y), (x, top + size[1]))
        blocks.append(box(ax, (x - size[0] / 2, top), text, size))
        y = top
    arrow(ax, (x, y), (x, y - gap))
    return blocks


def arrow(
    ax: Axes,
    start: Point,
    end: Point,
    *,
    text: str = "",
    role: str | None = None,
    weight: float = 0.0,
    bend: float = 0.0,
    dashed: bool = False,
) -> None:
    """Draw an arrow, the thicker the larger its weight in 0..1.

    text: stands beside its middle. bend: how far it swings out to its left (below 0: to its right),
        as a part of its length.
    Raises: ValueError if the role or weight is none, or the text leaves the sheet.
    """
    tinted(role, weight)  # refuses what is neither
    line = {"color": stroke(role), "linewidth": 1.4 + 7 * weight}
    line["linestyle"] = (0, (4, 2)) if dashed else "-"
    curve = {"connectionstyle": f"arc3,rad={-2 * bend}", "shrinkA": 1, "shrinkB": 1}
    head = {"arrowstyle": "-|>", "mutation_scale": 11 + 14 * weight, "capstyle": "butt"}
    ax.add_patch(FancyArrowPatch(start, end, zorder=1.5, **line, **curve, **head))
    if text:
        _beside(ax, start, end, bend, text, line["linewidth"])


def _beside(ax: Axes, start: Point, end: Point, bend: float, text: str, linewidth: float) -> None:
    """Write a text beside an arrow: where it swings out, else above or to the right."""
    along = np.subtract(end, start)
    aside = np.array([along[1], -along[0]])  # to the left of the arrow
    middle = np.add(start, end) / 2 + bend * aside
    aside = aside / np.hypot(*aside)
    if bend < 0 or (bend == 0 and (aside[1], -aside[0]) > (0, 0)):
        aside = -aside
    reach = measure(ax, write(ax, (0, 0), text), remove=True)
    half = abs(aside) @ [reach.width / 2, abs(reach.height) / 2]
    note(ax, middle + aside * (half + 0.12 + linewidth / 2 / (72 * WIDTH / UNITS)), text)


def note(ax: Axes, place: Point, text: str, *, align: str = "center", **font) -> Text:
    """Write a text on the sheet, its middle (or left or right end) at a place.

    font: weight, family or style, as matplotlib has them.
    Raises: ValueError if the text leaves the sheet.
    """
    written = write(ax, place, text, align, **font)
    reach = measure(ax, written)
    inside(ax, Block(reach.x0, min(reach.y0, reach.y1), reach.width, abs(reach.height)), text)
    return written


def label(ax: Axes, block: Block, side: str, *texts: str, **font) -> None:
    """Write texts outside a side of a block: one in its middle, or one for each row or column.

    Raises: ValueError if the side is unknown, or there are as many texts as neither.
    """
    upright = side in ("left", "right")
    cells_there = block.rows if upright else block.columns
    if len(texts) not in (1, cells_there):
        raise ValueError(
            f"A side of {cells_there} cells takes 1 or {cells_there} texts, got {len(texts)}."
        )
    ends = {"left": ("right", "center"), "right": ("left", "center"), "top": ("center", "bottom")}
    align, font["va"] = ends.get(side, ("center", "top"))
    for i, text in enumerate(texts):
        part = block
        if len(texts) > 1:
            part = block[i, :] if upright else block[:, i]
        note(ax, part.at(side, 0.18 if upright else 0.12), text, align=align, **font)


def brace(ax: Axes, block: Block, side: str, text: str) -> None:
    """Draw a bracket along a side of a block, with its size or name."""
    x, y = block.at(side, 0.15)
    across, down = SIDES[side]
    along = (block.height if across else block.width) / 2
    step = np.array([across, down]) * 0.18
    run = np.array([abs(down), abs(across)]) * along
    middle = np.array([x, y])
    points = [middle - run, middle - run + step, middle + run + step, middle + run]
    ax.add_patch(Polygon(points, closed=False, fill=False, edgecolor=INK, linewidth=1.2))
    moved = Block(block.x + 2 * step[0], block.y + 2 * step[1], block.width, block.height)
    label(ax, moved, side, text)


def light(ax: Axes, block: Block, margin: float = 0.08) -> None:
    """Set what is new in a picture in a thick frame, on a light ground."""
    size = block.width + 2 * margin, block.height + 2 * margin
    around = inside(ax, Block(block.x - margin, block.y - margin, *size))
    ax.add_patch(_rounded(around, 0.1, facecolor=LIGHT, edgecolor="none", zorder=0.5))
    ax.add_patch(_rounded(around, 0.1, fill=False, edgecolor=INK, linewidth=2.6, zorder=2))


def dial(ax: Axes, middle: Point, radius: float) -> Block:
    """Draw the face of a clock, for `hand` and `sector`."""
    block = inside(ax, Block(middle[0] - radius, middle[1] - radius, 2 * radius, 2 * radius))
    ax.add_patch(Circle(middle, radius, facecolor="white", edgecolor=INK, linewidth=1.2))
    return block


def hand(
    ax: Axes,
    face: Block,
    angle: float,
    *,
    text: str = "",
    role: str | None = None,
    dashed: bool = False,
) -> None:
    """Draw a clock's hand at an angle, in radians from twelve o'clock, clockwise.

    On a clock of radius 1 it points to (sin angle, cos angle). text: stands outside, where it
    points. Raises: ValueError if the role is unknown.
    """
    (x, y), radius = face.middle, face.width / 2
    way = np.array([math.sin(angle), -math.cos(angle)])
    end = 0.88 * radius * way
    form = {"linestyle": (0, (2, 1.2)) if dashed else "-", "linewidth": 1.4 if dashed else 3.2}
    ax.plot([x, x + end[0]], [y, y + end[1]], color=stroke(role), marker="", **form)
    ax.add_patch(Circle((x, y), 0.09, facecolor=INK, zorder=2.5))
    if text:
        note(ax, (x, y) + (radius + 0.35) * way, text, weight="bold")


def sector(ax: Axes, face: Block, start: float, end: float) -> None:
    """Shade on a clock what a hand passes that turns from one angle to another, clockwise."""
    ends = math.degrees(start) - 90, math.degrees(end) - 90
    form = {"facecolor": LIGHT, "edgecolor": DIM, "linewidth": 0.8}
    ax.add_patch(Wedge(face.middle, 0.78 * face.width / 2, *ends, **form))


def _plain(values):
    """Return a tensor or an array as nested lists."""
    return values.tolist() if isinstance(values, torch.Tensor | np.ndarray) else values


def _spread(values, shape: tuple[int, int]) -> np.ndarray:
    """Return values for each cell. Raises: ValueError if they don't fit the cells."""
    try:
        return np.broadcast_to(np.asarray(_plain(values)), shape)
    except ValueError:
        raise ValueError(
            f"Weights, strokes and hatching are one value or one for each of {shape[0]} × "
            f"{shape[1]} cells; these do not fit."
        ) from None


def _number(content) -> str:
    """Return what stands in a cell: a text as it is, a number with at most two decimals."""
    if isinstance(content, str):
        return content
    return f"{round(content, 2):g}"


def _rounded(block: Block, corner: float, **look) -> FancyBboxPatch:
    """Return a block with round corners."""
    form = f"round,pad=0,rounding_size={corner}"
    return FancyBboxPatch((block.x, block.y), block.width, block.height, boxstyle=form, **look)
