"""Day 3's pictures: a road through time, valves, stacked blocks, two layers side by side."""

import math

import torch
from matplotlib.axes import Axes
from torch import Tensor

from utils.show.diagrams import arrow, box, cells, label, light, note, sheet

GATES = {"i": "query", "f": "value", "g": "key", "o": "head 1"}  # their colours
SIGN = (0.8, 0.8)  # of × and +


def road() -> Axes:
    """Draw four steps of a state that is made anew, and of a road with three gates at each."""
    ax = sheet(8.3)
    note(ax, (0.25, 0.5), "Yesterday: rewritten at each step", align="left", weight="bold")
    for t in range(4):
        state = box(ax, (0.6 + 3.9 * t, 1.1), f"$h_{t}$", (1.0, 0.9), role="state")
        if t < 3:
            wall = box(ax, (2.15 + 3.9 * t, 1.1), "W, tanh", (1.9, 0.9))
            arrow(ax, state.at("right"), wall.at("left"))
            arrow(ax, wall.at("right"), (4.5 + 3.9 * t, 1.55))
    note(ax, (0.25, 2.9), "Today: a road with gates", align="left", weight="bold")
    x = 0.3
    for t in range(3):
        across = box(ax, (x + 0.9, 4.6), "×", SIGN)
        joins = box(ax, (x + 2.4, 4.6), "+", SIGN)
        arrow(ax, (x, 5.0), across.at("left"), role="state", weight=0.6)
        arrow(ax, across.at("right"), joins.at("left"), role="state", weight=0.6)
        for sign, name, role in ((across, "f", "value"), (joins, "i", "query")):
            gate = box(ax, (sign.x, 6.2), f"${name}$", SIGN, role=role)
            arrow(ax, gate.at("top"), sign.at("bottom"))
        shown = box(ax, (x + 3.5, 6.2), "$o$", SIGN, role=GATES["o"])
        arrow(ax, (shown.middle[0], 5.15), shown.at("top"))
        arrow(ax, shown.at("bottom"), (shown.middle[0], 7.7), text=f"$h_{t + 1}$")
        arrow(ax, joins.at("right"), (x + 5.0, 5.0), role="state", weight=0.6)
        note(ax, (x + 4.2, 4.2), f"$c_{t + 1}$")
        x += 5.0
    return ax


def valve(z: Tensor, old: Tensor, new: Tensor) -> Axes:
    """Draw what a gate lets through, lane by lane. Shapes: all (N,)."""
    mixed = z * old + (1 - z) * new
    ax = sheet(1.1 + 1.6 * len(z))
    for x, name in ((2.0, "old"), (8.0, "mixture"), (14.0, "new")):
        note(ax, (x, 0.45), name, weight="bold")
    for k in range(len(z)):
        y = 1.25 + 1.6 * k
        left, middle, right = (
            cells(ax, (x - 0.7, y), numbers[k : k + 1, None], role="state", size=(1.4, 0.9))
            for x, numbers in ((2.0, old), (8.0, mixed), (14.0, new))
        )
        share = z[k].item()
        for block, side, end, part, told in (
            (left, "right", "left", share, f"$z$ = {share:g}"),
            (right, "left", "right", 1 - share, f"$1 - z$ = {1 - share:g}"),
        ):
            how = {"weight": part, "dashed": not part, "role": "state" if part else None}
            arrow(ax, block.at(side), middle.at(end), **how)
            note(ax, ((block.middle[0] + middle.middle[0]) / 2, y - 0.12), told)
    return ax


def carried(symbols: str, inputs: Tensor, w: float) -> Axes:
    """Draw a state that is rewritten at each step, and a cell that keeps what the first one wrote.

    inputs: (T,), what each symbol adds to the state; w: the weight of the old state.
    """
    h, states = torch.zeros(()), []
    for x in inputs:
        h = torch.tanh(w * h + x)
        states.append(h.item())
    first = [1.0] + [0.0] * (len(symbols) - 1)  # the input gate opens once
    kept = [torch.tanh(inputs[0]).item()] * len(symbols)
    ax = sheet(8.6)
    size = (2.25, 0.85)
    rows = (
        (1.3, [states], "state", "$h$"),
        (4.1, [first], GATES["i"], "$i$"),
        (5.05, [[""] + [1.0] * (len(symbols) - 1)], GATES["f"], "$f$"),
        (6.9, [kept], "state", "$c$"),
    )
    for y, numbers, role, name in rows:
        strength = [abs(v) if isinstance(v, float) else 0.0 for v in numbers[0]]
        row = cells(ax, (1.6, y), numbers, role=role, weights=[strength], size=size)
        label(ax, row, "left", name)
        if name == "$h$":
            label(ax, row, "top", *symbols, weight="bold")
        if name == "$c$":
            arrow(ax, (2.7, 6.45), (14.9, 6.45), role="state", weight=0.5)
    note(ax, (1.6, 2.75), "rewritten at each step", align="left")
    note(ax, (1.6, 3.65), "two gates", align="left", weight="bold")
    note(ax, (1.6, 8.2), "carried on unchanged", align="left")
    return ax


def blocks() -> Axes:
    """Draw the one product that serves all four blocks of an LSTM."""
    ax, D, N = sheet(8.0), 3, 2
    height, width = 0.62, 0.72
    top = 1.6
    for k, (name, role) in enumerate(GATES.items()):
        y = top + k * N * height
        how = {"role": role, "size": (width, height)}
        block = cells(ax, (1.4, y), [[""] * (D + N)] * N, weights=0.35, **how)
        label(ax, block, "left", f"${name}$")
        inside = cells(ax, (8.6, y), [[""]] * N, weights=0.35, **how)
        through = box(ax, (10.6, y + 0.17), "tanh" if name == "g" else "σ", (1.3, 0.9))
        out = cells(ax, (13.2, y), [[""]] * N, **how)
        arrow(ax, inside.at("right"), through.at("left"))
        arrow(ax, through.at("right"), out.at("left"))
        label(ax, out, "right", f"${name}_t$")
    whole, size = 4 * N * height, (width, height)
    y = top + (whole - (D + N) * height) / 2
    read = cells(ax, (6.3, y), [[""]] * D, size=size)
    old = cells(ax, (6.3, y + D * height), [[""]] * N, role="state", size=size)
    label(ax, read, "top", "$x_t$")
    label(ax, old, "bottom", "$h_{t-1}$")
    note(ax, (5.65, top + whole / 2), "×")
    note(ax, (7.8, top + whole / 2), "=")
    note(ax, (1.4 + D * width / 2, 1.1), "$W_x$")
    note(ax, (1.4 + (D + N / 2) * width, 1.1), "$W_h$")
    note(ax, (3.2, top + whole + 0.6), "(4N, D)  (4N, N)")
    note(ax, (8.96, top + whole + 0.6), "(4N,)")
    note(ax, (13.56, top + whole + 0.6), "(N,) each")
    return ax


def lstm(c: float, gates: dict[str, float]) -> Axes:
    """Draw an LSTM's step with its numbers; gates: i, f, g and o by name."""
    kept, written = gates["f"] * c, gates["i"] * gates["g"]
    new = kept + written
    shown = gates["o"] * torch.tanh(torch.tensor(new)).item()
    ax = sheet(7.4)
    old = box(ax, (0.3, 0.75), f"{c:g}", (1.6, 0.9), role="state")
    forget, joins = box(ax, (3.4, 0.8), "×", SIGN), box(ax, (7.0, 0.8), "+", SIGN)
    end = box(ax, (13.9, 0.75), f"{new:.2f}", (1.8, 0.9), role="state")
    note(ax, (1.1, 0.35), "$c_{t-1}$")
    note(ax, (14.8, 0.35), "$c_t$")
    for start, stop, text in (
        (old, forget, ""),
        (forget, joins, f"{kept:.2f}"),
        (joins, end, f"{new:.2f}"),
    ):
        arrow(ax, start.at("right"), stop.at("left"), role="state", weight=0.6, text=text)
    ramp = box(ax, (7.0, 2.7), "×", SIGN)
    arrow(ax, ramp.at("top"), joins.at("bottom"))
    note(ax, (8.2, 2.15), f"{written:.2f}")
    squash = box(ax, (10.85, 2.2), "tanh", (1.5, 0.8))
    out = box(ax, (11.2, 3.9), "×", SIGN)
    arrow(ax, (11.6, 1.35), squash.at("top"))
    arrow(ax, squash.at("bottom"), out.at("top"))
    show = box(ax, (13.9, 3.85), f"{shown:.2f}", (1.8, 0.9), role="state")
    note(ax, (14.8, 3.4), "$h_t$")
    arrow(ax, out.at("right"), show.at("left"))
    for name, x, sign in (("f", 2.9, forget), ("i", 5.2, ramp), ("g", 8.0, ramp), ("o", 10.7, out)):
        text = f"${name}$ = {gates[name]:.2f}"
        gate = box(ax, (x, 5.0), text, (1.9, 0.9), role=GATES[name])
        arrow(ax, gate.at("top"), sign.at("bottom"))
        arrow(ax, (gate.middle[0], 6.6), gate.at("bottom"))
    note(ax, (1.3, 6.65), "$x_t, h_{t-1}$")
    arrow(ax, (2.4, 6.65), (12.4, 6.65))
    return ax


def ways_back() -> Axes:
    """Draw the two ways of the gradient from cell to cell: the road, and through the gates."""
    ax = sheet(6.6)
    names = "t-2", "t-1", "t"
    roads = [
        box(ax, (0.8 + 6.3 * k, 1.2), f"$c_{{{n}}}$", (1.7, 1.0), role="state")
        for k, n in enumerate(names)
    ]
    for k in range(2):
        left, right = roads[k], roads[k + 1]
        arrow(ax, right.at("left"), left.at("right"), role="gradient", weight=0.7)
        step = "t-1" if not k else "t"
        note(ax, ((left.middle[0] + right.middle[0]) / 2, 0.85), f"$f_{{{step}}}$")
        shown = box(ax, (left.x, 4.4), f"$h_{{{names[k]}}}$", (1.7, 1.0), role="state")
        gates = box(ax, (left.x + 3.0, 4.4), "gates", (2.0, 1.0))
        how = {"role": "gradient", "dashed": True, "weight": 0.1}
        arrow(ax, right.at("bottom"), gates.at("right"), **how)
        arrow(ax, gates.at("left"), shown.at("right"), **how)
        arrow(ax, shown.at("top"), left.at("bottom"), **how)
    note(ax, (0.25, 0.4), "the direct path", align="left", weight="bold")
    note(ax, (0.25, 6.1), "the path through the gates", align="left", weight="bold")
    return ax


def forgetting(biases: dict[str, float], steps: int) -> Axes:
    """Draw what forget gates keep in one step, and what so many steps leave, for some biases."""
    ax, whole = sheet(1.5 * len(biases) + 1.0), 8.0
    note(ax, (3.0 + whole / 2, 0.5), "one step", weight="bold")
    note(ax, (13.4, 0.5), f"after {steps} steps", weight="bold")
    for k, (name, bias) in enumerate(biases.items()):
        y, f = 1.0 + 1.5 * k, 1 / (1 + math.exp(-bias))
        note(ax, (0.3, y + 0.45), name, align="left")
        cells(ax, (3.0, y), [[f"{f:.2f}"]], role=GATES["f"], weights=0.6, size=(f * whole, 0.9))
        cells(ax, (3.0 + f * whole, y), [[""]], hatched=True, size=((1 - f) * whole, 0.9))
        left = f**steps
        note(ax, (13.4, y + 0.45), f"{left:.2f}" if left > 0.01 else f"{left:.0e}")
    return ax


def side_by_side() -> Axes:
    """Draw a step of an LSTM and one of a GRU, with the road marked in both."""
    ax = sheet(9.0)
    note(ax, (3.9, 0.45), "LSTM", weight="bold")
    note(ax, (12.1, 0.45), "GRU", weight="bold")
    ax.plot([8.0, 8.0], [0.2, 8.8], color="#8a867c", linewidth=0.8, linestyle="-", marker="")
    _lstm_side(ax)
    _gru_side(ax)
    return ax


def _lstm_side(ax: Axes) -> None:
    forget, joins = box(ax, (1.6, 1.5), "×", SIGN), box(ax, (3.4, 1.5), "+", SIGN)
    road = {"role": "state", "weight": 0.7}
    arrow(ax, (0.3, 1.9), forget.at("left"), **road)
    arrow(ax, forget.at("right"), joins.at("left"), **road)
    arrow(ax, joins.at("right"), (7.6, 1.9), **road)
    note(ax, (0.75, 1.2), "$c_{t-1}$")
    note(ax, (7.0, 1.2), "$c_t$")
    ramp, out = box(ax, (3.4, 3.6), "×", SIGN), box(ax, (5.7, 4.8), "×", SIGN)
    squash = box(ax, (5.4, 3.0), "tanh", (1.4, 0.8))
    arrow(ax, ramp.at("top"), joins.at("bottom"))
    arrow(ax, (6.1, 2.15), squash.at("top"))
    arrow(ax, squash.at("bottom"), out.at("top"))
    arrow(ax, out.at("right"), (7.6, 5.2))
    note(ax, (7.1, 4.7), "$h_t$")
    for name, x, sign in (("f", 1.6, forget), ("i", 2.8, ramp), ("g", 4.0, ramp), ("o", 5.7, out)):
        gate = box(ax, (x, 6.5), f"${name}$", SIGN, role=GATES[name])
        arrow(ax, gate.at("top"), sign.at("bottom"))
        arrow(ax, (gate.middle[0], 8.1), gate.at("bottom"))
    arrow(ax, (0.3, 8.1), (6.5, 8.1))
    note(ax, (1.0, 8.55), "$h_{t-1}, x_t$")


def _gru_side(ax: Axes) -> None:
    keep, joins = box(ax, (9.8, 1.5), "×", SIGN), box(ax, (13.2, 1.5), "+", SIGN)
    road = {"role": "state", "weight": 0.7}
    arrow(ax, (8.4, 1.9), keep.at("left"), **road)
    arrow(ax, keep.at("right"), joins.at("left"), **road)
    arrow(ax, joins.at("right"), (15.8, 1.9), **road)
    note(ax, (8.9, 1.2), "$h_{t-1}$")
    note(ax, (15.2, 1.2), "$h_t$")
    ramp = box(ax, (13.2, 3.6), "×", SIGN)
    arrow(ax, ramp.at("top"), joins.at("bottom"))
    update = box(ax, (9.8, 6.5), "$z$", SIGN, role=GATES["f"])
    rest = box(ax, (10.85, 3.6), "$1 - z$", (1.5, 0.8))
    arrow(ax, update.at("top"), keep.at("bottom"))
    arrow(ax, (10.6, 6.7), rest.at("bottom"))
    arrow(ax, rest.at("right"), ramp.at("left"))
    new = box(ax, (13.2, 5.2), "$n$", SIGN, role=GATES["g"])
    arrow(ax, new.at("top"), ramp.at("bottom"))
    reset = box(ax, (14.6, 6.5), "$r$", SIGN, role=GATES["i"])
    arrow(ax, reset.at("top"), new.at("right"))
    for x, block in ((10.2, update), (13.6, new), (15.0, reset)):
        arrow(ax, (x, 8.1), block.at("bottom"))
    arrow(ax, (8.4, 8.1), (15.4, 8.1))
    note(ax, (9.2, 8.55), "$h_{t-1}, x_t$")


def updates_and_resets(h: Tensor, x_n: Tensor, W_hn: Tensor) -> Axes:
    """Draw what a GRU of two units makes of a state where its gates are open or shut.

    Shapes: h and x_n (N,), W_hn (N, N); x_n is what the input adds to the candidate.
    """
    ax = sheet(8.6)
    places, names = (4.9, 7.1, 9.5, 11.9, 14.3), ("$h$", "$r$", "$n$", "$z$", "new $h$")
    for x, name in zip(places, names, strict=True):
        note(ax, (x, 0.5), name)
    kinds = (("keep", 1.0, 1.0), ("rewrite", 1.0, 0.0), ("begin anew", 0.0, 0.0))
    for k, (told, r, z) in enumerate(kinds):
        y = 1.1 + 2.55 * k
        n = torch.tanh(x_n + r * (W_hn @ h))
        parts = ((h, "state"), (r, GATES["i"]), (n, GATES["g"]), (z, GATES["f"]))
        parts += ((z * h + (1 - z) * n, "state"),)
        drawn = []
        for x, (numbers, role) in zip(places, parts, strict=True):
            column = torch.as_tensor(numbers).expand(len(h))[:, None]
            strength = column.abs().clamp(max=1)
            drawn.append(
                cells(ax, (x - 0.65, y), column, role=role, weights=strength, size=(1.3, 0.9))
            )
        note(ax, (0.3, y + 0.9), told, align="left", weight="bold")
        if told == "keep":
            light(ax, drawn[-1])
    return ax
