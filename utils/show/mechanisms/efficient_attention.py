"""Day 7's pictures: pairs that come again, a cache, tiles, windows; two orders and a board."""

import math

import torch
from matplotlib.axes import Axes
from torch import Tensor

from utils.show.diagrams import arrow, box, brace, cells, label, light, note, sheet

WORD = "matrices"
SMALL = (0.62, 0.62)


def again() -> Axes:
    """Draw the pairs of three steps of writing, each of which reads the whole text again."""
    ax = sheet(5.9)
    x = 1.0
    for t in (2, 3, 4):
        past = torch.ones(t, t).tril()
        new = torch.zeros(t, t)
        new[-1] = 1
        tints = 0.25 * past + 0.6 * new
        crossed = (past - new).clamp(min=0).bool()
        grid = cells(ax, (x, 1.3), [[""] * t] * t, role="key", weights=tints, struck=crossed)
        label(ax, grid, "left", *WORD[:t])
        label(ax, grid, "top", *WORD[:t])
        note(ax, (grid.middle[0], 5.4), f"{t * (t + 1) // 2} pairs, {t} new")
        x += 1.05 * t + 1.6
    return ax


def three_ways() -> Axes:
    """Draw three ways to shorten a meeting: a memory, small groups, neighbours."""
    ax, T = sheet(5.1), 6
    t, s = torch.arange(T)[:, None], torch.arange(T)
    past = t >= s
    pictures = {
        "nothing twice": 0.2 * past + 0.6 * (t == T - 1),
        "a tile at a time": 0.2 * past + 0.6 * ((t // 2 == 2) & (s // 2 == 1)),
        "neighbours": 0.7 * (past & (t - s <= 2)),
    }
    blank, size = [[""] * T] * T, (0.5, 0.5)
    for x, (name, tints) in zip((1.2, 6.0, 11.6), pictures.items(), strict=True):
        grid = cells(ax, (x, 1.2), blank, role="key", weights=tints, size=size)
        note(ax, (grid.middle[0], 0.6), name, weight="bold")
    note(ax, (5.1, 4.75), "the same answers", style="italic")
    note(ax, (13.1, 4.75), "other answers", style="italic")
    return ax


def window(mask: Tensor) -> Axes:
    """Draw which letters of a word each letter sees. Shapes: mask (T, T)."""
    ax = sheet(7.4)
    T = len(mask)
    ticks = [["✓" if seen else "" for seen in row] for row in mask.tolist()]
    grid = cells(ax, (4.6, 1.4), ticks, role="key", weights=0.6 * mask, size=(0.85, 0.66))
    label(ax, grid, "top", *WORD[:T])
    label(ax, grid, "left", *WORD[:T])
    light(ax, grid[T - 2, :])
    note(ax, (grid.middle[0], 0.5), "is seen", weight="bold")
    note(ax, (2.0, grid.middle[1]), "sees", weight="bold")
    return ax


def reach(w: int, layers: int) -> Axes:
    """Draw how far information travels through blocks that each see w positions back."""
    ax = sheet(7.4)
    T = len(WORD)
    places = [2.6 + 1.6 * t for t in range(T)]
    rows = []
    for layer in range(layers + 1):
        y = 6.0 - 1.75 * layer
        at = [T - 1 - w * (layers - layer) <= t for t in range(T)]
        row = [
            box(ax, (x, y), WORD[t] if not layer else "", (0.8, 0.8), role="state" if on else None)
            for t, (x, on) in enumerate(zip(places, at, strict=True))
        ]
        note(ax, (0.2, y + 0.4), f"block {layer}" if layer else "text", align="left")
        for t, upper in enumerate(row if layer else ()):
            if at[t] and (layer < layers or t == T - 1):
                for s in range(max(0, t - w), t + 1):
                    arrow(ax, rows[-1][s].at("top"), upper.at("bottom"))
        rows.append(row)
    return ax


def blocks(mask: Tensor, size: int) -> Axes:
    """Draw which pairs are computed in pieces, and which of them are then masked.

    Shapes: mask (T, T), of a causal window as wide as a piece.
    """
    ax = sheet(8.2)
    T = len(mask)
    t, s = torch.arange(T)[:, None] // size, torch.arange(T) // size
    computed = (s == t) | (s == t - 1)
    grid = cells(
        ax,
        (3.2, 1.4),
        [[""] * T] * T,
        role="key",
        weights=0.6 * (mask & computed),
        struck=computed & ~mask,
        size=(0.85, 0.66),
    )
    label(ax, grid, "top", *WORD[:T])
    label(ax, grid, "left", *WORD[:T])
    light(ax, grid[T - size : T, T - 2 * size : T])
    brace(ax, grid[T - size : T, T - 2 * size : T], "bottom", "the piece before, and its own")
    note(ax, (13.6, 3.0), "blank:\nnever computed")
    note(ax, (13.6, 5.6), "struck out:\ncomputed, masked")
    return ax


def orders() -> Axes:
    """Draw (QKᵀ)V beside Q(KᵀV) as rectangles."""
    ax = sheet(9.6)
    long, thin = 3.3, 0.85

    def part(place, text, size, role=None):
        return cells(ax, place, [[text]], role=role, weights=0.35 if role else 0.12, size=size)

    note(ax, (0.3, 0.5), r"pairs first: $(\phi_Q\, \phi_K^\top)\, V$", align="left", weight="bold")
    part((0.4, 1.2), "", (thin, long), "query")
    part((1.7, 2.4), "", (long, thin), "key")
    note(ax, (0.83, 4.85), "$T × m$")
    note(ax, (3.35, 3.65), "$m × T$")
    note(ax, (5.45, 2.85), "=", weight="bold")
    part((5.9, 1.2), "$T × T$", (long, long))
    note(ax, (9.6, 2.85), "·", weight="bold")
    part((10.0, 1.2), "", (thin, long), "value")
    note(ax, (10.43, 4.85), "$T × d$")
    note(ax, (11.5, 2.85), "=", weight="bold")
    part((12.1, 1.2), "", (thin, long), "state")
    note(
        ax,
        (0.3, 5.5),
        r"keys and values first: $\phi_Q\, (\phi_K^\top\, V)$",
        align="left",
        weight="bold",
    )
    part((0.4, 7.2), "", (long, thin), "key")
    part((4.0, 6.1), "", (thin, long), "value")
    note(ax, (5.45, 7.6), "=", weight="bold")
    part((5.9, 7.2), "", (thin, thin))
    note(ax, (6.33, 8.4), "$m × d$")
    note(ax, (8.4, 7.6), "and then", style="italic")
    part((10.0, 6.1), "", (thin, long), "query")
    part((11.2, 7.2), "", (thin, thin))
    note(ax, (12.55, 7.6), "=", weight="bold")
    part((13.1, 6.1), "", (thin, long), "state")
    return ax


def board(phi_q: Tensor, phi_k: Tensor, v: Tensor, S: Tensor) -> Axes:
    """Draw one key and value that are added to the board, and a query that reads it.

    Shapes: phi_q and phi_k (1, m), v (1, d_v), S (m, d_v), what is held before.
    """
    ax = sheet(5.9)
    added = phi_k.mT @ v
    key = cells(ax, (1.5, 2.2), phi_k.mT, role="key", weights=0.7)
    value = cells(ax, (2.9, 1.0), v, role="value", weights=0.7)
    outer = cells(ax, (2.9, 2.2), added)
    before = cells(ax, (6.3, 2.2), S, role="state", weights=0.4)
    after = cells(ax, (9.7, 2.2), S + added, role="state", weights=0.9)
    query = cells(ax, (12.9, 1.0), phi_q, role="query", weights=0.7)
    found = cells(ax, (12.9, 4.3), phi_q @ (S + added), role="value", weights=0.35)
    note(ax, (5.65, 3.05), "+", weight="bold")
    note(ax, (9.05, 3.05), "=", weight="bold")
    label(ax, key, "left", r"$\phi(k_t)$")
    label(ax, value, "left", "$v_t$")
    label(ax, outer, "bottom", "to be added")
    label(ax, before, "bottom", "$S_{t-1}$")
    label(ax, after, "bottom", "$S_t$")
    label(ax, query, "top", r"$\phi(q_t)$")
    label(ax, found, "bottom", r"$\phi(q_t)\, S_t$")
    arrow(ax, query.at("bottom"), found.at("top"))
    arrow(ax, after.at("right"), found.at("left"), bend=-0.1)
    return ax


def online(scores: Tensor, values: Tensor, size: int) -> Axes:
    """Draw an online softmax that takes in scores tile by tile. Shapes: scores and values (n,)."""
    ax = sheet(7.9)
    m, total, a = -math.inf, 0.0, 0.0
    x = 1.7
    for number, (tile, v) in enumerate(zip(scores.split(size), values.split(size), strict=True)):
        row = cells(ax, (x, 1.4), tile[None], role="key", weights=0.5)
        below = cells(ax, (x, 2.25), v[None], role="value", weights=0.5)
        if not number:
            label(ax, row, "left", "scores")
            label(ax, below, "left", "values")
        note(ax, (row.middle[0], 0.7), f"tile {number + 1}", weight="bold")
        new = max(m, tile.max().item())
        rescale = math.exp(m - new)
        weights = (tile - new).exp()
        m, total, a = (
            new,
            rescale * total + weights.sum().item(),
            rescale * a + (weights @ v).item(),
        )
        sums = cells(
            ax, (x + 0.1, 4.2), [[m], [total], [a]], role="state", weights=0.5, size=(1.6, 0.85)
        )
        if number:
            arrow(ax, before.at("right"), sums.at("left"), text=f"× {rescale:.2f}")  # noqa: F821
        else:
            label(ax, sums, "left", "$m$", r"$\ell$", "$a$")
        arrow(ax, below.at("bottom"), sums.at("top"))
        before = sums
        x += 4.2
    end = cells(ax, (x + 0.5, 5.05), [[a / total]], role="value", weights=0.9, size=(1.6, 0.85))
    arrow(ax, before.at("right"), end.at("left"), text=r"$a / \ell$")
    label(ax, end, "bottom", "context")
    return ax


def walk() -> Axes:
    """Draw the walk along a row of tiles: of all scores, one tile is stored at a time."""
    ax, n = sheet(6.9), 5
    size = (0.98, 0.98)
    t, s = torch.arange(n)[:, None], torch.arange(n)
    order = [
        [str(i + 1) if i <= 3 else "" for i in range(n)] if row == 3 else [""] * n
        for row in range(n)
    ]
    tints = 0.08 * (t >= s) + 0.72 * ((t == 3) & (s == 2))
    q = cells(ax, (0.9, 1.4), [[""]] * n, role="query", weights=0.5 * (t == 3) + 0.1, size=size)
    grid = cells(ax, (2.5, 1.4), order, role="key", weights=tints, size=size)
    label(ax, q, "top", "queries")
    label(ax, grid, "top", "keys, tile by tile")
    light(ax, grid[3, 2])
    sums = [
        cells(ax, (8.9 + 1.5 * i, 4.34), [[name]], role="state", weights=0.5, size=(1.0, 0.98))
        for i, name in enumerate(("$m$", r"$\ell$", "$a$"))
    ]
    arrow(ax, grid[3, 4].at("right"), sums[0].at("left"))
    note(ax, (10.9, 3.7), "kept for these queries")
    note(ax, (11.6, 1.9), "tile 3 is there now;\n1 and 2 are gone, 4 is still to come")
    return ax


def cache(steps: int, first: int) -> Axes:
    """Draw keys and values that grow by a column for each new letter."""
    ax = sheet(7.6)
    x = 1.9
    for step in range(steps):
        n = first + step
        new = (torch.arange(n) == n - 1).float()
        blank = [[""] * n] * 2
        keys = cells(ax, (x, 2.1), blank, role="key", weights=0.25 + 0.65 * new, size=SMALL)
        values = cells(ax, (x, 4.1), blank, role="value", weights=0.25 + 0.65 * new, size=SMALL)
        scores = cells(ax, (x, 6.0), [[""] * n], role="query", weights=0.5, size=SMALL)
        label(ax, keys, "top", *WORD[:n])
        for block in (keys, values):
            light(ax, block[:, n - 1])
        note(ax, (keys.middle[0], 0.6), f"“{WORD[n - 1]}” comes", weight="bold")
        note(ax, (scores.middle[0], 7.0), f"{n} new pairs")
        if not step:
            for block, name in ((keys, "keys"), (values, "values"), (scores, "scores")):
                label(ax, block, "left", name)
        x += 0.62 * n + 1.7
    return ax
