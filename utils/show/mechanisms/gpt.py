"""Day 9's pictures: lessons, masks, losses, pieces, cuts, induction heads, two blocks."""

import math
from collections.abc import Sequence

import torch
from matplotlib.axes import Axes
from torch import Tensor

from utils.show.diagrams import arrow, box, cells, label, light, note, sheet

TEXT = "The", "estimator", "is", "fit", "ted", "on"


def lessons() -> Axes:
    """Draw what a text teaches an encoder that names it, and a decoder that goes on."""
    ax = sheet(7.0)
    wide = (2.35, 0.85)
    for y, name in ((2.4, "encoder"), (5.8, "GPT")):
        note(ax, (0.2, y + 0.42), name, align="left", weight="bold")
    places = [2.5 + 2.62 * t for t in range(len(TEXT) - 1)]
    answer = box(ax, (places[2] - 0.3, 0.35), "from sklearn", (2.95, 0.85), role="value")
    for x, word in zip(places, TEXT, strict=False):
        arrow(ax, box(ax, (x, 2.4), word, wide).at("top"), answer.at("bottom"))
        below = box(ax, (x, 5.8), word, wide)
        if x < places[-1]:
            after = TEXT[places.index(x) + 1]
            arrow(ax, below.at("top"), box(ax, (x, 4.2), after, wide, role="value").at("bottom"))
    for y, n in ((0.35, "1 lesson"), (4.2, f"{len(places) - 1} lessons")):
        note(ax, (places[-1] + wide[0] / 2, y + 0.42), n, weight="bold")
    return ax


def hidden() -> Axes:
    """Draw what each position may see, with and without the future; framed are the answers."""
    ax, T = sheet(8.4), len(TEXT) - 1
    blank, size = [[""] * T] * T, (0.85, 0.85)
    everything, past = torch.ones(T, T), torch.ones(T, T).tril()
    for x, seen, name in ((2.3, everything, "hides nothing"), (9.3, past, "hides the future")):
        grid = cells(ax, (x, 3.1), blank, role="key", weights=0.6 * seen, size=size)
        for t in range(T - 1):
            if seen[t, t + 1]:
                cells(ax, (grid[t, t + 1].x, grid[t, t + 1].y), [["!"]], role="gradient", size=size)
            light(ax, grid[t, t + 1], margin=-0.09)
        note(ax, (grid.middle[0], 0.4), name, weight="bold")
        label(ax, grid, "top", *TEXT[:T], rotation=90)
        label(ax, grid, "right", *TEXT[1:])
        if x < 5:
            label(ax, grid, "left", *TEXT[:T])
    note(
        ax, (8.0, 7.9), "each row reads the word on its left and must predict the one on its right"
    )
    return ax


def asked(chances: Sequence[float]) -> Axes:
    """Draw each position's target, its probability and its loss; the last has no target."""
    ax = sheet(6.0)
    n = len(chances)
    size = (2.35, 0.85)
    reads = cells(ax, (3.1, 4.3), [TEXT[: n + 1]], role="state", weights=0.6, size=size)
    says = cells(ax, (3.1, 2.6), [TEXT[1 : n + 1]], role="value", weights=0.6, size=size)
    for t in range(n):
        arrow(ax, reads[0, t].at("top"), says[0, t].at("bottom"))
    given = cells(ax, (3.1, 1.45), [[f"{x:.2f}" for x in chances]], weights=0.1, size=size)
    nats = [-math.log(chance) for chance in chances]
    shown = [[f"{x:.2f}" for x in nats]]
    losses = cells(ax, (3.1, 0.3), shown, role="gradient", weights=0.25, size=size)
    for block, name in (
        (reads, "input"),
        (says, "target"),
        (given, "probability"),
        (losses, "−ln"),
    ):
        note(ax, (0.2, block.middle[1]), name, align="left", weight="bold")
    note(ax, (14.1, losses.middle[1]), f"mean {sum(nats) / n:.2f}", weight="bold")
    note(ax, (14.1, says.middle[1]), "no target")
    note(ax, (7.9, 5.55), "the same text, shifted by one position")
    return ax


def tower(L: int) -> Axes:
    """Draw GPT from its ids to its logits."""
    height = 2.4 + 1.47 * (L + 3)
    ax = sheet(height)
    x, size = 4.2, (4.6, 0.85)
    names = ("table", *["block"] * L, "norm", "table, transposed")
    y = height - 0.9
    note(ax, (x, height - 0.45), "ids of The estimator is fit", weight="bold")
    shapes = ("(B, T, D)", *["(B, T, D)"] * L, "(B, T, D)", "(B, T, V)")
    boxes = []
    for name, shape in zip(names, shapes, strict=True):
        top = y - 0.62 - size[1]
        arrow(ax, (x, y), (x, top + size[1]))
        role = {"block": "query", "norm": None}.get(name, "key")
        boxes.append(box(ax, (x - size[0] / 2, top), name, size, role=role))
        note(ax, (x + 2.7, top - 0.3), shape, align="left")
        y = top
    arrow(ax, (x, y), (x, y - 0.62))
    note(ax, (x, y - 0.95), "logits of each next token", weight="bold")
    note(ax, (10.0, boxes[0].middle[1]), "a row for each id, × √D", align="left")
    middle = boxes[1 + L // 2].middle[1]
    note(ax, (10.0, middle), "attention, feed-forward", align="left")
    note(ax, (10.0, boxes[-1].middle[1]), "scores: x · each row", align="left")
    return ax


def pieces(starts: Sequence[int], T: int) -> Axes:
    """Draw a long text and the pieces of a batch, which begin at random places."""
    ax, n = sheet(5.6), 30
    width = 15.4 / n
    strip = cells(ax, (0.3, 1.2), [[""] * n], role="state", weights=0.3, size=(width, 0.7))
    note(ax, (0.3, 0.55), "the training text, token after token", align="left")
    for row, start in enumerate(starts):
        y = 2.6 + 0.95 * row
        piece = cells(
            ax, (0.3 + width * start, y), [[""] * T], role="query", weights=0.5, size=(width, 0.7)
        )
        arrow(ax, (piece.middle[0], strip.y + strip.height), piece.at("top"))
    return ax


def per_byte(cuts: Sequence[tuple[str, Sequence[str], Sequence[float]]]) -> Axes:
    """Draw one word, cut in several ways, with the bits of each symbol, per symbol and per byte.

    cuts: a name, the symbols, and how many bits each costs.
    """
    ax = sheet(2.6 * len(cuts) - 0.2)
    for row, (name, symbols, bits) in enumerate(cuts):
        x, y = 2.9, 0.4 + 2.6 * row
        note(ax, (0.2, y + 0.42), name, align="left", weight="bold")
        for symbol, cost in zip(symbols, bits, strict=True):
            size = (1.05 * len(symbol), 0.85)
            cells(ax, (x, y), [[symbol]], role="state", weights=0.5, size=size)
            cells(ax, (x, y + 0.85), [[cost]], role="gradient", weights=0.25, size=size)
            x += size[0]
        total, n = sum(bits), len("".join(symbols))
        told = f"{total:g} bits\n{total / len(bits):.2f} per symbol"
        note(ax, (11.2, y + 0.85), told)
        note(ax, (14.3, y + 0.85), f"{total / n:.2f}\nper byte", weight="bold")
    return ax


def cuts(logits: Tensor, tokens: Sequence[str], tau: float, p: float) -> Axes:
    """Draw a few tokens' probabilities after a temperature and top-p. Shapes: logits (V,)."""
    ax = sheet(5.45)
    cold = (logits / tau).softmax(dim=0)
    rank = cold.argsort(descending=True).argsort(dim=0)
    before = torch.stack([cold[rank < r].sum() for r in rank])
    few = cold * (before < p)
    few = few / few.sum()
    rows = {
        "softmax": logits.softmax(dim=0),
        f"temperature {tau:g}": cold,
        f"top-p, p = {p:g}": few,
    }
    size = (1.8, 0.85)
    last = None
    for i, (name, chances) in enumerate(rows.items()):
        shown = [[f"{chance:.2f}" if chance > 0 else "" for chance in chances.tolist()]]
        gone = (chances == 0)[None]
        grid = cells(
            ax,
            (4.9, 1.1 + 1.45 * i),
            shown,
            role="query",
            weights=0.9 * chances[None],
            struck=gone,
            size=size,
        )
        note(ax, (0.2, grid.middle[1]), name, align="left", weight="bold")
        if last:
            arrow(ax, last.at("bottom"), grid.at("top"))
        else:
            label(ax, grid, "top", *tokens)
        last = grid
    return ax


def induction(text: str) -> Axes:
    """Draw how an induction head finds what follows the last letter, which stood there before."""
    ax = sheet(6.4)
    last, here = len(text) - 1, text.index(text[-1])
    wide = min(1.6, 11.8 / (last + 2))
    lit = [
        [0.9 if t in (here + 1, last + 1) else 0.6 if t == last else 0.1 for t in range(last + 2)]
    ]
    found = [[0.9 if t == here + 1 else 0.1 for t in range(last + 2)]]
    read = cells(ax, (3.9, 1.9), [[*text, "?"]], role="value", weights=lit, size=(wide, 0.9))
    before = [["", *text]]
    noted = cells(ax, (3.9, 4.3), before, role="key", weights=found, size=(wide, 0.9))
    note(ax, (0.2, 2.35), "the text", align="left", weight="bold")
    note(ax, (0.2, 4.75), "letter before", align="left", weight="bold")
    arrow(ax, read[0, last].at("bottom"), noted[0, here + 1].at("top"), role="query")
    arrow(ax, read[0, here + 1].at("top"), read[0, last + 1].at("top"), role="value", bend=0.22)
    note(ax, (9.0, 5.8), "block 1 writes the lower row; block 2 searches it for the last letter")
    return ax


def mixture(tokens: Sequence[str], table: Sequence[float], model: Sequence[float]) -> Axes:
    """Draw the probabilities of a few tokens in a table of counts, in a model, and their means."""
    ax = sheet(5.45)
    rows = {"table": table, "GPT": model}
    rows["half and half"] = [(a + b) / 2 for a, b in zip(table, model, strict=True)]
    for i, (name, likely) in enumerate(rows.items()):
        shown = [[f"{p:.2f}" for p in likely]]
        role = ("key", "query", "value")[i]
        at, size = (4.4, 1.1 + 1.45 * i), (2.1, 0.85)
        grid = cells(ax, at, shown, role=role, weights=torch.tensor([likely]), size=size)
        note(ax, (0.2, grid.middle[1]), name, align="left", weight="bold")
        if i == 0:
            label(ax, grid, "top", *tokens)
    return ax


def carries(a: int, b: int) -> Axes:
    """Draw a sum of three digits from the units on, and what each digit of the answer needs."""
    ax = sheet(5.4)
    n, (one, other, total) = 3, (f"{x:0{k}d}"[::-1] for x, k in ((a, 3), (b, 3), (a + b, 4)))
    y, size = 2.9, (1.2, 0.9)
    left = cells(ax, (0.5, y), [[*one, "+", *other, "="]], role="key", weights=0.3, size=size)
    right = cells(ax, (10.4, y), [list(total)], role="value", weights=0.6, size=size)
    for k in range(n):
        for digit in (left[0, k], left[0, n + 1 + k]):
            arrow(ax, digit.at("top"), right[0, k].at("top"), role="query", bend=0.26 - 0.03 * k)
    for k in range(1, n + 1):
        arrow(ax, right[0, k - 1].at("bottom"), right[0, k].at("bottom"), role="value", bend=-0.5)
    note(ax, (8.0, 5.0), f"{a} + {b} = {a + b}, units first; below, the carry goes on")
    return ax


def _block(ax: Axes, sign: int, rows: Sequence[tuple[float, str, bool]]) -> None:
    """Draw a block beside its stream: each part leaves it at its norm, and is added to it above.

    sign: -1 if the layers stand left of the stream, else 1. rows: the height of each layer, its
        name, and whether it changed; a norm begins a part. Framed are those that changed.
    """
    stream, height, last = 8.0 + 1.8 * sign, 0.85, None
    for i, (y, name, changed) in enumerate(rows):
        layer = box(ax, (stream + 3.3 * sign - 2.6, y), name, (5.2, height))
        if changed:
            light(ax, layer)
        inner = "left" if sign > 0 else "right"
        if name.endswith("norm"):
            arrow(ax, (stream, layer.middle[1]), layer.at(inner))
        else:
            arrow(ax, last.at("top"), layer.at("bottom"))
        if i + 1 == len(rows) or rows[i + 1][1].endswith("norm"):
            plus = box(ax, (stream - 0.3, layer.middle[1] - 0.3), "+", (0.6, 0.6))
            arrow(ax, layer.at(inner), plus.at("right" if sign > 0 else "left"))
        last = layer


def then_and_now() -> Axes:
    """Draw GPT-2's block beside one of today; framed is what changed."""
    ax = sheet(10.3)
    y = [8.45 - 1.32 * row for row in range(6)]
    then = [(y[0], "layer norm"), (y[1], "heads: q, k, v"), (y[3], "softmax attention")]
    then += [(y[4], "layer norm"), (y[5], "4D wide, GELU")]
    now = [(y[0], "RMS norm"), (y[1], "q heads share k and v"), (y[2], "q, k normed, rotated")]
    now += [(y[3], "softmax attention"), (y[4], "RMS norm"), (y[5], "8/3 D wide, gated")]
    for sign, name, rows in ((-1, "GPT-2", then), (1, "today", now)):
        note(ax, (8.0 + 5.1 * sign, 0.45), name, weight="bold")
        ends = [9.95, y[3] + 0.725, y[3] + 0.125, y[5] + 0.725, y[5] + 0.125, y[5] - 0.6]
        for start, end in zip(ends[::2], ends[1::2], strict=True):
            arrow(ax, (8.0 + 1.8 * sign, start), (8.0 + 1.8 * sign, end))
        new = sign > 0
        _block(ax, sign, [(at, text, new and text != "softmax attention") for at, text in rows])
    for name, at in (
        ("stream", 9.75),
        ("attention", (y[0] + y[3] + 0.85) / 2),
        ("feed-forward", y[5] + 1.1),
    ):
        note(ax, (8.0, at), name)
    return ax
