"""Day 15's pictures of what a network can compute: a folded line, signs, rounds, counters, stacks.

The running parity of a word is drawn by `forecasting.switched`.
"""

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction

from matplotlib.axes import Axes
from matplotlib.patches import Polygon, Rectangle

from utils.show.diagrams import Block, arrow, bar, box, cells, label, light, note, sheet, tinted
from utils.show.diagrams.sheet import DIM, Point, fill_in, stroke
from utils.show.plotting import INK, PAPER

THIN = {"linewidth": 1.4, "linestyle": "-", "marker": ""}
DOT = {"linestyle": "", "marker": "o", "markersize": 11}
HOLLOW = {"markerfacecolor": PAPER, "markeredgewidth": 2}


def _short(number: float) -> str:
    """Return a number with three digits, and no sign before 0."""
    return f"{float(number) + 0.0:.3g}".replace("-", "−")


def _bars(ax: Axes, start: Point, numbers: Sequence[float], unit: float, role: str) -> None:
    """Draw numbers as bars up or down from a line that begins at a place; unit: the height of 1."""
    left, zero = start
    pitch = (15.7 - left) / len(numbers)
    for t, number in enumerate(map(float, numbers)):
        x, height = left + (t + 0.5) * pitch, unit * number
        size = 0.6 * pitch, abs(height)
        bar(ax, (x - size[0] / 2, zero - max(height, 0)), size, role=role)
        note(ax, (x, zero - height - (0.3 if number >= 0 else -0.3)), _short(number))
    ax.plot([left, 15.7], [zero, zero], color=INK, **THIN)


# One bit that is carried --------------------------------------------------------------------------


def folded(numbers: Sequence[float]) -> Axes:
    """Draw the absolute values of some numbers, side by side: a line is folded at 0.

    Raises: ValueError if a number is not from -1 to 1.
    """
    if not all(-1 <= number <= 1 for number in numbers):
        raise ValueError(f"Numbers are from -1 to 1, got {[*numbers]}.")
    ax = sheet(3.8)
    pitch = 15.6 / len(numbers)
    for j, z in enumerate(numbers):
        zero = 0.2 + (j + 0.5) * pitch, 2.6
        _fold(ax, zero, 0.4 * pitch, z)
        note(ax, (zero[0], 0.5), f"|{_short(z)}| = {_short(abs(z))}", weight="bold")
        if z < 0:
            ax.plot(zero[0] + z * 0.4 * pitch, zero[1], **DOT, color=stroke("query"), **HOLLOW)
    return ax


def folded_line(states: Sequence[float], symbols: Sequence[float]) -> Axes:
    """Draw |h - x| on a line that is folded at 0, for each state (rows) and symbol (columns).

    Raises: ValueError if a state or a symbol is not from 0 to 1.
    """
    if not all(0 <= number <= 1 for number in (*states, *symbols)):
        raise ValueError(f"States and symbols are from 0 to 1, got {[*states]} and {[*symbols]}.")
    arcs = [1.4 * (h < max(symbols)) for h in states]  # room above each row
    ax = sheet(sum(2.4 + arc for arc in arcs))
    pitch = 15.6 / len(symbols)
    unit = 0.4 * pitch
    for (i, h), (j, x) in itertools.product(enumerate(states), enumerate(symbols)):
        zero, y = 0.2 + (j + 0.5) * pitch, 2.4 * i + 1.2 + sum(arcs[: i + 1])
        told = f"|h − x| = |{h:g} − {x:g}| = {abs(h - x):g}"
        note(ax, (zero, y - 0.7 - arcs[i]), told, weight="bold")
        if x:
            start, end = zero + h * unit, zero + (h - x) * unit
            ax.plot(start, y, **DOT, color=stroke("query"), **HOLLOW)
            arrow(ax, (start, y + 0.3), (end, y + 0.3))
            note(ax, ((start + end) / 2, y + 0.75), "minus x")
        _fold(ax, (zero, y), unit, h - x)
    return ax


def _fold(ax: Axes, zero: tuple[float, float], unit: float, number: float) -> None:
    """Draw a line with its zero at a place, and a dot where a number is after the fold."""
    x, y = zero
    ax.plot([x - 1.15 * unit, x], [y, y], color=DIM, linewidth=1.4, linestyle="--")
    ax.plot([x, x + 1.15 * unit], [y, y], color=INK, **THIN)
    for tick in (-1, 0, 1):
        place = x + tick * unit
        ax.plot([place] * 2, [y - 0.12, y + 0.12], color=INK, **THIN)
        note(ax, (place, y + 0.75), _short(tick))
    end = x + abs(number) * unit
    if number < 0:
        start = (x + number * unit, y - 0.15)
        arrow(ax, start, (end, y - 0.15), role="query", weight=0.2, bend=0.2)
        note(ax, (x, y - 0.6), "folded")
    ax.plot(end, y, **DOT, color=stroke("query"))


def gate_turns(word: str, rows: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> Axes:
    """Draw states as bars that gates shrink or turn over, for a word and several ways to gate.

    rows: for each way, a gate for each symbol, and the states, the first from before the word.
    Raises: ValueError if there aren't as many gates as symbols, and one state more.
    """
    T = len(word)
    for gates, states in rows.values():
        given = len(gates), len(states)
        if given != (T, T + 1):
            raise ValueError(f"{T} symbols take {T} gates and {T + 1} states, got {given}.")
    spans = [(max(0, *map(float, h)), max(0, *(-float(x) for x in h))) for _, h in rows.values()]
    unit = 1.3 / (max(max(span) for span in spans) or 1)
    ax = sheet(1.2 + sum(2.75 + unit * sum(span) + 0.6 * (span[1] > 0) for span in spans))
    width = 13.6 / (T + 1)
    form = {"size": (width, 0.85)}
    cells(ax, (2.1 + width, 0.3), [list(word)], **form)
    note(ax, (0.3, 0.72), "symbol", align="left")
    note(ax, (2.1 + width / 2, 0.72), "start")
    y = 1.2
    for (name, (gates, states)), (up, down) in zip(rows.items(), spans, strict=True):
        note(ax, (0.3, y + 0.5), name, align="left", weight="bold")
        turned = [[(1 - float(a)) / 2 for a in gates]]
        place, texts = (2.1 + width, y + 0.9), [[*map(_short, gates)]]
        cells(ax, place, texts, role="key", weights=turned, **form)
        note(ax, (0.3, y + 1.32), "gate", align="left")
        zero = y + 2.4 + unit * up
        _bars(ax, (2.1, zero), states, unit, "state")
        note(ax, (0.3, zero), "state", align="left")
        y = zero + unit * down + 0.35 + 0.6 * (down > 0)
    return ax


def scan_rounds(n: int) -> Axes:
    """Draw n steps that are put together in rounds: in each cell the steps that it has taken in.

    Raises: ValueError if there are not two steps.
    """
    if n < 2:
        raise ValueError(f"A round puts two steps together, got n={n}.")
    rounds = (n - 1).bit_length()
    ax = sheet(1.45 + 2.1 * rounds)
    before, first = None, list(range(n))  # the first step of each position
    for d in [0, *(2**r for r in range(rounds))]:
        y = 0.3 if before is None else before.y + 2.1
        first = [first[t - d] if t >= d else first[t] for t in range(n)]
        texts = [str(t + 1) if s == t else f"{s + 1}–{t + 1}" for t, s in enumerate(first)]
        form = {"role": "value", "weights": [[0.1 + 0.8 * (not s) for s in first]]}
        row = cells(ax, (3.2, y), [texts], size=(12.5 / n, 0.85), **form)
        if before:
            note(ax, (0.3, y - 0.6), f"distance {d}", align="left", weight="bold")
            for t in range(n):
                ends = zip(before[0, t].at("bottom"), row[0, t].at("top"), strict=True)
                ax.plot(*ends, color=DIM, linewidth=1.2, linestyle=":")
                if t >= d:
                    arrow(ax, before[0, t - d].at("bottom"), row[0, t].at("top"))
        before = row
    note(ax, (0.3, 0.72), "step", align="left", weight="bold")
    return ax


# Counting, and the mean ---------------------------------------------------------------------------


def counting_cells(
    word: str, counters: Mapping[str, Sequence[float]], answers: Sequence[str]
) -> Axes:
    """Draw what counters hold after each letter of a word, and the answer there.

    counters: for each by name, a number after each letter.
    Raises: ValueError if there is not one number and one answer for each letter, or a number is
        below 0.
    """
    lengths = {len(some) for some in (word, answers, *counters.values())}
    if len(lengths) > 1:
        raise ValueError(f"Letters, numbers and answers are as many, got {sorted(lengths)}.")
    every = [float(count) for held in counters.values() for count in held]
    if min(every) < 0:
        raise ValueError(f"A counter is drawn from 0 on, got {min(every):g}.")
    unit = 1.7 / max(1, *every)
    ax = sheet(2.8 + 2.6 * len(counters))
    width = 12.6 / len(word)
    form = {"size": (width, 0.85)}
    letters = cells(ax, (3.1, 0.3), [list(word)], role="query", weights=0.25, **form)
    label(ax, letters, "left", "letter")
    for k, (name, held) in enumerate(counters.items()):
        zero, role = 3.6 + 2.6 * k, ("state", "key")[k % 2]
        note(ax, (0.3, zero - 0.7), name, align="left", weight="bold")
        _bars(ax, (3.1, zero), held, unit, role)
    row = cells(ax, (3.1, ax.get_ylim()[0] - 1.2), [[*answers]], **form)
    label(ax, row, "left", "answer")
    return ax


def one_of_many(words: Sequence[Sequence[int]]) -> Axes:
    """Draw words of ones (dark) and zeros, and their mean before and after the first is flipped."""
    ax = sheet(0.1 + 2.9 * len(words))
    for k, word in enumerate(words):
        y, n = 0.3 + 2.9 * k, len(word)
        after = [1 - word[0], *word[1:]]
        note(ax, (0.3, y + 0.4), f"n = {n}", align="left", weight="bold")
        strip = cells(ax, (3.0, y), [[""] * n], role="query", weights=[word], size=(12.7 / n, 0.8))
        light(ax, strip[0, 0])
        means = [Fraction(sum(each), n) for each in (word, after)]
        for role, share in (("key", max(means)), ("query", min(means))):
            bar(ax, (3.0, y + 1.3), (7.3 * share, 0.8), role=role)
        ax.add_patch(Rectangle((3.0, y + 1.3), 7.3, 0.8, fill=False, edgecolor=INK, linewidth=0.8))
        note(ax, (0.3, y + 1.7), "mean", align="left")
        old, new = map(float, means)
        note(ax, (10.6, y + 1.7), f"{old:.4g} → {new:.4g}", align="left")
        change = f"{'+' if new > old else '−'} {abs(means[1] - means[0])}"
        note(ax, (15.7, y + 1.7), change, align="right", weight="bold")
    return ax


def steps_written(symbols: Sequence[str], answers: Sequence[str]) -> Axes:
    """Draw what the last answer has to be found from: all symbols, or one and the answer before.

    Above, a blank follows each symbol, below the answer so far.
    Raises: ValueError if there are not as many answers as symbols.
    """
    if len(symbols) != len(answers):
        raise ValueError(f"There are {len(symbols)} symbols, but {len(answers)} answers.")
    ax = sheet(8.2)
    T = len(symbols)
    pitch = 15.4 / (2 * T)
    for y, high, name in ((2.9, 2.4, "without steps"), (6.4, 1.4, "with steps")):
        note(ax, (0.3, y - high), name, align="left", weight="bold")
        written = name == "with steps"
        read, said = [], []
        for t in range(T):
            x, size = 0.3 + 2 * t * pitch, (0.8 * pitch, 0.9)
            read.append(box(ax, (x + 0.1 * pitch, y), symbols[t], size, role="query"))
            there = written or t == T - 1
            place, text = (x + 1.1 * pitch, y), answers[t] if there else ""
            said.append(box(ax, place, text, size, role="value" if there else None))
        for t in range(T):
            if written:
                arrow(ax, read[t].at("bottom"), said[t].at("bottom"), role="query", bend=-0.3)
                if t:
                    arrow(ax, said[t - 1].at("top"), said[t].at("top"), role="value", bend=0.25)
            else:
                bend = 0.11 + 0.4 / (said[-1].x - read[t].x)  # near ones rise above the boxes too
                arrow(ax, read[t].at("top"), said[-1].at("top"), role="query", bend=bend)
    return ax


# A stack in one number, and things that change places ---------------------------------------------


def stack_in_a_number(bits: Sequence[int], numbers: Sequence[Fraction | float]) -> Axes:
    """Draw the line from 0 to 1, which each push squeezes into its second or its last quarter.

    numbers: q, the number that holds the stack, before the first push and after each.
    Raises: ValueError if there is not one number more than bits, or one is not from 0 to below 1.
    """
    if len(numbers) != len(bits) + 1 or not all(0 <= q < 1 for q in numbers):
        raise ValueError(
            f"{len(bits)} pushes take {len(bits) + 1} numbers from 0 to below 1, got "
            f"{[float(q) for q in numbers]}."
        )
    ax = sheet(1.9 + 2.0 * len(bits))
    before, width = None, 8.6
    for k, q in enumerate(numbers):
        quarter, y = int(4 * q), 0.7 + 2.0 * k
        tint = [[0.7 * (k > 0 and i == quarter) for i in range(4)]]
        form = {"role": "key", "weights": tint, "size": (width / 4, 0.8)}
        line = cells(ax, (2.5, y), [[""] * 4], **form)
        if before:
            part = line[0, quarter]
            for share in (0, 1):
                ends = before.x + share * width, part.x + share * part.width
                ax.plot(ends, [y - 1.2, y], color=DIM, linewidth=1.4, linestyle="--")
        mark = 2.5 + width * float(q)
        ax.plot([mark] * 2, [y - 0.15, y + 0.95], color=stroke("query"), linewidth=4, linestyle="-")
        name = f"push {bits[k - 1]}" if k else "empty"
        note(ax, (0.3, y + 0.4), name, align="left", weight="bold")
        note(ax, (11.4, y + 0.1), f"q = {float(q):.6g}", align="left")
        if q:
            note(ax, (11.4, y + 0.75), f"0.{_digits(q)} in base 4", align="left")
        before = line
    label(ax, Block(2.5, 0.7, width, 0.8, 1, 4), "top", "", "0", "", "1")
    return ax


def _digits(q: Fraction | float) -> str:
    """Return the digits of a number below 1 to the base of 4."""
    digits = ""
    while q:
        digits += str(int(4 * q))
        q = 4 * q % 1
    return digits


def cups(swaps: Sequence[tuple[int, int]], n: int) -> Axes:
    """Draw n cups that change places in pairs, and the path of the ball under the first.

    Raises: ValueError if a swap is not of two places from 1 to n.
    """
    for pair in swaps:
        if len({*pair} & {*range(1, n + 1)}) != 2:
            raise ValueError(f"A swap is of two places from 1 to {n}, got {pair}.")
    ax = sheet(1.5 + 1.15 * n)
    pitch = 12.2 / len(swaps)
    paths = [[cup] for cup in range(n)]
    for k, (i, j) in enumerate(swaps):
        note(ax, (1.9 + (k + 0.5) * pitch, 0.5), f"{i}↔{j}", weight="bold")
        for path in paths:
            path.append({i - 1: j - 1, j - 1: i - 1}.get(path[-1], path[-1]))
    for cup in reversed(range(n)):  # the ball's path last
        y = [1.7 + 1.15 * place for place in paths[cup] for _ in range(2)]
        x = [1.9 + pitch * (k + side) for k in range(len(swaps) + 1) for side in (-0.2, 0.2)]
        form = {"color": DIM, "linewidth": 1.4}
        if cup == 0:
            form = {"color": stroke("query"), "linewidth": 4, "marker": "o", "markersize": 12}
            form["markevery"] = [0, len(y) - 1]
        ax.plot([2.1, *x[1:-1], 13.9], y, linestyle="-", **form)
    for place in range(n):
        _cup(ax, (1.2, 1.7 + 1.15 * place), str(place + 1), place == 0)
        _cup(ax, (14.8, 1.7 + 1.15 * place), str(place + 1), place == paths[0][-1])
    return ax


def _cup(ax: Axes, middle: tuple[float, float], name: str, ball: bool) -> None:
    """Draw a cup upside down, with its number, in colour if the ball is under it."""
    x, y = middle
    fill = tinted("key", float(ball))
    corners = [(x - 0.4, y - 0.42), (x + 0.4, y - 0.42), (x + 0.6, y + 0.42), (x - 0.6, y + 0.42)]
    ax.add_patch(Polygon(corners, facecolor=fill, edgecolor=INK, linewidth=1.2))
    fill_in(ax, Block(x - 0.5, y - 0.4, 1.0, 0.8), name, fill)
