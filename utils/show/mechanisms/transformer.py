"""Day 6's larger pictures: the stream, norms, blocks, towers, the shifted target, waves."""

import math
from collections.abc import Sequence

import torch
from matplotlib.axes import Axes

from utils.show.diagrams import arrow, box, brace, cells, dial, hand, label, light, note, sector
from utils.show.diagrams import sheet
from utils.show.diagrams.sheet import DIM
from utils.show.plotting import COLOURS


def stream() -> Axes:
    """Draw one position's residual stream: each sublayer reads a copy, and adds to it."""
    ax = sheet(6.9)
    level = 5.0
    before = cells(ax, (0.3, level - 0.85), [["1"], ["0"]], role="state", size=(0.9, 0.85))
    label(ax, before, "top", "$x$")
    names = ("look", "think", "look", "think")
    ends = [before.at("right")[0]]
    for i, name in enumerate(names):
        x = 2.35 + 3.2 * i
        norm = box(ax, (x - 0.65, 3.0), "norm", (1.3, 0.85))
        layer = box(ax, (x - 0.65, 1.0), name, (1.5, 0.85))
        arrow(ax, (x, level), norm.at("bottom"))
        arrow(ax, norm.at("top"), (x, layer.at("bottom")[1]))
        arrow(ax, (x + 0.85, 1.42), (x + 1.75, level - 0.3), bend=0.2)
        note(ax, (x + 1.75, level), "+", weight="bold")
        ends += [x + 1.5, x + 2.0]
    ends.append(15.9)
    for start, end in zip(ends[::2], ends[1::2], strict=True):
        arrow(ax, (start, level), (end, level), role="state", weight=0.35)
    for block, at in (("block 1", 4.4), ("block 2", 10.8)):
        note(ax, (at, 0.4), block, weight="bold")
    note(ax, (8.0, 6.2), "the stream: nothing on it but sums")
    return ax


def norms(rows: dict[str, Sequence[float]]) -> Axes:
    """Draw layer norm on numbers: take away each row's mean, then divide by its deviation."""
    x = torch.tensor(list(rows.values()))  # (n, 4)
    centred = x - x.mean(dim=1, keepdim=True)
    sizes = centred.square().mean(dim=1, keepdim=True).sqrt()
    ax = sheet(1.9 + 0.85 * len(x) + 1.1)
    parts = (x, "$x$"), (centred, r"$x - \mu$"), (centred / sizes, r"$(x - \mu)\,/\,\sigma$")
    blocks = []
    for i, (numbers, name) in enumerate(parts):
        strength = (numbers.abs() / numbers.abs().amax(dim=1, keepdim=True)).clamp(0, 1)
        at = (1.55 + 5.05 * i, 1.5)
        blocks.append(cells(ax, at, numbers, role="state", weights=strength, size=(1.0, 0.85)))
        label(ax, blocks[-1], "top", name, weight="bold")
    label(ax, blocks[0], "left", *rows)
    for start, end in zip(blocks, blocks[1:], strict=False):
        arrow(ax, start.at("right"), end.at("left"))
    means = ", ".join(f"{mean:g}" for mean in x.mean(dim=1).tolist())
    divisors = ", ".join(f"{size:.3g}" for size in sizes[:, 0].tolist())
    label(ax, blocks[1], "bottom", f"means {means}")
    label(ax, blocks[2], "bottom", rf"$\sigma$ = {divisors}")
    return ax


def desks(W_1, b_1, W_2, bits) -> Axes:
    """Draw a feed-forward layer at four positions: the same small network, each for itself."""
    hidden = (bits @ W_1.T + b_1).relu()
    out = hidden @ W_2.T
    ax = sheet(8.4)
    for i, (x, h, y) in enumerate(zip(bits, hidden, out, strict=True)):
        middle = 4.3 + 3.3 * i
        below = cells(ax, (middle - 1.05, 6.5), x[None], role="state", weights=0.6)
        between = cells(ax, (middle - 1.05, 3.7), h[None], role="query", weights=0.35)
        above = cells(ax, (middle - 0.525, 0.9), y[None], role="value", weights=0.6)
        arrow(ax, below.at("top"), between.at("bottom"))
        arrow(ax, between.at("top"), above.at("bottom"))
        note(ax, (middle, 7.9), f"position {i}")
    for y, text in ((1.3, "out"), (4.1, "hidden"), (6.9, "two bits")):
        note(ax, (0.3, y), text, align="left", weight="bold")
    note(ax, (0.3, 5.5), "$W_1$, ReLU", align="left")
    note(ax, (0.3, 2.7), "$W_2$", align="left")
    return ax


def residuals() -> Axes:
    """Draw a block in post-norm and in pre-norm beside each other."""
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
    """Draw encoder and decoder, what enters them, and what flows from one to the other."""
    ax = sheet(12.6)
    left, right = 3.6, 11.6
    wide = (5.6, 0.85)

    def tower(x, names, foot):
        blocks, y = [], foot
        for name in names:
            blocks.append(box(ax, (x - wide[0] / 2, y - 1.65), name, wide))
            arrow(ax, (x, y), (x, y - 0.8), role="state", weight=0.25)
            y -= 1.65
        return blocks

    foot = 10.4
    encoder = tower(left, ("self-attention", "feed-forward"), foot)
    decoder = tower(right, ("causal self-attention", "look at the source", "feed-forward"), foot)
    light(ax, decoder[1])
    for x, blocks in ((left, encoder), (right, decoder)):
        note(ax, (x + 3.2, blocks[0].y - 0.3), r"$\times L$")
    words = source.split()
    memory = cells(
        ax, (left - 0.6 * len(words), 4.6), [[""] * len(words)] * 2, role="state", size=(1.2, 0.5)
    )
    arrow(ax, encoder[-1].at("top"), memory.at("bottom"), role="state", weight=0.25)
    label(ax, memory, "top", "what the encoder found: (S, D)")
    start = memory.at("right")
    arrow(ax, (start[0], start[1] - 0.1), decoder[1].at("left"), role="key", weight=0.2)
    arrow(
        ax, (start[0], start[1] + 0.2), (decoder[1].x, decoder[1].y + 0.7), role="value", weight=0.2
    )
    note(ax, (8.0, 7.35), "keys and\nvalues")
    for x, texts in ((left, words), (right, read)):
        note(ax, (x, foot + 1.25), "   ".join(texts))
        note(ax, (x, foot + 0.45), "vectors + clocks")
    note(ax, (left, 12.25), "source", weight="bold")
    note(ax, (right, 12.25), "what the decoder reads", weight="bold")
    top = decoder[-1].at("top")
    out = box(ax, (right - wide[0] / 2, top[1] - 1.85), "norm, then logits", wide)
    arrow(ax, top, out.at("bottom"), role="state", weight=0.25)
    note(ax, (right, out.y - 1.1), "   ".join(said), weight="bold")
    arrow(ax, out.at("top"), (right, out.y - 0.75))
    note(ax, (right, out.y - 1.75), "what it says")
    return ax


def target(read: Sequence[str], said: Sequence[str]) -> Axes:
    """Draw teacher forcing: at each place the decoder reads the true word before."""
    ax = sheet(6.6)
    size = (2.2, 0.85)
    places = [2.6 + 2.62 * i for i in range(len(read))]
    above, below = [], []
    for x, one, other in zip(places, said, read, strict=True):
        above.append(box(ax, (x, 1.0), one, size))
        below.append(box(ax, (x, 4.8), other, size, role="state"))
    for t, end in enumerate(above):
        for s, start in enumerate(below[: t + 1]):
            arrow(ax, start.at("top"), end.at("bottom"), weight=0.2 * (s == t))
    for one, other in zip(above, below[1:], strict=False):
        ax.plot(*zip(one.at("bottom"), other.at("top"), strict=True), color=DIM, ls=":", marker="")
    note(ax, (0.2, 1.4), "is to say", align="left", weight="bold")
    note(ax, (0.2, 5.2), "reads", align="left", weight="bold")
    note(ax, (8.6, 6.15), "the truth, one place later, whatever it would have said itself")
    return ax


def wave(omega: float, steps: int) -> Axes:
    """Draw a clock's hand at some positions, and the wave that its height makes."""
    ax = sheet(6.4)
    face = dial(ax, (2.75, 3.2), 2.0)
    for m in range(steps):
        hand(ax, face, m * omega, dashed=m > 0, role="query")
    left, width = 6.3, 9.2 / (steps - 1)
    fine = torch.linspace(0, steps - 1, 200)
    for shape, colour, style in ((torch.cos, COLOURS[0], "-"), (torch.sin, COLOURS[1], "--")):
        height = 3.2 - 2.0 * 0.88 * shape(omega * fine)
        ax.plot(left + width * fine, height, color=colour, ls=style, marker="", lw=2)
    for m in range(steps):
        at = left + width * m, 3.2 - 2.0 * 0.88 * math.cos(m * omega)
        ax.plot(*at, "o", color=COLOURS[0], ms=7)
        note(ax, (at[0], 5.6), str(m))
    arrow(ax, (2.75, 3.2 - 1.76), (left - 0.15, 3.2 - 1.76))
    note(ax, (2.75, 5.75), "one clock", weight="bold")
    note(ax, (10.9, 0.6), "how high: cosine —   how far right: sine - -")
    note(ax, (10.9, 6.15), "position")
    return ax


def turn(omega: float, p: int, k: int) -> Axes:
    """Draw a step of k positions as a turn, and as a matrix, on numbers."""
    ax = sheet(5.6)
    face = dial(ax, (2.4, 2.9), 1.75)
    sector(ax, face, p * omega, (p + k) * omega)
    hand(ax, face, p * omega, role="query", text=f"{p}", dashed=True)
    hand(ax, face, (p + k) * omega, role="query", text=f"{p + k}")
    angle = torch.tensor([p * omega, k * omega, (p + k) * omega], dtype=torch.float64)
    (sin_p, sin_k, sin_on), (cos_p, cos_k, cos_on) = angle.sin().tolist(), angle.cos().tolist()
    size = (1.5, 0.85)
    M = cells(ax, (6.2, 2.05), [[cos_k, sin_k], [-sin_k, cos_k]], weights=0.12, size=size)
    v = cells(ax, (10.2, 2.05), [[sin_p], [cos_p]], role="query", weights=0.3, size=size)
    on = cells(ax, (13.2, 2.05), [[sin_on], [cos_on]], role="query", weights=0.6, size=size)
    note(ax, (9.7, 2.9), "·", weight="bold")
    note(ax, (12.45, 2.9), "=", weight="bold")
    brace(ax, M, "top", "the same for every start")
    label(ax, M, "bottom", f"turn by {k}")
    label(ax, v, "bottom", f"position {p}")
    label(ax, on, "bottom", f"position {p + k}")
    return ax
