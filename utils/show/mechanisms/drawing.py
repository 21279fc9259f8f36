"""Day 13's pictures: codes, the way back around them, one row, pictures on the way, guidance."""

import itertools
import math
from collections.abc import Mapping, Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from utils.show.diagrams import (
    Block,
    arrow,
    bar,
    box,
    brace,
    cells,
    label,
    light,
    note,
    picture,
    sheet,
    tinted,
)
from utils.show.diagrams.sheet import DIM, stroke
from utils.show.plotting import INK

THIN = {"linewidth": 1.4, "linestyle": "-", "marker": ""}

# A picture in codes -------------------------------------------------------------------------------


def three_parts(image: Tensor, codes: Tensor, drawn: Tensor) -> Axes:
    """Draw a picture, the codes that the encoder writes, and what the decoder draws from them.

    The most frequent code, which is mostly the background's, is left white.
    Shapes: image and drawn (3, H, W), codes (n,) of a square grid, row by row.
    """
    ax = sheet(6.6)
    side = math.isqrt(len(codes))
    grid = codes.view(side, side)
    tint = 0.6 * (grid != codes.mode().values)
    size = (5.1 / side, 5.1 / side)
    texts = [[str(code) for code in line] for line in grid.tolist()]
    middle = cells(ax, (5.45, 0.4), texts, role="key", weights=tint, size=size)
    label(ax, middle, "bottom", f"{len(codes)} codes", weight="bold")
    for x, shown, name, role in (
        (0.4, image, "encoder", "query"),
        (12.0, drawn, "decoder", "value"),
    ):
        above = picture(ax, (x, 0.4), shown, 3.6)
        below = box(ax, (x + 0.5, 5.0), name, (2.6, 1.0), role=role)
        y = below.middle[1]
        if role == "query":
            arrow(ax, above.at("bottom"), below.at("top"))
            arrow(ax, below.at("right"), (middle.x, y))
        else:
            arrow(ax, (middle.x + middle.width, y), below.at("left"))
            arrow(ax, below.at("top"), above.at("bottom"))
    return ax


def nearest(z: Tensor, codebook: Tensor) -> Axes:
    """Draw vectors in the plane, and a line from each to the nearest of the codebook.

    Shapes: z (n, 2), codebook (K, 2).
    """
    ax = sheet(8.6)
    both = torch.cat([z, codebook])
    low, high = both.amin(dim=0), both.amax(dim=0)
    scale = (torch.tensor([14.4, 5.8]) / (high - low)).min()
    middle = torch.tensor([8.0, 3.7])
    points, marks = (
        (middle + scale * (some - (low + high) / 2) * torch.tensor([1, -1])).tolist()
        for some in (z, codebook)
    )
    for point, k in zip(points, torch.cdist(z, codebook).argmin(dim=1).tolist(), strict=True):
        ends = zip(point, marks[k], strict=True)
        ax.plot(*ends, color=INK, zorder=0.8, **THIN)
    _dots(ax, points)
    for k, (x, y) in enumerate(marks):
        box(ax, (x - 0.45, y - 0.4), str(k), (0.9, 0.8), role="key")
    _dots(ax, [(2.6, 8.0)])
    note(ax, (3.0, 8.0), "vectors z", align="left")
    box(ax, (8.4, 7.6), "0", (0.9, 0.8), role="key")
    note(ax, (9.6, 8.0), "codebook, numbered", align="left")
    return ax


def _dots(ax: Axes, points: Sequence[Sequence[float]]) -> None:
    """Draw vectors z as dots."""
    form = {"linestyle": "", "marker": "o", "markersize": 8, "zorder": 1.2}
    ax.plot(*zip(*points, strict=True), color=stroke("query"), **form)


# What is learned ----------------------------------------------------------------------------------


def straight_through() -> Axes:
    """Draw the way forward through the nearest code, and the gradient's way back around it."""
    ax = sheet(5.7)
    y, high = 1.2, 1.6
    names = ("encoder", 2.5, "query"), ("z", 1.2, "query"), ("nearest", 2.5, None)
    names += ("q", 1.2, "key"), ("decoder", 2.5, "value")
    x, gap, blocks = 0.3, 1.375, []
    for name, width, role in names:
        blocks.append(box(ax, (x, y), name, (width, high), role=role))
        x += width + gap
    over, under = y + 0.3 * high, y + 0.7 * high
    for before, after in itertools.pairwise(blocks):
        arrow(ax, (before.x + before.width, over), (after.x, over))
    first, z, step, q, last = blocks
    for start, end in ((z, first), (last, q)):
        ends = (start.x, under), (end.x + end.width, under)
        arrow(ax, *ends, role="gradient", weight=0.25)
    arrow(ax, (q.x, under), (step.x + step.width, under), role="gradient", dashed=True)
    _cross(ax, ((q.x + step.x + step.width) / 2, under))
    arrow(ax, q.at("bottom"), z.at("bottom"), role="gradient", weight=0.25, bend=0.24)
    note(ax, (8.0, 0.5), "forward", weight="bold")
    note(ax, (8.0, 3.3), "no slope")
    note(ax, (8.0, 5.2), "backward: z gets q's gradient", weight="bold")
    return ax


def _cross(ax: Axes, at: tuple[float, float]) -> None:
    """Strike an arrow out."""
    x, y = at
    for way in (-1, 1):
        ends = (x - 0.25, x + 0.25), (y - 0.25 * way, y + 0.25 * way)
        ax.plot(*ends, color=INK, zorder=2.5, linewidth=2.6, linestyle="-", marker="")


def two_pulls(commitment: float) -> Axes:
    """Draw which of z and q each part of the loss moves, and where the gradient is stopped.

    commitment: the weight of the second part, 0..1; its arrow is so much shorter.
    """
    ax = sheet(6.8)
    size = (1.3, 1.0)
    for k, (name, moved, told) in enumerate(
        (
            (r"codebook:  $(\mathrm{sg}[z] - q)^2$", "q", "q moves to z"),
            (rf"commitment:  ${commitment:g}\,(z - \mathrm{{sg}}[q])^2$", "z", "z moves to q"),
        )
    ):
        y = 1.2 + 3.4 * k
        note(ax, (0.4, y - 0.7), name, align="left", weight="bold")
        roles = {"z": "query", "q": "key"}
        ends = {}
        for letter, x in (("z", 0.6), ("q", 14.1)):
            still = letter != moved
            role = None if still else roles[letter]
            ends[letter] = box(ax, (x, y), letter, size, role=role)
            label(ax, ends[letter], "bottom", "sg: stays" if still else "moves")
        if moved == "q":
            start, end = ends["q"].at("left"), ends["z"].at("right", 0.15)
        else:
            start = ends["z"].at("right")
            end = start[0] + commitment * (ends["q"].x - start[0]), start[1]
        arrow(ax, start, end, role="gradient", weight=0.25)
        note(ax, (8.0, y + 1.3), told)
    return ax


# One row ------------------------------------------------------------------------------------------


def shared_row(
    words: Sequence[str], ids: Sequence[int], codes: Sequence[int], n_words: int, mark: int
) -> Axes:
    """Draw a sentence, padding, the mark and the first codes in one row; ids; the loss's weights.

    ids: of the words. n_words: what is added to a code for its id. mark: the mark's id.
    """
    ax = sheet(7.0)
    n, first = len(words), len(words) + 2
    symbols = [*words, "pad …", "mark", *map(str, codes)]
    numbers = [*ids, 0, mark, *(n_words + code for code in codes)]
    wide = 12.4 / len(symbols)
    size, x, blocks = (wide, 0.9), 2.3, []
    for t, symbol in enumerate(symbols):
        role = "query" if t < n else "key" if t >= first else "head 1" if t > n else None
        blocks.append(cells(ax, (x + t * wide, 2.5), [[symbol]], role=role, size=size))
    cells(ax, (x, 3.9), [[str(number) for number in numbers]], size=size)
    read = Block(x, 2.5, wide * (len(blocks) - 1), 0.9)
    brace(ax, read, "top", "")
    arrow(ax, read.at("top", 0.33), blocks[-1].at("top", 0.1), bend=0.2)
    asked = [0 < t < n or t >= first for t in range(len(blocks))]
    weights = [[("1/8" if t < n else "7/8") if there else "" for t, there in enumerate(asked)]]
    tint = [[(0.15 if t < n else 0.9) * there for t, there in enumerate(asked)]]
    hatched = [[not there for there in asked]]
    cells(ax, (x, 5.3), weights, role="gradient", weights=tint, hatched=hatched, size=size)
    for y, name in ((2.95, "row"), (4.35, "ids"), (5.75, "loss")):
        note(ax, (0.3, y), name, align="left", weight="bold")
        note(ax, (15.3, y), "…")
    note(ax, (8.0, 0.4), "each symbol is predicted from those before it")
    note(ax, (15.6, 6.6), f"id of a code: {n_words} + code", align="right")
    return ax


# Pictures on the way ------------------------------------------------------------------------------


def _veiled(
    ax: Axes, place: tuple[float, float], image: Tensor, side: float, hidden: list[bool]
) -> Block:
    """Draw a picture, and cover the places of a square grid whose codes are hidden."""
    block = picture(ax, place, image, side)
    n = math.isqrt(len(hidden))
    for i, covered in enumerate(hidden):
        if covered:
            y, x = divmod(i, n)
            at, form = (block.x + x * side / n, block.y + y * side / n), (side / n, side / n)
            veil = {"facecolor": tinted("state", 0.5), "edgecolor": DIM, "linewidth": 0.8}
            ax.add_patch(Rectangle(at, *form, **veil))
    return block


def code_by_code(pictures: Mapping[int, Tensor]) -> Axes:
    """Draw a picture after so many codes, row by row; the places of the others are covered.

    pictures: how many codes are written, and the picture (3, H, W); the last has all of them.
    """
    ax = sheet(4.5)
    n = max(pictures)
    pitch = 15.4 / len(pictures)
    for i, (done, image) in enumerate(pictures.items()):
        hidden = [place >= done for place in range(n)]
        shown = _veiled(ax, (0.3 + i * pitch + 0.1, 0.3), image, pitch - 0.2, hidden)
        label(ax, shown, "bottom", str(done), weight="bold")
    note(ax, (8.0, 4.15), "codes written")
    return ax


def best_of(pictures: Tensor, scores: Tensor, sentence: str, accepted: Sequence[bool]) -> Axes:
    """Draw pictures of one sentence in two rows, the most similar first; it is framed.

    accepted: for each picture, whether its score has a tick.
    Shapes: pictures (n, 3, H, W), scores (n,).
    """
    across = -(-len(pictures) // 2)
    pitch = 15.4 / across
    ax = sheet(1.0 + 2 * (pitch + 0.7))
    note(ax, (0.4, 0.45), sentence, align="left", weight="bold")
    for i, k in enumerate(scores.argsort(descending=True).tolist()):
        down, right = divmod(i, across)
        place = 0.3 + right * pitch + 0.1, 1.0 + down * (pitch + 0.7)
        shown = picture(ax, place, pictures[k], pitch - 0.2)
        weight = "normal" if i else "bold"
        tick = " ✓" if accepted[k] else ""
        note(ax, shown.at("bottom", 0.45), f"{scores[k]:.2f}{tick}", weight=weight)
        if i == 0:
            light(ax, shown, margin=0.13)
    return ax


def unmasking(pictures: Tensor, hidden: Tensor) -> Axes:
    """Draw the steps of a picture whose codes are found all over it; hidden places are covered.

    Shapes: pictures (steps, 3, H, W), hidden (steps, n), True where a code is not yet known.
    Raises: ValueError if there isn't one row of hidden codes for each picture.
    """
    across = 4
    pitch = 15.4 / across
    ax = sheet(0.3 + (pitch + 0.6) * -(-len(pictures) // across))
    for i, (image, covered) in enumerate(zip(pictures, hidden.tolist(), strict=True)):
        down, right = divmod(i, across)
        place = 0.3 + right * pitch + 0.2, 0.3 + down * (pitch + 0.6)
        shown = _veiled(ax, place, image, pitch - 0.4, covered)
        left = sum(covered)
        label(ax, shown, "bottom", f"{left} hidden" if left else "done", weight="bold")
    return ax


# Guidance -----------------------------------------------------------------------------------------


def guided(without: Tensor, with_: Tensor, scale: float) -> Axes:
    """Draw logits without the sentence, with it, and moved on the same way; and probabilities.

    Shapes: without and with_ (n,), for a few codes.
    """
    ax = sheet(7.6)
    beyond = without + scale * (with_ - without)
    panels = {"no sentence": without, "with sentence": with_, f"guided, {scale:g} ×": beyond}
    every = torch.stack(list(panels.values()))
    unit = 3.4 / (every.max().clamp(min=0) - every.min().clamp(max=0)).item()
    zero = 1.5 + unit * every.max().clamp(min=0).item()
    width = 4.8 / len(without)
    for i, (name, logits) in enumerate(panels.items()):
        x, role = 0.3 + 5.3 * i, ("state", "query", "value")[i]
        note(ax, (x + 2.4, 0.45), name, weight="bold")
        for k, value in enumerate(logits.tolist()):
            top = zero - unit * max(value, 0)
            left = x + (k + 0.15) * width
            bar(ax, (left, top), (0.7 * width, unit * abs(value)), role=role)
            end = top - 0.28 if value >= 0 else top - unit * value + 0.28
            note(ax, (x + (k + 0.5) * width, end), f"{value:g}")
        ax.plot([x, x + 4.8], [zero, zero], color=INK, **THIN)
        chances = logits.softmax(dim=0)[None]
        shown = [[f"{p:.0%}" for p in chances[0].tolist()]]
        form = {"role": role, "weights": chances, "size": (width, 0.9)}
        cells(ax, (x, 5.9), shown, **form)
    note(ax, (8.0, 7.25), "logits, and their softmax")
    return ax
