"""Day 1's pictures: one place, strides and frames, channels, what moves along, pooling, reach."""

from collections.abc import Sequence

import torch
from matplotlib.axes import Axes
from torch import Tensor
from torch.nn import functional as F

from utils.show.diagrams import arrow, box, cells, label, light, note, sheet
from utils.show.plotting import INK

LINE = {"color": INK, "linewidth": 1.4, "linestyle": "-", "marker": ""}
SMALL = (0.62, 0.62)


def one_place(x: Tensor, w: Tensor) -> Axes:
    """Draw the numbers of the first step. Shapes: x (H, W), w (K, K)."""
    K = len(w)
    y = F.conv2d(x[None, None], w[None, None])[0, 0]
    ax = sheet(4.7)
    size = (0.85, 0.75)
    tint = 0.2 * torch.ones_like(x)
    tint[:K, :K] = 1
    picture = cells(ax, (0.4, 1.0), x, role="query", weights=0.75 * tint, size=size)
    kernel = cells(ax, (6.3, 1.35), w, role="key", weights=0.6, size=size)
    seen = torch.full_like(y, 0.0)
    seen[0, 0] = 0.8
    numbers = [[f"{y[0, 0]:g}" if (i, j) == (0, 0) else "" for j in range(y.shape[1])]
               for i in range(y.shape[0])]  # fmt: skip
    maps = cells(ax, (11.3, 1.35), numbers, role="value", weights=seen, size=size)
    light(ax, picture[:K, :K], margin=0.04)
    note(ax, ((picture.at("right")[0] + kernel.x) / 2, kernel.middle[1]), "times", weight="bold")
    arrow(ax, kernel.at("right"), maps.at("left"))
    for block, name in ((picture, "picture"), (kernel, "kernel"), (maps, "map")):
        label(ax, block, "top", name, weight="bold")
    window = x[:K, :K].flatten().tolist()
    terms = [f"{p:g}·{v:g}" for p, v in zip(window, w.flatten().tolist(), strict=True)]
    said = " + ".join(terms) + f" = {y[0, 0]:g}"
    note(ax, (8.0, 4.2), said.replace("-", "−"))
    return ax


def settings() -> Axes:
    """Draw where a 3×3 kernel starts: as it is, with a frame, with a jump, spread apart."""
    ax = sheet(8.3)
    ways = {  # size, padding, stride, dilation
        "plain": (5, 0, 1, 1),
        "padding 1": (5, 1, 1, 1),
        "stride 2, padding 1": (5, 1, 2, 1),
        "dilation 2": (5, 0, 1, 2),
    }
    for i, (name, (size, p, s, d)) in enumerate(ways.items()):
        left, top = 0.4 + 8.0 * (i % 2), 0.95 + 4.15 * (i // 2)
        side, cell = size + 2 * p, (0.42, 0.42)
        inner = torch.zeros(side, side, dtype=torch.bool)
        inner[p : side - p, p : side - p] = True
        met = torch.zeros(side, side)
        met[: 2 * d + 1 : d, : 2 * d + 1 : d] = 0.85
        where = (left + 0.42 * (1 - p), top + 0.42 * (1 - p))
        dots = [["" if inside else "0" for inside in line] for line in inner.tolist()]
        grid = cells(ax, where, [[""] * side] * side, role="key", weights=met, size=cell)
        for a, line in enumerate(dots):
            for b, text in enumerate(line):
                if text:
                    middle = grid[a, b].middle
                    ax.plot(*middle, marker="o", markersize=2.4, color=INK)
        light(ax, grid[p : side - p, p : side - p], margin=0.02)
        out = (side - d * 2 - 1) // s + 1
        seen = torch.zeros(out, out)
        seen[0, 0] = 0.8
        maps = cells(
            ax, (left + 5.2, top + 0.6), [[""] * out] * out, role="value", weights=seen, size=cell
        )
        arrow(ax, (left + 3.6, maps.middle[1]), maps.at("left"))
        note(ax, (left, top - 0.5), name, align="left", weight="bold")
        label(ax, maps, "bottom", f"{out} × {out}")
    return ax


def channels() -> Axes:
    """Draw how three channels become one map, and two kernels two maps."""
    ax = sheet(10.6)
    pictures = []
    for c in range(3):
        place = 1.9, 1.4 + 3.1 * c
        block = cells(ax, place, [[""] * 4] * 3, role="query", weights=0.3, size=SMALL)
        light(ax, block[0:2, 0:2], margin=0.03)
        label(ax, block, "left", ("red", "green", "blue")[c])
        pictures.append(block)
    for o in range(2):
        role, side = f"head {o}", ("top", "bottom")[o]
        kernels = [
            cells(ax, (6.6, 0.9 + 1.45 * o + 3.1 * c), [[""] * 2] * 2, role=role, size=SMALL)
            for c in range(3)
        ]
        label(ax, kernels[-o], side, f"kernel {o + 1}")
        maps = cells(ax, (13.2, 2.3 + 4.2 * o), [[""] * 3] * 2, role=role, weights=0.5, size=SMALL)
        label(ax, maps, "bottom", f"map {o + 1}")
        plus = (11.4, maps.middle[1])
        for picture, kernel in zip(pictures, kernels, strict=True):
            arrow(ax, picture.at("right"), kernel.at("left"))
            arrow(ax, kernel.at("right"), (plus[0] - 0.6, plus[1]))
        note(ax, plus, "+ $b$", weight="bold")
        arrow(ax, (plus[0] + 0.55, plus[1]), maps.at("left"))
    note(ax, (3.15, 0.4), "picture (C, H, W)", weight="bold")
    note(ax, (14.1, 1.3), "maps", weight="bold")
    return ax


def moved_along(x: Tensor, w: Tensor) -> Axes:
    """Draw a row of pixels and its map, before and after a move by one, at strides 1 and 2.

    Shapes: x (T,), its last number 0; w (K,).
    """
    ax = sheet(8.4)
    for i, stride in enumerate((1, 2)):
        top = 1.15 + 3.95 * i
        note(ax, (0.3, top - 0.65), f"stride {stride}", align="left", weight="bold")
        for k, row in enumerate((x, x.roll(1))):
            y = F.conv1d(row[None, None], w[None, None], stride=stride)[0]
            at = top + 1.45 * k
            ink, found = 0.5 * row[None].clamp(0, 1), 0.5 * (y != 0)
            size = (0.85, 0.75)
            picture = cells(ax, (2.0, at), row[None], role="query", weights=ink, size=size)
            maps = cells(ax, (9.9, at), y, role="value", weights=found, size=size)
            arrow(ax, picture.at("right"), maps.at("left"))
            label(ax, picture, "left", ("still", "moved")[k])
    return ax


def pooled(x: Tensor) -> Axes:
    """Draw max pooling over windows of 2×2, and the mean of a whole map. Shapes: x (4, 4)."""
    ax = sheet(4.5)
    size = (0.95, 0.8)
    tint = torch.zeros(4, 4)
    y = F.max_pool2d(x[None], 2)[0]
    for i in range(2):
        for j in range(2):
            window = x[2 * i : 2 * i + 2, 2 * j : 2 * j + 2]
            tint[2 * i : 2 * i + 2, 2 * j : 2 * j + 2] = (window == window.max()).float()
    whole = cells(ax, (5.9, 0.9), x, role="query", weights=0.65 * tint, size=size)
    small = cells(ax, (12.6, 1.7), y, role="value", weights=0.5, size=size)
    mean = cells(ax, (1.0, 2.1), [[x.mean().item()]], role="state", size=(1.3, 0.8))
    for k in (1, 2, 3):
        width = 3.2 if k == 2 else 1.0
        for a, b in (((5.9 + 0.95 * k,) * 2, (0.9, 4.1)), ((5.9, 9.7), (0.9 + 0.8 * k,) * 2)):
            ax.plot(a, b, color=INK, linewidth=width, linestyle="-", marker="")
    arrow(ax, whole.at("right"), small.at("left"), text="max")
    arrow(ax, whole.at("left"), mean.at("right"), text="mean")
    label(ax, whole, "top", "map")
    label(ax, small, "top", "pooled")
    label(ax, mean, "top", "one number")
    return ax


def reach(strides: Sequence[int] = (1, 1, 1), dilations: Sequence[int] = (1, 1, 1)) -> Axes:
    """Draw layers of width 3 above a row of steps, and what the unit on top sees.

    strides, dilations: of each layer from below.
    """
    n, steps = len(strides), [1]
    for stride in strides[:-1]:
        steps.append(steps[-1] * stride)
    sees = [{0}]  # offsets in steps of the input, from the top down
    for dilation, step in zip(reversed(dilations), reversed(steps), strict=True):
        sees.append({place + k * dilation * step for place in sees[-1] for k in (-1, 0, 1)})
    sees = sees[::-1]
    half = max(sees[0])
    ax = sheet(1.5 * n + 2.1)
    pitch = 15.0 / (2 * half + 3)
    size = (0.8 * pitch, 0.62)

    def middle(place: int) -> float:
        return 8 + pitch * place

    for level in range(n + 1):
        y = 0.55 + 1.5 * (n - level)
        shown = range(-half - 1, half + 2) if level == 0 else sorted(sees[level])
        for place in shown:
            how = {"role": "value" if level else "query", "weights": 0.75 * (place in sees[level])}
            cells(ax, (middle(place) - size[0] / 2, y), [[""]], **how, size=size)
        if level:
            gap = dilations[level - 1] * steps[level - 1]
            for place in sees[level]:
                for k in (-1, 0, 1):
                    ends = (middle(place), middle(place + k * gap)), (y + 0.62, y + 1.5)
                    ax.plot(*ends, color=INK, linewidth=0.8, linestyle="-", marker="", zorder=0.8)
    width = pitch * (2 * half + 1) - 0.2 * pitch
    y = 0.55 + 1.5 * n + 0.75
    left = 8 - width / 2
    ax.plot([left, left, left + width, left + width], [y, y + 0.15, y + 0.15, y], **LINE)
    note(ax, (8, y + 0.5), f"sees {2 * half + 1}")
    return ax


def roads() -> Axes:
    """Draw a residual block, and the road of the gradient back around it."""
    ax = sheet(4.6)
    y = 2.9
    start = box(ax, (0.4, y - 0.45), "$x$", (1.0, 0.9))
    first = box(ax, (3.2, y - 0.45), "conv", (2.0, 0.9), role="key")
    bend = box(ax, (6.0, y - 0.45), "ReLU", (1.7, 0.9))
    second = box(ax, (8.5, y - 0.45), "conv", (2.0, 0.9), role="key")
    last = box(ax, (13.0, y - 0.45), "ReLU", (1.7, 0.9))
    for one, other in ((start, first), (first, bend), (bend, second)):
        arrow(ax, one.at("right"), other.at("left"))
    arrow(ax, second.at("right"), (11.5, y))
    note(ax, (11.75, y), "+", weight="bold")
    arrow(ax, (12.0, y), last.at("left"))
    arrow(ax, last.at("right"), (15.7, y))
    ax.plot([2.3, 2.3, 11.75], [y, 1.2, 1.2], **LINE)
    arrow(ax, (11.75, 1.2), (11.75, y - 0.3))
    arrow(ax, (11.2, 0.7), (2.9, 0.7), role="gradient", weight=0.3)
    note(ax, (7.0, 1.65), "the road around")
    note(ax, (2.6, 0.7), "gradient", align="right")
    note(ax, (6.85, 4.1), "the convolutions' output, $f(x)$")
    return ax


def marks(lines: Tensor) -> Axes:
    """Draw lines with two marks, a circle and a square. Shapes: lines (n, 2, T)."""
    n, _, T = lines.shape
    ax = sheet(1.1 * n + 0.5)
    for i, line in enumerate(lines.int().tolist()):
        y, size = 0.4 + 1.1 * i, (15 / T, 0.75)
        cells(ax, (0.5, y), [[""] * T], size=size)
        for sign, role, row in zip("○□", ("query", "key"), line, strict=True):
            place = 0.5 + size[0] * row.index(1), y
            cells(ax, place, [[sign]], role=role, weights=0.4, size=size)
    return ax


def card(x: Tensor, w: Tensor) -> Axes:
    """Draw a kernel, and three places on its way over a picture. Shapes: x (H, W), w (K, K)."""
    H, W = x.shape
    K = len(w)
    y = F.conv2d(x[None, None], w[None, None])[0, 0]
    ax = sheet(4.3)
    cell = (0.46, 0.5)
    kernel = cells(ax, (0.3, 1.35), w, role="key", weights=0.6, size=(0.62, 0.62))
    label(ax, kernel, "bottom", "the card")
    places = [(0, 0), (0, 1), (H - K, W - K)]
    for n, (row, column) in enumerate(places):
        left = 2.15 + 4.7 * n
        picture = cells(ax, (left, 0.7), [[""] * W] * H, role="query", weights=0.75 * x, size=cell)
        light(ax, picture[row : row + K, column : column + K], margin=0.05)
        done = [[i * y.shape[1] + j <= row * y.shape[1] + column for j in range(y.shape[1])]
                for i in range(y.shape[0])]  # fmt: skip
        strength = 0.8 * y.abs() / y.abs().max() * torch.tensor(done)
        maps = cells(ax, (left + 2.55, 1.2), [[""] * y.shape[1]] * y.shape[0], role="value",
                     weights=strength, size=cell)  # fmt: skip
        label(ax, maps, "bottom", ("first", "next", "… last")[n])
    return ax
