"""The shapes of which pictures of mechanisms are made.

What is drawn gives back its Block, from which arrows, labels and braces start.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Polygon, Rectangle
from matplotlib.text import Text
from torch import Tensor

from utils.show.diagrams.sheet import (
    DIM,
    LIGHT,
    SIDES,
    SIZE,
    TIGHT,
    UNITS,
    Block,
    Point,
    fill_in,
    fits,
    inside,
    measure,
    stroke,
    tinted,
    write,
)
from utils.show.plotting import GREY, INK, PAPER, WIDTH


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
    Raises: ValueError if contents are ragged, the role is unknown, a weight is not in 0..1, or a
        text or the block does not fit.
    """
    rows = _plain(contents)
    lengths = [len(row) if isinstance(row, Sequence) else 0 for row in rows]
    if not lengths or not lengths[0] or len(set(lengths)) > 1:
        raise ValueError(
            "Cells are rows of one length, each a list of at least one number or text; these rows "
            f"have the lengths {lengths}."
        )
    shape = len(rows), lengths[0]
    weights = _spread(weights if weights is not None else float(role is not None), shape)
    struck, hatched = _spread(struck, shape), _spread(hatched, shape)
    block = inside(ax, Block(*place, shape[1] * size[0], shape[0] * size[1], *shape))
    written = []
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
        written.append(fill_in(ax, cell, _number(rows[i][j]), fill))
    _level(written)
    return block


def box(ax: Axes, place: Point, text: str, size: Point, *, role: str | None = None) -> Block:
    """Draw a box with a text in it, in the colour of its role, or white.

    Raises: ValueError if the role is unknown, or the text does not fit.
    """
    block = inside(ax, Block(*place, *size))
    fill = tinted(role, float(role is not None))
    ax.add_patch(_rounded(block, 0.12, facecolor=fill, edgecolor=INK, linewidth=1.2))
    fill_in(ax, block, text, fill)
    return block


def bar(
    ax: Axes, place: Point, size: Point, *, role: str | None = None, weight: float | None = None
) -> Block:
    """Draw a bar of a chart, in the colour of its role, or white; its length may be 0.

    weight: how strong the colour is, in 0..1 (1, or 0 without a role).
    Raises: ValueError if the role is unknown, the weight is not in 0..1, or the bar does not fit.
    """
    block = inside(ax, Block(*place, *size))
    fill = tinted(role, float(role is not None) if weight is None else weight)
    ax.add_patch(Rectangle(place, *size, facecolor=fill, edgecolor=INK, linewidth=1.2))
    return block


def picture(ax: Axes, place: Point, image: Tensor, side: float, *, framed: bool = True) -> Block:
    """Draw a picture of pixels, `side` units wide.

    Shapes: image (H, W), or (3, H, W) in colour, of numbers in 0..1.
    framed: with a thin line around it.
    Raises: ValueError if the image has another shape, or leaves the sheet.
    """
    pixels = torch.as_tensor(image)
    if pixels.ndim not in (2, 3) or pixels.ndim == 3 and len(pixels) != 3:
        raise ValueError(f"A picture is (H, W) or (3, H, W); this has shape {tuple(pixels.shape)}.")
    H, W = pixels.shape[-2:]
    block = inside(ax, Block(*place, side, side * H / W, H, W))
    reach = (block.x, block.x + block.width, block.y + block.height, block.y)
    shown = pixels.permute(1, 2, 0) if pixels.ndim == 3 else pixels
    ax.imshow(shown.numpy(), cmap=GREY, vmin=0, vmax=1, extent=reach, zorder=0.9)
    if framed:
        frame = {"fill": False, "edgecolor": DIM, "linewidth": 0.8}
        ax.add_patch(Rectangle((block.x, block.y), block.width, block.height, **frame))
    return block


def words(ax: Axes, place: Point, sentence: str, *, gap: float) -> list[Block]:
    """Draw the words of a sentence in a row of boxes, each as wide as its word.

    Raises: ValueError if they leave the sheet.
    """
    blocks, before = [], len(ax.texts)
    x, y = place
    for size in (SIZE, TIGHT):
        samples = [write(ax, (0, 0), word, fontsize=size) for word in sentence.split()]
        widths = [measure(ax, sample, remove=True).width + 0.3 for sample in samples]
        if x + sum(widths) + gap * (len(widths) - 1) <= ax.get_xlim()[1]:
            break
    for word, width in zip(sentence.split(), widths, strict=True):
        blocks.append(box(ax, (x, y), word, (width, 0.85)))
        x += width + gap
    for text in ax.texts[before:]:
        text.set_fontsize(size)
    return blocks


def stack(ax: Axes, foot: Point, texts: Sequence[str], size: Point) -> list[Block]:
    """Draw boxes one above the other, from the foot up, and the road through them.

    foot: where the road begins. size: of each box.
    Raises: ValueError if the boxes leave the sheet, or a text its box.
    """
    (x, y), gap = foot, 0.7  # from box to box
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
    Raises: ValueError if the role is unknown, the weight is not in 0..1, or the arrow or its text
        leaves the sheet.
    """
    tinted(role, weight)  # refuses what is neither
    across, down = end[0] - start[0], end[1] - start[1]
    middle = (start[0] + end[0]) / 2 + bend * down, (start[1] + end[1]) / 2 - bend * across
    for x, y in (start, middle, end):
        inside(ax, Block(x, y, 0, 0), "an arrow")
    line = {"color": stroke(role), "linewidth": 1.4 + 7 * weight}
    line["linestyle"] = (0, (4, 2)) if dashed else "-"
    curve = {"connectionstyle": f"arc3,rad={-2 * bend}", "shrinkA": 1, "shrinkB": 1}
    head = {"arrowstyle": "-|>", "mutation_scale": 11 + 14 * weight, "capstyle": "butt"}
    ax.add_patch(FancyArrowPatch(start, end, zorder=1.5, **line, **curve, **head))
    if text:
        aside = np.array([down, -across]) / math.hypot(across, down)  # to its left
        if bend < 0 or (bend == 0 and (across < 0 or (across == 0 and down < 0))):
            aside = -aside
        reach = measure(ax, write(ax, (0, 0), text), remove=True)
        half = abs(aside) @ [reach.width / 2, abs(reach.height) / 2]
        half += 0.12 + line["linewidth"] / 2 / (72 * WIDTH / UNITS)
        note(ax, tuple(middle + aside * half), text)


def note(ax: Axes, place: Point, text: str, *, align: str = "center", **font) -> Text:
    """Write a text on the sheet, its middle (or left or right end) at a place.

    font: weight, family or style, as matplotlib has them.
    Raises: ValueError if the text leaves the sheet.
    """
    written = write(ax, place, text, align, **font)
    for size in (SIZE, TIGHT):
        written.set_fontsize(size)
        reach = measure(ax, written)
        taken = Block(reach.x0, min(reach.y0, reach.y1), reach.width, abs(reach.height))
        if fits(ax, taken):
            break
    inside(ax, taken, f"the text {text!r}")
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
    """Draw a bracket along a side of a block, with its size or name.

    Raises: ValueError if the side is unknown, or the text leaves the sheet.
    """
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


def _level(texts: Sequence[Text | None]) -> None:
    """Give texts that stand together one size, that of the smallest."""
    there = [text for text in texts if text]
    for text in there:
        text.set_fontsize(min(each.get_fontsize() for each in there))


def _plain(values):
    """Return a tensor or an array, or a list of such rows, as nested lists."""
    if isinstance(values, torch.Tensor | np.ndarray):
        return values.tolist()
    return [_plain(row) for row in values] if isinstance(values, list | tuple) else values


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
