"""Day 5's larger pictures: two roads, looks, masks, heads."""

import torch
from matplotlib.axes import Axes
from torch import Tensor

from utils.show.diagrams import arrow, box, brace, cells, label, light, note, sheet, words

NAMES = "cat", "sat", "there"


def roads(sentence: str, asks: int, asked: int) -> Axes:
    """Draw the way from one word of a sentence to another: through all states, and by a look."""
    ax = sheet(6.6)
    told = f"Yesterday, word after word: {asks - asked} steps"
    note(ax, (0.25, 0.55), told, align="left", weight="bold")
    line = words(ax, (0.25, 3.1), sentence, gap=0.42)
    states = [
        box(ax, (word.middle[0] - 0.35, 1.15), f"$h_{i}$", (0.7, 0.85), role="state")
        for i, word in enumerate(line[:-1])
    ]
    for i, (word, state) in enumerate(zip(line[:-1], states, strict=True)):
        arrow(ax, word.at("top"), state.at("bottom"))
        if i:
            on_the_way = 0.2 * (asked < i <= asks)
            arrow(ax, states[i - 1].at("right"), state.at("left"), weight=on_the_way)
    start, end = line[asks].at("bottom"), line[asked].at("bottom")
    arrow(ax, start, end, role="query", weight=0.35, bend=0.12)
    note(ax, (0.25, 6.1), "Today, straight to the word: 1 step", align="left", weight="bold")
    return ax


def looks(q: Tensor, k: Tensor, v: Tensor, everyone: bool = True, bare: bool = False) -> Axes:
    """Draw the looks of three words as a map, or the first alone. Shapes: q, k, v (3, 2).

    bare: the words themselves look, so scores are not scaled, and nothing has a role.
    """
    scores = q @ k.T if bare else q @ k.T / q.shape[1] ** 0.5
    weights = scores.softmax(dim=1)
    n = len(q) if everyone else 1
    ax = sheet(7.8 if everyone else 5.6)
    query, key, value = (None, None, None) if bare else ("query", "key", "value")
    Q = cells(ax, (1.45, 3.9), q[:n], role=query)
    K = cells(ax, (4.15, 1.4), k.T, role=key)
    E = cells(ax, (4.15, 3.9), scores[:n])
    A = cells(ax, (9.5, 3.9), weights[:n], weights=weights[:n])
    V = cells(ax, (13.7, 0.6), v, role=value, weights=1.0 if everyone else weights[:1].T)
    Y = cells(ax, (13.7, 3.9), weights[:n] @ v, role="value", weights=0.35)
    for start, end, text in ((Q, E, ""), (E, A, "softmax"), (A, Y, "")):
        arrow(ax, start.at("right"), end.at("left"), text=text)
    for above, below in ((K, E), (V, Y)):
        arrow(ax, above.at("bottom"), below.at("top"))
    below = "word" if bare else "query", "scores", "weights", "output"
    if everyone:
        below = "$Q$\n$(T, d_k)$", "scores\n$(T, T)$", "weights\n$(T, T)$", "$Y$\n$(T, d_v)$"
    for block, name in zip((Q, E, A, Y), below, strict=True):
        label(ax, block, "bottom", name)
        if everyone:
            light(ax, block[0, :])
    label(ax, Q, "left", *NAMES[:n])
    label(ax, K, "top", *NAMES)
    label(ax, K, "left", r"$K^\top$ $(d_k, T)$" if everyone else "words" if bare else "keys")
    label(ax, V, "left", *(["$V$ $(T, d_v)$"] if everyone else NAMES))
    return ax


def masks() -> Axes:
    """Draw what a causal mask, one of padding and both leave of three words and a padded place."""
    names = (*NAMES, "pad")
    real = torch.tensor([True, True, True, False])  # (T,)
    causal = torch.ones(4, 4).tril().bool()  # (T, T)
    all_read, real_read = torch.ones(4, 1).bool(), real[:, None]
    kinds = {"causal": (causal, all_read), "padding": (real, real_read)}
    kinds["both"] = causal & real, real_read
    ax = sheet(5.9)
    for i, (name, (mask, read)) in enumerate(kinds.items()):
        seen, hidden = mask & read, ~mask & read
        ticks = [["✓" if tick else "" for tick in row] for row in seen.tolist()]
        how = {"weights": 0.6 * seen, "struck": hidden, "hatched": ~read, "size": (1.12, 0.85)}
        grid = cells(ax, (1.5 + 4.85 * i, 1.6), ticks, role="key", **how)
        label(ax, grid, "top", *names)
        note(ax, (grid.middle[0], 0.45), name, weight="bold")
        if not i:
            label(ax, grid, "left", *names)
        label(ax, grid, "bottom", "keys")
    return ax


def heads() -> Axes:
    """Draw two heads: the width is cut, each looks by itself, what they found is mixed."""
    T, h, d_k, size = 3, 2, 4, (0.42, 0.62)
    scores = [[[1.0, 3, 2], [3, 1, 2], [2, 2, 2]], [[4, 0, 0], [0, 4, 0], [0, 1, 4]]]
    weights = torch.tensor(scores).softmax(dim=2)
    ax = sheet(10.9)

    def columns(place, role, n=d_k, tint=1.0):
        return cells(ax, place, [[""] * n] * T, role=role, weights=tint, size=size)

    for i in range(h):
        role, start = f"head {i}", (1.5, 8.9)[i]
        whole = columns((6.32 + 1.68 * i, 1.15), role)
        cut, found = columns((start, 4.6), role), columns((start + 4.9, 4.6), role)
        A = cells(ax, (start + 2.35, 4.6), [[""] * T] * T, weights=weights[i], size=(0.62, 0.62))
        joined = columns((3.4 + 1.68 * i, 8.3), role)
        arrow(ax, whole.at("bottom"), cut.at("top"))
        arrow(ax, cut.at("right"), A.at("left"))
        arrow(ax, A.at("right"), found.at("left"))
        arrow(ax, found.at("bottom"), joined.at("top"))
        brace(ax, whole, "top", "$d_k$")
        label(ax, A, "top", f"head {i + 1}", weight="bold")
        for block in (whole, cut, joined) if not i else ():
            label(ax, block, "left", *NAMES)
    out = columns((10.4, 8.3), "value", h * d_k, 0.35)
    arrow(ax, joined.at("right"), out.at("left"), text="$W_o$")
    note(ax, (9.95, 2.08), "one width D, cut", align="left")
    label(ax, joined[:, 0:1], "bottom", "side by side")
    label(ax, out, "bottom", "mixed")
    return ax


def cuts() -> Axes:
    """Draw the right way to cut a width into heads, and a plain view into the same shape."""
    B, T, h, d_k = 1, 3, 2, 4
    x = torch.arange(B * T * h * d_k).view(B, T, h * d_k)
    right, wrong = x.view(B, T, h, d_k).transpose(1, 2), x.view(B, h, T, d_k)
    ax = sheet(9.0)

    def rows(place, numbers, labelled=True):
        for i, row in enumerate(numbers):
            t, column = divmod(int(row[0]), h * d_k)
            at, role = (place[0], place[1] + 0.75 * i), f"head {column // d_k}"
            block = cells(ax, at, row[None], role=role, size=(0.62, 0.75))
            if labelled:
                label(ax, block, "left", NAMES[t])

    for i in range(h):
        rows((1.35 + 2.48 * i, 3.55), x[0, :, i * d_k :][:, :d_k], labelled=not i)
    ways = (("Right", 1.9, right, "view(B, T, h, d_k).transpose(1, 2)"),)
    ways += (("Wrong", 6.5, wrong, "view(B, h, T, d_k)"),)
    for told, top, cut, call in ways:
        note(ax, (7.2, top - 1.3), told, align="left", weight="bold")
        note(ax, (7.2, top - 0.7), call, align="left", family="monospace")
        arrow(ax, (6.4, 4.675), (7.4, top + 1.125))
        for i in range(h):
            rows((9.0 + 4.2 * i, top), cut[0, i])
    return ax
