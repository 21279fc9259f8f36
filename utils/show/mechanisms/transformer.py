"""Day 6's larger pictures: a block in post-norm and pre-norm, and the two towers."""

from collections.abc import Sequence

import torch
from matplotlib.axes import Axes
from torch import Tensor

from utils.show.diagrams import arrow, box, brace, cells, label, light, note, sheet
from utils.show.diagrams.sheet import Block, Point, stroke


def residuals() -> Axes:
    """Draw a block in post-norm and in pre-norm next to each other."""
    ax = sheet(11.4)
    for kind, x in (("post-norm", 3.2), ("pre-norm", 11.2)):
        note(ax, (x, 0.5), kind, weight="bold")
        y = 10.6
        note(ax, (x, y + 0.3), "$x$")
        for name in ("attention", "feed-forward"):
            if kind == "post-norm":
                layer = box(ax, (x + 1.2, y - 2.4), name, (2.9, 0.85))
                norm = box(ax, (x - 0.85, y - 4.5), "norm", (1.7, 0.85))
                light(ax, norm)
                arrow(ax, (x, y), (x, y - 2.85), role="state", weight=0.35)
                arrow(ax, (x, y - 0.5), layer.at("bottom"), bend=-0.2)
                arrow(ax, layer.at("top"), (x + 0.25, y - 3.1), bend=-0.2)
                note(ax, (x, y - 3.15), "+", weight="bold")
                arrow(ax, (x, y - 3.3), norm.at("bottom"), role="state")
                y = norm.at("top")[1]
            else:
                norm = box(ax, (x + 1.2, y - 1.9), "norm", (1.7, 0.85))
                layer = box(ax, (x + 0.85, y - 3.45), name, (2.9, 0.85))
                arrow(ax, (x, y), (x, y - 3.9), role="state", weight=0.35)
                arrow(ax, (x, y - 0.4), norm.at("bottom"), bend=-0.2)
                arrow(ax, norm.at("top"), (norm.middle[0], layer.y + layer.height))
                arrow(ax, layer.at("top"), (x + 0.25, y - 4.2), bend=-0.15)
                note(ax, (x, y - 4.2), "+", weight="bold")
                y -= 4.5
        arrow(ax, (x, y), (x, y - 0.7), role="state", weight=0.35)
    return ax


def towers(source: str, read: Sequence[str], said: Sequence[str]) -> Axes:
    """Draw encoder and decoder, what each attention may see, and what flows between them."""
    ax = sheet(12.2)
    left, right, foot = 3.3, 11.7, 10.1
    words, S, T = source.split(), len(source.split()), len(read)
    everyone, causal = torch.ones(S, S), torch.ones(T, T).tril()

    first = _look(ax, (left, foot - 2.3), "self-attention", everyone)
    thought = _over(ax, first, "feed-forward")
    at = left - 0.75 * S, thought.y - 2.5
    memory = cells(ax, at, [[""] * S] * 2, role="state", size=(1.5, 0.5))
    _rise(ax, thought, memory)
    label(ax, memory, "top", *words)
    note(ax, (left, memory.y - 1.0), "encoder's output", weight="bold")

    own = _look(ax, (right, foot - 2.3), "causal self-attention", causal)
    across = _look(ax, (right, own.y - 2.25), "cross-attention", torch.ones(T, S))
    light(ax, across)
    arrow(ax, own.at("top"), across.at("bottom"), role="query", weight=0.25)
    note(ax, (right + 1.3, own.y - 0.38), "queries")
    last = _over(ax, across, "feed-forward")
    out = _over(ax, last, "norm, then logits")
    arrow(ax, out.at("top"), (right, out.y - 0.75))
    note(ax, (right, out.y - 1.1), "   ".join(said), weight="bold")
    note(ax, (right, out.y - 1.75), "prediction")

    for role, lane, row, down in (("key", 7.9, 0, -0.25), ("value", 7.4, 1, 0.25)):
        start, end = memory[row, S - 1].at("right"), across.at("left")
        corner = (lane, end[1] + down)
        ax.plot([start[0], lane, lane], [start[1], start[1], corner[1]], color=stroke(role), lw=2.4)
        ax.lines[-1].set(marker="", linestyle="-")
        arrow(ax, corner, (end[0] - 0.1, corner[1]), role=role, weight=0.15)
    note(ax, (8.45, across.y - 0.4), "keys")
    note(ax, (6.6, across.y + 0.25), "values")
    for x, texts, told in ((left, words, "source"), (right, read, "decoder's input")):
        arrow(ax, (x, foot), (x, foot - 0.8), role="state", weight=0.25)
        note(ax, (x, foot + 0.35), "embeddings + positions")
        note(ax, (x, foot + 1.1), "   ".join(texts))
        note(ax, (x, foot + 1.75), told, weight="bold")
    for top, bottom in ((thought, first), (last, own)):
        height = bottom.y + bottom.height - top.y
        brace(ax, Block(bottom.x, top.y, bottom.width, height), "right", r"$\times L$")
    return ax


def _look(ax: Axes, place: Point, name: str, seen: Tensor) -> Block:
    """Draw a look's box, and in it which places (columns) each of its places (rows) may see."""
    wide, high, size = 5.9, 1.5, 0.24
    x, y = place[0] - wide / 2, place[1]
    block = box(ax, (x, y), "", (wide, high))
    note(ax, (x + 0.25, y + high / 2), name, align="left")
    rows, columns = seen.shape
    at = x + wide - 0.15 - (1.2 + columns * size) / 2, y + (high - rows * size) / 2
    blank = [[""] * columns] * rows
    cells(ax, at, blank, role="query", weights=0.8 * seen, size=(size, size))
    return block


def _over(ax: Axes, below: Block, name: str) -> Block:
    """Draw a box over another, and the stream between them."""
    block = box(ax, (below.x, below.y - 1.6), name, (below.width, 0.85))
    _rise(ax, below, block)
    return block


def _rise(ax: Axes, below: Block, above: Block) -> None:
    arrow(ax, below.at("top"), above.at("bottom"), role="state", weight=0.25)
