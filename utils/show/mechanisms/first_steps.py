"""Day 0's larger pictures: the loop, one step, a dense layer and its slopes, a graph."""

import itertools

import numpy as np
import torch
from matplotlib.axes import Axes
from torch import Tensor

from utils.show.diagrams import ROLE, arrow, box, cells, label, light, note, sheet
from utils.show.plotting import COLOURS, INK


def loop() -> Axes:
    """Draw the four parts of a step, and the road from the last back to the first."""
    ax = sheet(4.0)
    parts = ("forward", "scores"), ("loss", "how wrong?"), ("backward", "which way\nis down?")
    parts += (("step", "new numbers"),)
    roles = None, None, "gradient", None
    blocks = []
    for i, ((name, told), role) in enumerate(zip(parts, roles, strict=True)):
        block = box(ax, (0.5 + 4.1 * i, 1.7), name, (2.7, 1.0), role=role)
        label(ax, block, "bottom", told)
        if blocks:
            arrow(ax, blocks[-1].at("right"), block.at("left"))
        blocks.append(block)
    arrow(ax, blocks[-1].at("top"), blocks[0].at("top"), bend=-0.08)
    note(ax, (8.0, 0.35), "again", weight="bold")
    return ax


def one_step() -> Axes:
    """Draw a loss over one weight, its slope at one point, and the step that follows from it."""
    ax, start, learning_rate = sheet(6.6), 0.9, 0.3

    def at(w, loss):
        return 8 + 6 * w, 5.4 - 4.4 * loss

    def slope_line(w):
        return start**2 + 2 * start * (w - start)

    w = np.linspace(-1.05, 1.02, 100)
    ax.plot(*at(w, w**2), color=COLOURS[0], linewidth=2.5, linestyle="-")
    near = np.array([start - 0.4, start + 0.11])
    ax.plot(*at(near, slope_line(near)), color=ROLE["gradient"], linewidth=2.5, linestyle="--")
    end = start - learning_rate * 2 * start
    for place in (start, end):
        ax.plot(*at(place, place**2), color=INK, marker="o", markersize=9)
        ax.plot(*zip(at(place, place**2), at(place, 0), strict=True), color=INK, linestyle=":")
    arrow(ax, at(start, -0.05), at(end, -0.05), weight=0.2)
    ax.plot((0.6, 15.4), (5.4, 5.4), color=INK, linewidth=1.2, linestyle="-", marker="")
    note(ax, (at((start + end) / 2, 0)[0], 6.15), "step = learning rate · slope")
    note(ax, (at(start, 0)[0] - 0.5, 1.2), "slope", align="right", weight="bold")
    note(ax, (1.2, 5.05), "weight $w$", align="left")
    note(ax, (2.6, 0.7), "loss", align="left")
    return ax


def walks() -> Axes:
    """Draw the same walk over w² with two learning rates, side by side."""
    ax = sheet(6.2)
    for middle, rate, start in zip((4.0, 12.0), (0.2, 1.1), (1.0, 0.5), strict=True):
        places = start * (1 - 2 * rate) ** np.arange(5)
        w = np.linspace(-1.1, 1.1, 100)
        ax.plot(middle + 3.1 * w, 5.7 - 3.8 * w**2, color=COLOURS[0], linewidth=2.5, linestyle="-")
        points = np.stack([middle + 3.1 * places, 5.7 - 3.8 * places**2], axis=1)
        ax.plot(*points.T, color=INK, marker="o", markersize=8, linestyle="")
        for near, far in itertools.pairwise(points):
            arrow(ax, tuple(near), tuple(far))
        note(ax, (middle, 0.5), f"learning rate {rate:g}", weight="bold")
    return ax


def stretched() -> Axes:
    """Draw the sum of a column of three and a row of four: each is repeated until both fit."""
    column = torch.tensor([[10], [20], [30]])
    row = torch.tensor([[1, 2, 3, 4]])
    ax = sheet(4.4)
    blocks = []
    for left, numbers, own, role in (
        (0.2, column, (slice(None), 0), "key"),
        (5.6, row, 0, "query"),
    ):
        tint = torch.full((3, 4), 0.2)
        tint[own] = 1.0
        whole = numbers.expand(3, 4)
        blocks.append(cells(ax, (left, 1.2), whole, role=role, weights=tint))
        label(ax, blocks[-1], "top", "(3, 1)" if role == "key" else "(4,)")
    blocks.append(cells(ax, (11.2, 1.2), column + row))
    label(ax, blocks[-1], "top", "(3, 4)")
    for sign, one, other in zip("+=", blocks, blocks[1:], strict=False):
        between = (one.at("right")[0] + other.at("left")[0]) / 2
        note(ax, (between, one.middle[1]), sign, weight="bold")
    return ax


def layer(back: bool = False) -> Axes:
    """Draw a dense layer that turns four pixels into three scores; if back, its slopes too."""
    x = torch.tensor([[0.0, 1.0, 0.5, 1.0]])
    W = torch.tensor([[2.0, -1, 2, -1], [-1, 1, 1, 1], [0, 1, -1, 0]])  # (3, 4)
    size = {"size": (1.25, 0.85)}
    scores = x @ W.T
    ax = sheet(12.1 if back else 7.6)
    weights = cells(ax, (6.2, 1.5), W.T, weights=_spread(W.T), role="key", **size)
    pixels = cells(ax, (3.0, 1.5), x.T, role="query", weights=0.75 * x.T, **size)
    z = cells(ax, (6.2, 6.0), scores, **size)
    label(ax, pixels, "top", "$x$")
    label(ax, weights, "top", *"012")
    note(ax, (weights.middle[0], 0.45), "$W^\\top$, a column for each class")
    label(ax, pixels, "left", *(f"pixel {i}" for i in range(4)))
    label(ax, z, "left", "scores")
    arrow(ax, weights.at("bottom"), z.at("top"), text="" if back else "sums of weight · pixel")
    for i in range(4):
        arrow(ax, pixels[i, 0].at("right"), weights[i, 0].at("left"))
    if not back:
        light(ax, weights[:, 1])
        light(ax, z[0, 1])
        told = " + ".join(f"{p:g}·{w:g}" for p, w in zip(x[0], W[1], strict=True))
        note(ax, (10.0, 6.42), f"= {told}".replace("-", "−"), align="left")
        return ax
    return _slopes(ax, x, scores)


def _slopes(ax: Axes, x: Tensor, scores: Tensor) -> Axes:
    """Go on below a layer: its target, its error, and each weight's slope."""
    p = scores.softmax(dim=1)
    right, size = torch.tensor([[0.0, 0.0, 1.0]]), {"size": (1.25, 0.85)}
    said = cells(ax, (6.2, 8.1), p, weights=0.4 * p, **size)
    wanted = cells(ax, (6.2, 9.5), right, **size)
    error = cells(ax, (6.2, 10.9), p - right, role="gradient", weights=0.8, **size)
    arrow(ax, (8.075, 6.85), said.at("top"), text="softmax")
    for block, name in ((said, "prediction $p$"), (wanted, "target"), (error, "error")):
        label(ax, block, "left", name)
    slopes = cells(ax, (11.9, 1.5), x.T @ (p - right) + 0.0, role="gradient", weights=0.3, **size)
    note(ax, (slopes.middle[0], 0.45), "slopes")
    label(ax, slopes, "top", *"012")
    arrow(ax, error.at("right"), (slopes.middle[0], slopes.at("bottom")[1]), role="gradient")
    note(ax, (12.9, 8.5), "error · pixel", align="left", weight="bold")
    light(ax, slopes)
    return ax


def _spread(W: Tensor) -> Tensor:
    """How strongly a weight is coloured, by its size."""
    return 0.7 * W.abs() / W.abs().max()


def graph() -> Axes:
    """Draw L = (wx + b - y)² + ½w² as a graph, values forwards and slopes backwards."""
    ax = sheet(7.95)
    nodes = {"x": (0.4, 1.4, "x = 3", ""), "w": (0.4, 4.6, "w = 2", "6 + 2 = 8")}
    nodes |= {"b": (3.3, 0.4, "b = −1", "2"), "wx": (3.3, 3.0, "wx = 6", "2")}
    nodes |= {"y": (6.2, 0.4, "y = 4", ""), "ŷ": (6.2, 3.0, "ŷ = 5", "2")}
    nodes |= {"e": (8.9, 3.0, "e = 1", "2"), "e²": (11.4, 3.0, "e² = 1", "1")}
    nodes |= {"rent": (6.2, 6.4, "½w² = 2", "1"), "L": (13.85, 5.4, "L = 3", "1")}
    blocks = {}
    for name, (x, y, text, slope) in nodes.items():
        blocks[name] = box(ax, (x, y), text, (2.0, 0.95))
        if slope:
            label(ax, blocks[name], "bottom", slope, color=ROLE["gradient"], weight="bold")
    roads = "x>wx", "w>wx", "wx>ŷ", "b>ŷ", "ŷ>e", "y>e", "e>e²", "e²>L", "w>rent", "rent>L"
    for start, end in (road.split(">") for road in roads):
        arrow(ax, blocks[start].at("right"), blocks[end].at("left"))
    return ax
