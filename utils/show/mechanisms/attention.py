"""Day 4's pictures: an encoder and a decoder unrolled, scores and weights, looks, a beam."""

from collections.abc import Mapping, Sequence

import torch
from matplotlib.axes import Axes
from torch import Tensor

from utils.show.diagrams import arrow, box, brace, cells, label, light, note, sheet

BOX = (0.95, 0.85)


def unrolled(source: str, target: str) -> Axes:
    """Draw an encoder that reads a word, letter by letter, and a decoder that writes another."""
    ax = sheet(6.9)
    step = 15.4 / (len(source) + len(target) + 1)
    y, before = 2.7, None
    for k, letter in enumerate([*source, "BOS", *target]):
        reads = k >= len(source)
        x = 0.35 + step * k + 0.35 * reads
        t = k - len(source) if reads else k + 1
        name, role = (f"$s_{t + 1}$", "query") if reads else (f"$h_{t}$", "state")
        state = box(ax, (x, y), name, BOX, role=role)
        note(ax, (state.middle[0], 5.0), letter)
        arrow(ax, (state.middle[0], 4.65), state.at("bottom"))
        if before:
            handed = k == len(source)
            arrow(
                ax,
                before.at("right"),
                state.at("left"),
                role="state" if handed else None,
                weight=0.5 if handed else 0.0,
            )
        if reads:
            said = [*target, "EOS"][t]
            arrow(ax, state.at("top"), (state.middle[0], 1.65))
            note(ax, (state.middle[0], 1.3), said, weight="bold")
        if k == len(source) - 1:
            light(ax, state)
            note(ax, (state.middle[0] - 0.2, 1.95), "all that is handed over", align="right")
        before = state
    split = 0.35 + step * len(source)
    note(ax, (split / 2, 6.3), "the encoder reads", weight="bold")
    note(ax, ((split + 16) / 2, 6.3), "the decoder reads, one step late", weight="bold")
    note(ax, ((split + 16) / 2, 0.5), "and writes", weight="bold")
    return ax


def look(weights: Tensor, h: Tensor) -> Axes:
    """Draw a query, the annotations that it is compared with, and the context, their average.

    Shapes: weights (S,), annotations h (S, N).
    """
    ax = sheet(7.4)
    c = cells(ax, (6.0, 0.75), (weights @ h)[None], role="value", size=(1.3, 0.9))
    label(ax, c, "right", "context $c$")
    query = box(ax, (13.0, 3.3), "query $s$", (2.3, 0.95), role="query")
    for j, weight in enumerate(weights.tolist()):
        numbers = ", ".join(f"{number:g}" for number in h[j].tolist())
        text = f"$h_{j + 1}$ = ({numbers})"
        state = box(ax, (0.4 + 5.0 * j, 5.4), text, (3.2, 0.95), role="state")
        middle = c.middle[0] + 0.35 * (j - 1)
        arrow(ax, state.at("top"), (middle, 1.75), role="value", weight=weight)
        right = state.at("right")[0], state.middle[1] - 0.3
        last = state.middle[0] > 10
        start, end = ("bottom", (state.middle[0] + 0.6, state.y)) if last else ("left", right)
        arrow(ax, query.at(start), end, role="query", dashed=True)
        note(ax, (state.middle[0], 6.8), f"{weight:.2f}", weight="bold")
    note(ax, (15.7, 2.5), "compares", align="right")
    return ax


def forced(target: str, wrong: str) -> Axes:
    """Draw what a decoder reads that is told the truth, and one that reads what it wrote."""
    ax = sheet(8.2)
    size, x = (1.55, 0.85), 5.2
    rows = (
        (0.7, [*target, "EOS"], "it should write", None, ()),
        (2.6, ["BOS", *target], "told the truth, it reads", "value", ()),
        (
            5.0,
            [*wrong, "…"],
            "left alone: it wrote",
            None,
            [i for i in range(len(wrong)) if wrong[i] != target[i]],
        ),
        (
            6.9,
            ["BOS", *wrong],
            "and it reads",
            "query",
            [i + 1 for i in range(len(wrong)) if wrong[i] != target[i]],
        ),
    )
    drawn = []
    for y, symbols, told, role, marked in rows:
        row = cells(ax, (x, y), [symbols], role=role, weights=0.35 if role else 0.0, size=size)
        label(ax, row, "left", told)
        for i in marked:
            light(ax, row[0, i], margin=0.0)
        drawn.append(row)
    for above, below in ((drawn[0], drawn[1]), (drawn[2], drawn[3])):
        for i in range(len(target)):
            arrow(ax, above[0, i].at("bottom"), below[0, i + 1].at("top"))
    return ax


def scored(s: Tensor, h: Tensor, W_a: Tensor, U_a: Tensor, v: Tensor) -> Axes:
    """Draw how a query and the annotations become additive scores.

    Shapes: s (N,), h (S, N), W_a and U_a (M, N), v (M,).
    """
    ax = sheet(8.3)
    asked, offered = W_a @ s, h @ U_a.T
    hidden = (asked + offered).tanh()
    size = (1.35, 0.85)
    query = cells(ax, (0.4, 1.5), asked[None], role="query", size=size)
    label(ax, query, "top", "$W_a s$")
    heads = ((3.8, offered, "key", "$U_a h_j$"), (7.35, asked + offered, None, "sum"))
    heads += ((10.7, hidden, None, "tanh"), (14.2, (hidden @ v)[:, None], "value", "score"))
    for x, numbers, role, name in heads:
        for j, row in enumerate(numbers):
            block = cells(
                ax,
                (x, 1.5 + 2.2 * j),
                row[None],
                role=role,
                weights=0.4 if role else 0.0,
                size=size,
            )
            if not j:
                label(ax, block, "top", name)
            if role == "key":
                arrow(ax, (3.15, 1.925), block.at("left")) if not j else arrow(
                    ax, query.at("bottom"), block.at("left"), bend=-0.12
                )
                note(ax, (block.middle[0], block.y + 1.2), f"from $h_{j + 1}$")
            else:
                arrow(ax, (block.x - 0.65, block.middle[1]), block.at("left"))
    note(ax, (13.7, 7.75), f"times $v$ = ({v[0]:g}, {v[1]:g})", align="right")
    return ax


def masked(scores: Tensor, real: Tensor, symbols: Sequence[str]) -> Axes:
    """Draw a row of scores, the same with padding shut out, and the weights. Shapes: all (S,)."""
    ax = sheet(6.6)
    size, x = (1.7, 0.9), 4.6
    weights = scores.masked_fill(~real, -torch.inf).softmax(0)
    shown = [f"{e:.2f}" for e in scores.tolist()]
    hidden = [told if seen else "−∞" for told, seen in zip(shown, real.tolist(), strict=True)]
    off = (~real)[None].numpy()
    rows = (
        (0.95, [shown], "scores", None, 0.0, off),
        (3.05, [hidden], "under the mask", None, 0.0, off),
        (5.15, weights[None], "weights", "value", weights[None], False),
    )
    before = None
    for y, numbers, told, role, strength, hatched in rows:
        row = cells(
            ax,
            (x, y),
            numbers,
            role=role,
            weights=strength,
            size=size,
            hatched=hatched if told == "scores" else False,
        )
        label(ax, row, "left", told)
        if before is None:
            label(ax, row, "top", *symbols, weight="bold")
        else:
            arrow(ax, before.at("bottom"), row.at("top"), text="softmax" if role else "")
        before = row
    return ax


def table_filled(source: Sequence[str], target: Sequence[str], weights: Tensor) -> Axes:
    """Draw a table of weights after one step, after two, and full. Shape: weights (T, S)."""
    T, S = weights.shape
    ax = sheet(2.1 + 0.62 * T + 0.75)
    size = (4.3 / S, 0.62)
    for i, rows in enumerate((1, 2, T)):
        x = (0.5, 5.6, 11.4)[i]
        done = torch.where(torch.arange(T)[:, None] < rows, weights, 0.0)
        block = cells(ax, (x, 1.5), [[""] * S] * T, role="value", size=size, weights=done)
        label(ax, block, "top", *source)
        for t in range(rows):
            label(ax, block[t : t + 1, :], "left", target[t], weight="bold")
        light(ax, block[rows - 1 : rows, :] if rows < T else block, margin=0.03)
        told = ("1 step", "2 steps", f"all {T}")[i]
        note(ax, (x + 2.15, 0.35), told, weight="bold")
    note(ax, (8.0, 2.1 + 0.62 * T + 0.25), "across: where it looks.   down: what it writes")
    return ax


def two_decoders() -> Axes:
    """Draw one step of Bahdanau's decoder, and one of Luong's."""
    ax = sheet(7.9)
    size = (1.5, 0.95)
    for name, x in (("Bahdanau", 0.5), ("Luong", 8.7)):
        note(ax, (x + 3.3, 0.5), name, weight="bold")
        before = box(ax, (x, 5.2), "$s_{t-1}$", size, role="query")
        after = box(ax, (x + 5.0, 5.2), "$s_t$", size, role="query")
        alpha = box(ax, (x + 0.9, 3.1), r"$\alpha_t$", size)
        context = box(ax, (x + 3.2, 3.1), "$c_t$", size, role="value")
        out = box(ax, (x + 5.0, 1.1), r"$\tilde{h}_t$", size)
        first = name == "Bahdanau"
        asks = before if first else after
        arrow(ax, before.at("right"), after.at("left"))
        arrow(ax, alpha.at("right"), context.at("left"))
        arrow(ax, after.at("top"), out.at("bottom"))
        if first:
            arrow(ax, asks.at("top"), alpha.at("bottom"), role="query", weight=0.4)
            arrow(ax, context.at("bottom"), (after.x + 0.2, after.y), role="value", weight=0.4)
        else:
            arrow(
                ax, (asks.x + 0.1, asks.y), (alpha.middle[0] + 0.4, 4.05), role="query", weight=0.4
            )
        arrow(ax, context.at("top"), out.at("left"), role="value", weight=0.0 if first else 0.4)
        arrow(ax, (after.middle[0], 7.1), after.at("bottom"))
        note(ax, (after.middle[0], 7.45), "$y_{t-1}$")
    return ax


def tree(model: Mapping[str, Mapping[str, float]], width: int, depth: int) -> Axes:
    """Draw what a beam keeps in a small language, and what it drops.

    model: {beginning: {symbol: its chance}}.
    """
    ax = sheet(8.6)
    beam = {"": 1.0}
    places = {"": box(ax, (0.2, 4.0), "BOS", (1.35, 0.85))}
    for t in range(depth):
        following = {
            beginning + symbol: chance * more
            for beginning, chance in beam.items()
            for symbol, more in model[beginning].items()
        }
        kept = sorted(following, key=following.get, reverse=True)[:width]
        drawn, gap = {}, 8.2 / len(following)
        for i, (text, chance) in enumerate(following.items()):
            y = 0.2 + gap * (i + 0.5) - 0.425
            stays = text in kept
            role = "value" if stays else None
            here = drawn[text] = box(ax, (3.3 + 4.4 * t, y), text, (1.5, 0.85), role=role)
            start = places[text[:-1]].at("right", 1.1 if t else 0.0)
            how = {"role": role, "weight": 0.25 if stays else 0.0, "dashed": not stays}
            arrow(ax, start, here.at("left"), **how)
            bold = "bold" if stays else "normal"
            note(ax, here.at("right", 0.6), f"{chance:.2f}", weight=bold)
        beam, places = {text: following[text] for text in following if text in kept}, drawn
    return ax


def waiting(T: int) -> Axes:
    """Draw T states that wait for each other, and T contexts that don't."""
    ax = sheet(6.9)
    step = 15.0 / T
    note(ax, (0.3, 0.5), f"a recurrence: {T} steps, one after another", align="left", weight="bold")
    note(ax, (0.3, 3.6), "attention: all at once", align="left", weight="bold")
    before = None
    for t in range(T):
        state = box(ax, (0.5 + step * t, 1.1), f"$s_{t + 1}$", (1.2, 0.9), role="query")
        if before:
            arrow(ax, before.at("right"), state.at("left"), role="gradient", weight=0.2)
        before = state
    bottom = [
        box(ax, (0.5 + step * t, 5.7), f"$h_{t + 1}$", (1.2, 0.9), role="state") for t in range(T)
    ]
    top = [
        box(ax, (0.5 + step * t, 4.0), f"$c_{t + 1}$", (1.2, 0.9), role="value") for t in range(T)
    ]
    for c in top:
        for h in bottom:
            arrow(ax, h.at("top"), c.at("bottom"))
    brace(ax, before, "bottom", f"waits for {T - 1}")
    return ax
