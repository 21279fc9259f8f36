"""Day 6's larger pictures: a block in post-norm and pre-norm, its shapes, and the two towers."""

from collections.abc import Collection, Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from utils.show.diagrams import arrow, box, brace, cells, light, note, sheet
from utils.show.diagrams.sheet import TIGHT, Block, stroke
from utils.show.plotting import PAPER


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


WIDE, HIGH, LOW, GAP = 6.0, 0.8, 0.55, 0.5  # a sublayer's box, its norm's height, what is between


def towers(source: str, read: Sequence[str], said: Sequence[str], lit: Collection[str]) -> Axes:
    """Draw encoder and decoder, what each attention may see, and what flows between them.

    lit: of these parts, only they are not greyed, and framed: "embeddings", "norms",
        "self-attention", "cross-attention", "feed-forward", "output".
    """
    ax = sheet(11.8)
    left, right, foot = 3.2, 11.8, 10.05
    words, S, T = source.split(), len(source.split()), len(read)
    everyone, causal = torch.ones(S, S), torch.ones(T, T).tril()
    parts = {name: [] for name in PARTS}

    def over(
        below: Block, name: str, part: str, seen: Tensor | None = None, gap: float = GAP
    ) -> Block:
        """Draw a norm and a sublayer over a box, and the stream to them."""
        x, y = below.x, below.y - gap
        norm = box(ax, (x, y - LOW), "norm", (WIDE, LOW))
        arrow(ax, below.at("top"), norm.at("bottom"), role="state", weight=0.25)
        layer = box(ax, (x, norm.y - HIGH), "" if seen is not None else name, (WIDE, HIGH))
        if seen is not None:
            _grid(ax, layer, name, seen)
        parts["norms"].append(norm)
        parts[part].append(layer)
        return layer

    def entrance(x: float, texts: Sequence[str], told: str) -> Block:
        block = box(ax, (x - WIDE / 2, foot - HIGH), "embeddings + positions", (WIDE, HIGH))
        arrow(ax, (x, foot + 0.5), block.at("bottom"), role="state", weight=0.25)
        note(ax, (x, foot + 0.8), "   ".join(texts))
        note(ax, (x, foot + 1.4), told, weight="bold")
        parts["embeddings"].append(block)
        return block

    first = over(entrance(left, words, "source"), "self-attention", "self-attention", everyone)
    thought = over(first, "feed-forward", "feed-forward")
    last_norm = box(ax, (thought.x, thought.y - GAP - LOW), "norm", (WIDE, LOW))
    arrow(ax, thought.at("top"), last_norm.at("bottom"), role="state", weight=0.25)
    parts["norms"].append(last_norm)
    at = left - 0.78 * S, last_norm.y - GAP - 0.9
    memory = cells(ax, at, [[""] * S] * 2, role="state", size=(1.56, 0.45))
    arrow(ax, last_norm.at("top"), memory.at("bottom"), role="state", weight=0.25)
    for j, word in enumerate(words):
        note(ax, (memory[0, j].middle[0], memory.y - 0.4), word).set_fontsize(TIGHT)
    note(ax, (left, memory.y - 1.0), "encoder's output", weight="bold")

    own = over(
        entrance(right, read, "decoder's input"), "causal self-attention", "self-attention", causal
    )
    across = over(own, "cross-attention", "cross-attention", torch.ones(T, S), gap=0.8)
    note(ax, (right + 1.3, own.y - 0.42), "queries")
    last = over(across, "feed-forward", "feed-forward")
    out = over(last, "logits", "output")
    arrow(ax, out.at("top"), (right, out.y - 0.45))
    note(ax, (right, out.y - 0.75), "   ".join(said), weight="bold")

    for role, lane, row, down in (("key", 7.6, 0, -0.2), ("value", 7.1, 1, 0.2)):
        start, end = memory[row, S - 1].at("right"), across.at("left")
        corner = (lane, end[1] + down)
        ax.plot([start[0], lane, lane], [start[1], start[1], corner[1]], color=stroke(role), lw=2.4)
        ax.lines[-1].set(marker="", linestyle="-")
        arrow(ax, corner, (end[0] - 0.1, corner[1]), role=role, weight=0.15)
    note(ax, (8.25, across.y - 0.25), "keys")
    note(ax, (7.75, across.y + 1.15), "values")
    for top, bottom in ((thought, first), (last, own)):
        height = bottom.y + HIGH + LOW - top.y
        brace(ax, Block(bottom.x, top.y, WIDE, height), "right", r"$\times L$")
    for part, blocks in parts.items():
        for block in blocks:
            if part in lit:
                light(ax, block)
            else:
                _grey(ax, block)
    return ax


PARTS = "embeddings", "norms", "self-attention", "cross-attention", "feed-forward", "output"


def _grid(ax: Axes, block: Block, name: str, seen: Tensor) -> None:
    """Write into a box its name, and which places (columns) each of its places (rows) may see."""
    size = 0.15
    note(ax, (block.x + 0.25, block.y + HIGH / 2), name, align="left")
    rows, columns = seen.shape
    at = block.x + WIDE - 0.2 - columns * size, block.y + (HIGH - rows * size) / 2
    blank = [[""] * columns] * rows
    cells(ax, at, blank, role="query", weights=0.8 * seen, size=(size, size))


def _grey(ax: Axes, block: Block) -> None:
    """Draw paper over a block, through which it is still seen."""
    place = block.x - 0.05, block.y - 0.02
    size = block.width + 0.1, block.height + 0.04
    veil = {"facecolor": PAPER, "edgecolor": "none", "alpha": 0.6, "zorder": 4}
    ax.add_patch(Rectangle(place, *size, **veil))


def shapes() -> Axes:
    """Draw the shapes through an encoder block: attention, then the feed-forward layer."""
    ax = sheet(8.3)
    attention = (
        ("norm   (B, T, D)", None),
        ("q, k, v   (B, h, T, $d_k$)", "query"),
        ("weights   (B, h, T, T)", "key"),
        ("heads   (B, h, T, $d_k$)", "value"),
        ("merged, $W_o$   (B, T, D)", None),
    )
    thought = (
        ("norm   (B, T, D)", None),
        ("$W_1$, ReLU   (B, T, F)", "value"),
        ("$W_2$   (B, T, D)", None),
    )
    for x, name, boxes, step in ((0.8, "attention", attention, 1.2), (8.8, "FFN", thought, 2.4)):
        arrow(ax, (x, 7.5), (x, 0.75), role="state", weight=0.35)
        note(ax, (x + 4.1, 0.6), name, weight="bold")
        before = None
        for i, (text, role) in enumerate(boxes):
            block = box(ax, (x + 1.4, 6.3 - step * i), text, (5.4, HIGH))
            if role is not None:
                edge = Block(block.x, block.y, 0.18, HIGH)
                cells(ax, (edge.x, edge.y), [[""]], role=role, size=(0.18, HIGH))
            start = (x + 0.15, block.middle[1]) if before is None else before.at("top")
            arrow(ax, start, block.at("left" if before is None else "bottom"))
            before = block
        arrow(ax, before.at("left"), (x + 0.35, before.middle[1]))
        note(ax, (x, before.middle[1]), "+", weight="bold")
    for x in (0.8, 8.8):
        note(ax, (x + 1.4, 7.85), "$x$   (B, T, D)")
    return ax


def ticking(said: Sequence[str]) -> Axes:
    """Draw a decoder that writes a word in each row, and reads what it has written before."""
    ax = sheet(1.6 + 1.15 * len(said))
    wide = 1.95
    note(ax, (0.4, 0.5), "it reads", align="left", weight="bold")
    note(ax, (15.6, 0.5), "it writes", align="right", weight="bold")
    for t, word in enumerate(said):
        y = 1.1 + 1.15 * t
        read = cells(
            ax, (0.4, y), [["BOS", *said[:t]]], role="state", weights=0.6, size=(wide, 0.85)
        )
        new = box(ax, (15.6 - wide - 0.3, y), word, (wide + 0.3, 0.85), role="key")
        arrow(ax, read.at("right"), new.at("left"))
    return ax
