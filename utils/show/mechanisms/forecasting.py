"""Day 14's pictures: what fits, how far off, origins, leaks, seasons, widths, gaps, switches."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from torch import Tensor

from utils.show.diagrams import Block, arrow, bar, box, brace, cells, label, light, note, sheet
from utils.show.diagrams.sheet import DIM, stroke
from utils.show.plotting import INK

THIN = {"linewidth": 1.4, "linestyle": "-", "marker": ""}

# The table ----------------------------------------------------------------------------------------


def parts_and_window(parts: dict[str, int], window: int) -> Axes:
    """Draw a series in its parts, {name: steps}, and below it a window, to the same scale."""
    ax = sheet(4.6)
    n = sum(parts.values())
    unit, x = 15.2 / max(n, window), 0.4
    for (name, steps), role in zip(parts.items(), ("query", "gradient", "value"), strict=True):
        part = cells(ax, (x, 1.1), [[""] * steps], role=role, size=(unit, 0.8))
        align = "right" if role == "gradient" else "left"
        end = part.x + part.width - 0.2 if role == "gradient" else part.x
        note(ax, (end, 0.65), f"{name}: {steps}", align=align)
        x += steps * unit
    bar(ax, (0.4, 2.7), (window * unit, 0.8), role="key", weight=0.25)
    note(ax, (0.4 + window * unit / 2, 3.1), f"a window of {window} weeks")
    ax.plot([x, x], [0.95, 3.7], color=INK, linewidth=2, linestyle="--", marker="")
    note(ax, (x, 4.15), f"the series ends after {n} weeks", align="right")
    return ax


def half_and_double(target: float) -> Axes:
    """Draw forecasts of half a target and of twice as much, and their errors by three measures."""
    ax = sheet(5.6)
    unit = 6.4 / (2 * target)
    heads = ["error", "MAPE", "sMAPE"]
    for k, head in enumerate(heads):
        note(ax, (9.9 + 2.3 * k, 0.6), head, weight="bold")
    rows = (("target", target, "query"), ("half", target / 2, "key"), ("double", 2 * target, "key"))
    for i, (name, value, role) in enumerate(rows):
        y = 1.1 + 1.6 * i
        bar(ax, (2.2, y), (unit * value, 0.9), role=role)
        note(ax, (0.3, y + 0.45), name, align="left", weight="bold")
        inside = 2.2 + unit * value / 2
        colour = "white" if role == "query" else "black"
        note(ax, (inside, y + 0.45), f"{value:g}", color=colour)
        if i:
            error = abs(value - target)
            shares = error / target, 2 * error / (value + target)
            texts = [f"{error:g}", *(f"{share:.0%}" for share in shares)]
            for k, text in enumerate(texts):
                note(ax, (9.9 + 2.3 * k, y + 0.45), text)
    ax.plot([2.2 + unit * target] * 2, [1.0, 5.3], color=DIM, linewidth=1.4, linestyle=":")
    return ax


# Honest forecasts ---------------------------------------------------------------------------------


def origins(pairs: Sequence[tuple[range, range]], n: int) -> Axes:
    """Draw origins that roll on: in each row, what is known, what is forecast, what waits.

    pairs: ranges of known and of forecast steps, of a series of n.
    """
    ax = sheet(1.5 + 1.05 * len(pairs))
    unit = 12.6 / n
    for i, (known, ahead) in enumerate(pairs):
        y = 0.9 + 1.05 * i
        note(ax, (0.3, y + 0.35), f"origin {known.stop}", align="left", weight="bold")
        for steps, role in ((known, "query"), (ahead, "key"), (range(ahead.stop, n), None)):
            if len(steps):
                place = 3.0 + steps.start * unit, y
                cells(ax, place, [[""] * len(steps)], role=role, size=(unit, 0.7))
    for steps, name in zip(pairs[0], ("known", "forecast"), strict=True):
        note(ax, (3.0 + (steps.start + len(steps) / 2) * unit, 0.45), name)
    note(ax, (9.3, 1.25 + 1.05 * len(pairs)), "time →")
    return ax


def two_scalers(n: int, origin: int) -> Axes:
    """Draw a scaler that measures the whole series, and one that measures its past alone."""
    ax = sheet(6.6)
    unit = 9.6 / n
    for i, (name, seen) in enumerate((("leaks", n), ("doesn't", origin))):
        y = 0.9 + 3.2 * i
        past = cells(ax, (0.4, y), [[""] * origin], role="query", size=(unit, 0.8))
        after = (past.x + past.width, y)
        cells(ax, after, [[""] * (n - origin)], role="key", size=(unit, 0.8))
        brace(ax, Block(0.4, y, seen * unit, 0.8), "bottom", "mean and deviation")
        scaler = box(ax, (11.2, y + 0.9), "scaler", (1.9, 0.9), role=None if i else "gradient")
        arrow(ax, (0.4 + seen * unit, y + 1.35), scaler.at("left"), role=None if i else "gradient")
        model = box(ax, (13.7, y - 0.3), "model", (1.9, 0.9), role="value")
        arrow(ax, scaler.at("right"), model.at("bottom"), role=None if i else "gradient", bend=-0.2)
        note(ax, (12.1, y - 0.2), name, weight="bold")
        if not i:
            label(ax, past, "top", "past")
            note(ax, (after[0] + (n - origin) * unit / 2, y - 0.35), "future")
    return ax


def last_season(past: Sequence[float], season: int, T: int) -> Axes:
    """Draw a past, and T steps that repeat its last season."""
    ax = sheet(4.3)
    unit = 15.0 / (len(past) + T)
    known = cells(ax, (0.5, 2.0), [[f"{y:g}" for y in past]], role="query", size=(unit, 0.9))
    last = list(past)[-season:]
    made = [f"{last[t % season]:g}" for t in range(T)]
    start = known.x + known.width
    ahead = cells(ax, (start, 2.0), [made], role="key", size=(unit, 0.9))
    for t in range(min(T, season)):
        source = known[0, len(past) - season + t].at("top")
        arrow(ax, source, ahead[0, t].at("top"), bend=0.22)
    brace(ax, known[0, len(past) - season :], "bottom", f"the last season: {season} steps")
    note(ax, (ahead.middle[0], 3.55), "forecast", weight="bold")
    return ax


def width_of_scores(scores: Tensor, alpha: float) -> Axes:
    """Draw past errors in their order, and the interval whose half width is the k-th of them.

    scores: n positive numbers. k = ⌈(n + 1)(1 - α)⌉ has to be at most n.
    """
    ax = sheet(6.4)
    ordered = scores.sort().values
    n = len(ordered)
    k = math.ceil((n + 1) * (1 - alpha) - 1e-9)
    unit = 4.2 / ordered[-1].item()
    chosen = ordered[k - 1].item()
    for i, score in enumerate(ordered.tolist(), 1):
        y = 0.7 + 0.34 * i
        role = "key" if i == k else "query" if i < k else None
        bar(ax, (0.5, y), (unit * score, 0.26), role=role)
    note(ax, (0.5, 0.5), f"{n} past errors, sorted", align="left", weight="bold")
    at = 0.7 + 0.34 * k + 0.13
    note(ax, (0.7 + unit * chosen, at), f"number {k}", align="left")
    x, y = 11.2, 2.6
    half = unit * chosen
    bar(ax, (x - half, y), (2 * half, 0.9), role="key", weight=0.45)
    ax.plot([x, x], [y - 0.2, y + 1.1], color=INK, linewidth=2.4, linestyle="-", marker="")
    note(ax, (x, y - 0.55), "forecast")
    note(ax, (x, y + 1.75), f"± error number {k}")
    note(ax, (x, y + 2.5), f"for {1 - alpha:.0%}")
    return ax


# Networks -----------------------------------------------------------------------------------------


def filled_in(values: Sequence[float], promoted: Sequence[int], T: int) -> Axes:
    """Draw what a network reads at each step, the last T values hidden, and what it returns.

    promoted: 1 on days of a promotion, of past and future.
    """
    ax = sheet(5.8)
    S = len(values)
    size = (12.0 / (S + T), 0.85)
    hidden = [0] * S + [1] * T
    rows = (
        ("value", [*(f"{y:g}" for y in values), *["0"] * T], "query"),
        ("hidden?", [str(h) for h in hidden], "state"),
        ("promotion", [str(p) for p in promoted], "value"),
    )
    for i, (name, texts, role) in enumerate(rows):
        weights = None if i == 0 else [[0.15 + 0.85 * (text == "1") for text in texts]]
        hatch = [[i == 0 and h == 1 for h in hidden]]
        form = {"role": role, "weights": weights, "hatched": hatch, "size": size}
        cells(ax, (3.6, 0.4 + 0.95 * i), [texts], **form)
        note(ax, (0.3, 0.82 + 0.95 * i), name, align="left", weight="bold")
    read = Block(3.6, 0.4, 12.0, 2.75)
    network = box(ax, (3.6, 3.65), "LSTM or Transformer", (12.0, 0.8))
    arrow(ax, read.at("bottom"), network.at("top"))
    made = cells(ax, (3.6 + S * size[0], 4.85), [["?"] * T], role="key", size=size)
    arrow(ax, (made.middle[0], 4.45), made.at("top"))
    note(ax, (0.3, 5.27), "forecast", align="left", weight="bold")
    return ax


def local_and_global(n: int) -> Axes:
    """Draw n series with a model each, and n series that share one model."""
    ax = sheet(1.3 + 1.3 * n)
    size = (2.4, 0.9)
    for x, name in ((0.4, "local: one each"), (8.6, "global: one for all")):
        note(ax, (x + 3.3, 0.5), name, weight="bold")
    shared = box(ax, (13.0, 1.0 + 1.3 * (n - 1) / 2), "model", size, role="value")
    light(ax, shared)
    for i in range(n):
        y = 1.0 + 1.3 * i
        for x in (0.4, 8.6):
            series = box(ax, (x, y), f"series {i + 1}", (2.6, 0.9), role="query")
            own = shared if x > 8 else box(ax, (4.8, y), f"model {i + 1}", size, role="value")
            arrow(ax, series.at("right"), own.at("left", 0.1 * (x > 8)))
    return ax


# Where it breaks ----------------------------------------------------------------------------------


def switched(switches: Sequence[int], start: int = 0) -> Axes:
    """Draw days on which a switch is thrown (1), and the level that each of them flips."""
    ax = sheet(5.2)
    n = len(switches)
    unit = 12.8 / n
    levels, level = [], start
    for switch in switches:
        level ^= switch
        levels.append(level)
    form = {"role": "value", "weights": [list(map(float, switches))], "size": (unit, 0.85)}
    row = cells(ax, (2.8, 0.6), [[str(s) for s in switches]], **form)
    note(ax, (0.3, 1.02), "switch", align="left", weight="bold")
    note(ax, (0.3, 3.3), "level", align="left", weight="bold")
    y = [4.1 - 1.6 * level for level in (start, *levels)]
    x = [2.3, *(2.8 + unit * t for t in range(n + 1))]
    ax.step(x, [*y, y[-1]], where="post", color=stroke("query"), linewidth=3, linestyle="-")
    for t, switch in enumerate(switches):
        if switch:
            place = 2.8 + unit * t
            ax.plot([place] * 2, [row.y + 0.85, 4.1], color=DIM, linewidth=1, linestyle=":")
    note(ax, (9.2, 4.8), "each switch flips the level")
    return ax
