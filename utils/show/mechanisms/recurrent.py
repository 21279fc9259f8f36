"""Day 2's pictures: cards, unrolling, one step in numbers, both kinds of arrows, cuts, kinds."""

import math

import torch
from matplotlib.axes import Axes
from torch import Tensor

from utils.show.diagrams import arrow, box, cells, label, light, note, sheet
from utils.show.plotting import INK

SIDE = (1.1, 0.9)  # of a box
LINE = {"color": INK, "linewidth": 1.4, "linestyle": "-", "marker": ""}


def card(*words: str) -> Axes:
    """Draw a state that each letter of a word rewrites, and beside the last a bag of its letters.

    All words share the weights, which are random, and begin with the same empty state.
    """
    draw = torch.Generator().manual_seed(4)
    W_x, W_h = (torch.randn(4, 4, generator=draw, dtype=torch.float64) for _ in range(2))
    letters = sorted(set("".join(words)))
    size = {"size": (1.15, 0.75)}
    ax = sheet(3.75 * len(words) + 1.0)
    for row, word in enumerate(words):
        h, y = torch.zeros(4, dtype=torch.float64), 1.0 + 3.75 * row
        now = cells(ax, (0.5, y), h[:, None], role="state", weights=0, **size)
        for letter in word:
            h = torch.tanh(0.7 * (W_x[:, letters.index(letter)] + W_h @ h))
            before, x = now, now.x + 3.3
            now = cells(ax, (x, y), h[:, None], role="state", weights=h[:, None].abs(), **size)
            arrow(ax, before.at("right"), now.at("left"), text=f"reads {letter}")
        light(ax, now)
        counts = torch.tensor([[word.count(letter)] for letter in letters])
        bag = cells(ax, (14.2, y + 1.5 - 0.375 * len(letters)), counts, **size)
        label(ax, bag, "left", *letters)
        if not row:
            for block, name in ((now, "last state"), (bag, "bag")):
                note(ax, (block.middle[0], 0.5), name, weight="bold")
    return ax


def unrolled(word: str) -> Axes:
    """Draw a recurrent layer as it is built, and unrolled over the letters of a word."""
    ax, before = sheet(5.6), None
    for i, letter in enumerate(["$x_t$", *word]):
        index, x = ("t", 1.0) if not i else (str(i - 1), 2.9 + 3.0 * i)
        state = box(ax, (x, 2.35), f"$h_{index}$", SIDE, role="state")
        said = box(ax, (x, 0.2), f"$y_{index}$", SIDE)
        read = box(ax, (x, 4.5), letter, SIDE)
        arrow(ax, read.at("top"), state.at("bottom"), text="$W_x$")
        arrow(ax, state.at("top"), said.at("bottom"), text="$W_y$")
        if i > 1:
            arrow(ax, before.at("right"), state.at("left"), text="$W_h$")
        elif not i:
            x, y = state.at("right")
            ax.plot([x, 3.0, 3.0], [y - 0.3, y - 0.3, y + 0.3], **LINE)
            arrow(ax, (3.0, y + 0.3), (x, y + 0.3))
            note(ax, (3.15, 2.8), "$W_h$", align="left")
        before = state
    arrow(ax, (4.1, 2.8), (5.5, 2.8), text="unroll", dashed=True)
    return ax


def steps(word: str, x: Tensor, W_x: Tensor, W_h: Tensor) -> Axes:
    """Draw the numbers of each step. Shapes: x (T, 1), W_x (2, 1), W_h (2, 2)."""
    h, size = torch.zeros(2, 1), (1.15, 0.75)
    ax = sheet(2.35 * len(word) + 0.95)
    for t, letter in enumerate(word):
        y = 0.9 + 2.35 * t
        inside = W_x @ x[t, :, None] + W_h @ h
        parts = [(1.0, W_x, None), (2.45, x[t, :, None], None)]
        parts += [(4.4, W_h, None), (7.0, h, "state"), (9.0, inside, None)]
        drawn = []
        for column, numbers, role in parts:
            low = y + (2 - len(numbers)) * size[1] / 2
            tint = numbers.abs().clamp(max=1) if role else None
            drawn.append(cells(ax, (column, low), numbers, role=role, weights=tint, size=size))
        for column, sign in ((3.98, "+"), (8.57, "=")):
            note(ax, (column, y + size[1]), sign)
        h = inside.tanh()
        new = cells(ax, (13.0, y), h, role="state", weights=h.abs(), size=size)
        arrow(ax, drawn[4].at("right"), new.at("left"), text="tanh")
        label(ax, new, "right", f"$h_{t}$")
        note(ax, (0.45, y + size[1]), letter, weight="bold")
        if not t:
            for block, name in zip(drawn, ("$W_x$", "$x_t$", "$W_h$", "$h_{t-1}$"), strict=False):
                label(ax, block, "top", name)
        if t < len(word) - 1:
            end = 7.575, y + 2.35
            ax.plot([13.575, 13.575, end[0], end[0]], [y + 1.5, y + 1.93, y + 1.93, end[1]], **LINE)
            arrow(ax, (end[0], end[1] - 0.25), end)
    return ax


def padded(words: list[str]) -> Axes:
    """Draw a batch of words, filled up behind their ends; the last real letters are framed."""
    T = max(map(len, words))
    ax = sheet(1.05 * len(words) + 1.0)
    note(ax, (13.0, 0.5), "lengths", weight="bold")
    for i, word in enumerate(words):
        texts, y = [[*word, *[""] * (T - len(word))]], 0.9 + 1.05 * i
        hatched = torch.arange(T)[None] >= len(word)
        row = cells(ax, (2.2, y), texts, hatched=hatched, size=(1.1, 0.85))
        light(ax, row[0, len(word) - 1], margin=0.04)
        note(ax, (13.0, y + 0.42), str(len(word)))
    return ax


def both_arrows(word: str) -> Axes:
    """Draw what goes forward through an unrolled network, and the gradients that come back."""
    ax, boxes = sheet(6.9), []
    for t, letter in enumerate(word):
        x = 2.0 + 4.6 * t
        loss = box(ax, (x, 0.9), rf"$\ell_{t}$", SIDE)
        state = box(ax, (x, 3.2), f"$h_{t}$", SIDE, role="state")
        read = box(ax, (x, 5.6), letter, SIDE)
        _there_and_back(ax, state.at("top"), loss.at("bottom"))
        _there_and_back(ax, read.at("top"), state.at("bottom"))
        note(ax, (x + 1.05, 5.0), rf"$\delta_{t}$", align="left")
        boxes.append(state)
    for t, (one, next_) in enumerate(zip(boxes[:-1], boxes[1:], strict=True)):
        _there_and_back(ax, one.at("right"), next_.at("left"))
        note(ax, (one.x + 2.85, 4.35), rf"$W_h^\top \delta_{t + 1}$")
        note(ax, (one.x + 2.85, 3.0), "$W_h$")
    note(ax, (x + 1.05, 2.05), r"$W_y^\top \partial\ell/\partial y$", align="left")
    arrow(ax, (1.2, 0.4), (3.0, 0.4))
    note(ax, (3.2, 0.4), "forward", align="left")
    arrow(ax, (8.0, 0.4), (6.2, 0.4), role="gradient", weight=0.12)
    note(ax, (8.2, 0.4), "the gradient, back", align="left")
    return ax


def back_in_numbers(inputs: tuple[float, float], w: float) -> Axes:
    """Draw two steps of a unit with W_h = w; the loss is half the square of its last state."""
    h_0 = math.tanh(inputs[0])
    h_1 = math.tanh(w * h_0 + inputs[1])
    delta_1 = (1 - h_1**2) * h_1
    delta_0 = (1 - h_0**2) * w * delta_1
    ax, size, boxes = sheet(6.9), (1.7, 0.9), []
    for t, (x, h, delta) in enumerate(zip(inputs, (h_0, h_1), (delta_0, delta_1), strict=True)):
        left = 2.6 + 7.4 * t
        state = box(ax, (left, 3.2), f"{h:.2f}", size, role="state")
        read = box(ax, (left, 5.6), f"{x:g}", size)
        _there_and_back(ax, read.at("top"), state.at("bottom"))
        beside = (left + 1.9, "left") if t else (left - 0.2, "right")
        note(ax, (beside[0], 3.65), f"$h_{t}$", align=beside[1])
        note(ax, (left - 0.2, 6.05), f"$x_{t}$", align="right")
        note(ax, (left + 1.3, 5.0), rf"$\delta_{t}$ = {delta:.2f}", align="left")
        boxes.append(state)
    loss = box(ax, (10.0, 0.9), f"{h_1**2 / 2:.2f}", size)
    note(ax, (9.8, 1.35), "loss", align="right")
    _there_and_back(ax, boxes[1].at("top"), loss.at("bottom"))
    _there_and_back(ax, boxes[0].at("right"), boxes[1].at("left"))
    note(ax, (7.15, 3.0), f"× {w:g}")
    note(ax, (7.15, 4.35), f"× {w:g}")
    return ax


def truncated() -> Axes:
    """Draw two chunks of a long text: the state goes on, the gradient stops between them."""
    ax, boxes, chunk = sheet(5.0), [], 3
    for t in range(2 * chunk):
        x = 0.45 + 2.55 * t + (0.35 if t >= chunk else 0)
        boxes.append(box(ax, (x, 2.1), f"$h_{t}$", SIDE, role="state"))
        read = box(ax, (x, 3.9), f"$x_{t}$", SIDE)
        arrow(ax, read.at("top"), boxes[-1].at("bottom"))
    for t, (one, next_) in enumerate(zip(boxes[:-1], boxes[1:], strict=True)):
        start, end = one.at("right"), next_.at("left")
        if t == chunk - 1:
            arrow(ax, start, end)
            cut = (start[0] + end[0]) / 2
            ax.plot([cut, cut], [0.9, 4.9], **{**LINE, "linestyle": (0, (4, 3))})
            note(ax, (cut, 0.5), "detach", weight="bold")
        else:
            _there_and_back(ax, start, end)
    for part in (boxes[:chunk], boxes[chunk:]):
        middle = part[len(part) // 2].middle[0]
        note(ax, (middle, 1.5), "one backward pass")
    return ax


def passed_on(factors: tuple[float, ...]) -> Axes:
    """Draw 1, multiplied again and again by each of some factors."""
    ax, times = sheet(1.75 * len(factors) + 0.5), 8
    for i, factor in enumerate(factors):
        numbers = [factor**k for k in range(times + 1)]
        tints = [[min(1.0, number / 2) for number in numbers]]
        row = cells(
            ax, (2.0, 0.85 + 1.75 * i), [numbers], role="gradient", weights=tints, size=(1.5, 0.85)
        )
        label(ax, row, "left", f"× {factor:g}")
        if not i:
            label(ax, row, "top", "now", *(str(k) for k in range(1, times + 1)))
    return ax


def directions(word: str) -> Axes:
    """Draw a layer that reads a word from both ends, and a layer above it."""
    ax = sheet(8.2)
    rows = {"ahead": 4.8, "back": 3.2, "above": 1.0}
    boxes = {name: [] for name in rows}
    for t, letter in enumerate(word):
        x = 3.2 + 4.2 * t
        read = box(ax, (x + 0.75, 7.0), letter, SIDE)
        ahead = box(ax, (x, rows["ahead"]), "", SIDE, role="state")
        back = box(ax, (x + 1.5, rows["back"]), "", SIDE, role="value")
        above = box(ax, (x + 0.75, rows["above"]), "", SIDE, role="key")
        for state in (ahead, back):
            arrow(ax, read.at("top"), state.at("bottom"))
            arrow(ax, state.at("top"), above.at("bottom"))
        for name, state in (("ahead", ahead), ("back", back), ("above", above)):
            boxes[name].append(state)
    for one, other in zip(boxes["ahead"][:-1], boxes["ahead"][1:], strict=True):
        arrow(ax, one.at("right"), other.at("left"))
    for one, other in zip(boxes["back"][:-1], boxes["back"][1:], strict=True):
        arrow(ax, other.at("left"), one.at("right"))
    for one, other in zip(boxes["above"][:-1], boxes["above"][1:], strict=True):
        arrow(ax, one.at("right"), other.at("left"))
    for name, told in (("ahead", "forwards"), ("back", "backwards"), ("above", "above")):
        note(ax, (0.2, rows[name] + 0.45), told, align="left")
    return ax


def kinds() -> Axes:
    """Draw the four ways in which sequences go in and come out."""
    ax = sheet(9.6)
    told = {  # inputs and outputs at each step
        "many to one": ([1, 1, 1], [0, 0, 1], "a word → its language"),
        "one to many": ([1, 0, 0], [1, 1, 1], "a picture → its name"),
        "many to many, in step": ([1, 1, 1], [1, 1, 1], "letters → the next letters"),
        "first read, then write": ([1, 1, 0, 0], [0, 0, 1, 1], "307 → three hundred seven"),
    }
    for i, (name, (inputs, outputs, example)) in enumerate(told.items()):
        left, top = 0.5 + 8.1 * (i % 2), 0.4 + 4.8 * (i // 2)
        note(ax, (left, top), name, align="left", weight="bold")
        before = None
        for t, (has_input, has_output) in enumerate(zip(inputs, outputs, strict=True)):
            x = left + 1.75 * t
            state = box(ax, (x, top + 1.65), "", (0.8, 0.6), role="state")
            if before is not None:
                arrow(ax, before.at("right"), state.at("left"))
            if has_input:
                read = box(ax, (x, top + 2.8), "", (0.8, 0.6))
                arrow(ax, read.at("top"), state.at("bottom"))
            if has_output:
                said = box(ax, (x, top + 0.5), "", (0.8, 0.6), role="value")
                arrow(ax, state.at("top"), said.at("bottom"))
            before = state
        note(ax, (left, top + 3.9), example, align="left", style="italic")
    return ax


def _there_and_back(ax: Axes, start: tuple, end: tuple) -> None:
    """Draw an arrow and, beside it, the gradient's way back."""
    upright = start[0] == end[0]
    dx, dy = (0.2, 0) if upright else (0, 0.2)
    arrow(ax, (start[0] - dx, start[1] - dy), (end[0] - dx, end[1] - dy))
    back = (end[0] + dx, end[1] + dy), (start[0] + dx, start[1] + dy)
    arrow(ax, *back, role="gradient", weight=0.12)
