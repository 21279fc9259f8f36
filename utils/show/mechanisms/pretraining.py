"""Day 10's pictures: who sees what, which words are hidden, asked and shown, a road, a student."""

import math
from collections.abc import Mapping, Sequence

import torch
from matplotlib.axes import Axes
from torch import Tensor

from utils.show.diagrams import Block, arrow, box, cells, label, light, note, sheet

SENTENCE = ("take", "elements", "from", "an", "array", "along", "an", "axis")
AT = SENTENCE.index("array")  # the word that is guessed
HIDDEN = "[MASK]"
HEIGHT = 0.85  # of a row


def _columns(*rows: Sequence[str]) -> list[float]:
    """Return how wide columns have to be for their longest texts."""
    return [0.2 * max(map(len, texts)) + 0.45 for texts in zip(*rows, strict=True)]


def _row(
    ax: Axes,
    x: float,
    y: float,
    texts: Sequence[str],
    widths: Sequence[float],
    role: str | None = None,
    tints: Sequence[float] | None = None,
) -> list[Block]:
    """Draw a cell for each text, side by side, in the strength of its tint."""
    blocks = []
    for i, (text, width) in enumerate(zip(texts, widths, strict=True)):
        tint = None if role is None else 0.5 if tints is None else tints[i]
        size = (width, HEIGHT)
        blocks.append(cells(ax, (x, y), [[text]], role=role, weights=tint, size=size)[0, 0])
        x += width
    return blocks


# The idea -----------------------------------------------------------------------------------------


def both_sides() -> Axes:
    """Draw what a guess at one place may look at: the past, or both sides."""
    ax = sheet(6.3)
    widths = _columns(SENTENCE)
    x = (16 - sum(widths)) / 2
    rows = ((1.7, "GPT: what comes next?", AT), (4.9, "today: what is hidden?", len(SENTENCE)))
    for y, name, seen in rows:
        row = [word if i < seen and i != AT else "" for i, word in enumerate(SENTENCE)]
        blocks = _row(ax, x, y, row, widths, "state", [0.5 * (t != "") for t in row])
        asked = blocks[AT]
        cells(ax, (asked.x, y), [["?"]], role="gradient", size=(asked.width, HEIGHT))
        for i, block in enumerate(blocks):
            if i < seen and i != AT:
                bend = 0.1 if i < AT else -0.1
                arrow(ax, block.at("top"), asked.at("top"), bend=bend)
        note(ax, (x, y - 1.25), name, align="left", weight="bold")
    return ax


def road(lit: int | None = None) -> Axes:
    """Draw two stations: guess words, then answer a question.

    lit: the number of the one that is framed.
    """
    L, wide, left = 2, 4.4, 2.2
    floor = 2.6 + HEIGHT * L
    ax = sheet(floor + 2.9)
    stations = (("pre-train", "text without labels", "which word?"),)
    stations += (("fine-tune", "a few labels", "which library?"),)
    towers = []
    for number, (name, text, question) in enumerate(stations, start=1):
        note(ax, (left + wide / 2, 0.45), f"{number}. {name}", weight="bold")
        read = box(ax, (left, floor + 1.75), text, (wide, HEIGHT), role="state")
        words = box(ax, (left, floor + 0.45), "table of words", (wide, HEIGHT), role="key")
        blocks = [["block"]] * L
        tower = cells(ax, (left, floor - HEIGHT * L), blocks, role="query", size=(wide, HEIGHT))
        answer = box(ax, (left, 1.1), question, (wide, HEIGHT), role="value")
        for below, above in ((read, words), (words, tower), (tower, answer)):
            arrow(ax, below.at("top"), above.at("bottom"))
        if number == lit:
            light(ax, Block(left, 0.95, wide, floor + 1.8), margin=0.15)
        towers.append(tower)
        left += 7.2
    arrow(ax, towers[0].at("right"), towers[1].at("left"))
    return ax


# Hidden words -------------------------------------------------------------------------------------


def hiding(
    hides: Sequence[float], how: Sequence[float], drawn: Sequence[str], share: float
) -> Axes:
    """Draw which words two dice choose, what is read in their place, and what is asked.

    hides, how, drawn: the dice of each word of SENTENCE.
    """
    ax = sheet(7.1)
    asked = [die < share for die in hides]
    reads = [
        HIDDEN if a and b < 0.8 else other if a and b >= 0.9 else word
        for a, b, other, word in zip(asked, how, drawn, SENTENCE, strict=True)
    ]
    second = [f"{b:.2f}" if a else "" for a, b in zip(asked, how, strict=True)]
    target = [word if a else "" for a, word in zip(asked, SENTENCE, strict=True)]
    rows = {
        "text": (SENTENCE, "state", [0.5] * len(SENTENCE)),
        "hides": ([f"{a:.2f}" for a in hides], "key", [0.7 * a for a in asked]),
        "how": (second, "key", [0.7 * a for a in asked]),
        "read": (reads, "query", [0.75 if a else 0.15 for a in asked]),
        "target": (target, "gradient", [0.9 * a for a in asked]),
    }
    widths = _columns(*(texts for texts, _, _ in rows.values()))
    x = 2.2
    for i, (name, (texts, role, tints)) in enumerate(rows.items()):
        y = 0.3 + 1.15 * i
        blocks = _row(ax, x, y, texts, widths, role, tints)
        note(ax, (0.2, blocks[0].middle[1]), name, align="left", weight="bold")
    told = f"asked for: below {share:g}. How: below 0.8 {HIDDEN}; from 0.9 on another word"
    note(ax, (8.0, 6.5), told)
    return ax


def trap() -> Axes:
    """Draw what stands where a word is asked for, and what stands there when tuned."""
    ax = sheet(7.6)
    names = ("8 in 10", "1 in 10", "1 in 10", "tuned")
    shown = (HIDDEN, "color", SENTENCE[AT], SENTENCE[AT])
    rows = [[*SENTENCE[:AT], word, *SENTENCE[AT + 1 :]] for word in shown]
    widths, x = _columns(*rows), 2.0
    for i, (name, row) in enumerate(zip(names, rows, strict=True)):
        tuned = name == "tuned"
        y = 1.9 + i + tuned
        blocks = _row(ax, x, y, row, widths, "state", [0.6 if j == AT else 0.1 for j in range(8)])
        note(ax, (0.2, blocks[0].middle[1]), name, align="left", weight="bold")
        if i == 0:
            x_asked = blocks[AT].middle[0]
            target = box(ax, (x_asked - 1.4, 0.3), f"{SENTENCE[AT]}?", (2.8, HEIGHT), role="value")
            arrow(ax, blocks[AT].at("top"), target.at("bottom"))
            note(ax, (target.x - 0.3, target.middle[1]), "asked in all three:", align="right")
        if tuned:
            note(ax, (8.0, y + 1.25), f"no {HIDDEN} any more, and every word has to count")
    return ax


def asked_alone(reads: Sequence[str], chances: dict[int, float]) -> Axes:
    """Draw the loss at a few positions: the probability of the original word, by position."""
    ax = sheet(7.2)
    words = [SENTENCE[i] if i in chances else "" for i in range(len(SENTENCE))]
    widths, x = _columns(reads, words, ["0.00"] * len(words)), 2.2
    read = _row(ax, x, 6.0, reads, widths, "state")
    vectors = _row(
        ax, x, 4.75, ["x"] * len(reads), widths, "query", [0.25 + 0.5 * (w != "") for w in words]
    )
    nats = {i: -math.log(chance) for i, chance in chances.items()}
    for i, chance in chances.items():
        arrow(ax, vectors[i].at("top"), (vectors[i].middle[0], 4.2))
        size = (widths[i], HEIGHT)
        for y, text, role, tint in (
            (3.35, words[i], "value", 0.6),
            (2.5, f"{chance:.2f}", "value", 0.1),
            (1.2, f"{nats[i]:.2f}", "gradient", 0.25),
        ):
            cells(ax, (vectors[i].x, y), [[text]], role=role, weights=tint, size=size)
    heights = (
        (6.0, "read"),
        (4.75, "vectors"),
        (3.35, "target"),
        (2.5, "probability"),
        (1.2, "−ln"),
    )
    for y, name in heights:
        note(ax, (0.2, y + HEIGHT / 2), name, align="left", weight="bold")
    for above, below in zip(read, vectors, strict=True):
        arrow(ax, above.at("top"), below.at("bottom"))
    mean = sum(nats.values()) / len(nats)
    note(ax, (8.0, 0.5), f"mean of {len(nats)}: {mean:.2f}", weight="bold")
    return ax


def swapped() -> Axes:
    """Draw one sentence with a gap twice: as it was, and with *an* become *a*."""
    ax = sheet(5.6)
    rows = [list(SENTENCE), list(SENTENCE)]
    for row in rows:
        row[AT] = HIDDEN
    rows[1][AT - 1] = "a"
    widths = _columns(*rows)
    x = (16 - sum(widths)) / 2
    for y, row, question in ((1.7, rows[0], "a vowel?"), (3.9, rows[1], "and now?")):
        tints = [0.8 if j == AT - 1 else 0.5 if j == AT else 0.1 for j in range(len(row))]
        blocks = _row(ax, x, y, row, widths, "query", tints)
        middle = blocks[AT].middle[0]
        answer = box(ax, (middle - 1.5, y - 1.3), question, (3.0, HEIGHT), role="value")
        arrow(ax, blocks[AT].at("top"), answer.at("bottom"))
    note(ax, (8.0, 5.3), "one word is changed, and nothing else")
    return ax


def passages() -> Axes:
    """Draw a document's sentences, numbered, and three ways to make a passage of them."""
    ax = sheet(7.4)
    n = 8
    module = cells(
        ax, (0.6, 1.2), [[f"sentence {i}"] for i in range(n)], role="state", weights=0.4,
        size=(3.4, 0.72),
    )  # fmt: skip
    note(ax, (module.middle[0], 0.6), "a module", weight="bold")
    ways = {
        "one sentence": [2],
        "in order": [2, 3, 4, 5],
        "mixed": [6, 1, 7, 3],
    }
    for i, (name, chosen) in enumerate(ways.items()):
        x = 5.0 + 3.8 * i
        shown = [[f"sentence {j}"] for j in chosen]
        cells(ax, (x, 2.6), shown, role="query", weights=0.6, size=(3.1, 0.72))
        note(ax, (x + 1.55, 2.0), name, weight="bold")
    return ax


# A student ----------------------------------------------------------------------------------------


def soft(words: Sequence[str], logits: Tensor, right: int, taus: Sequence[float]) -> Axes:
    """Draw what a text says of a hidden word, and what a teacher says at temperatures.

    Shapes: logits (n,), of n words.
    """
    ax = sheet(1.3 + 1.2 * (1 + len(taus)))
    rows = {"the text": torch.eye(len(words))[right]}
    rows |= {f"teacher, τ = {tau:g}": (logits / tau).softmax(dim=0) for tau in taus}
    for i, (name, p) in enumerate(rows.items()):
        y, size = 1.1 + 1.2 * i, (2.1, HEIGHT)
        shown = [[f"{each:.2f}" for each in p.tolist()]]
        grid = cells(ax, (4.6, y), shown, role="value", weights=p[None], size=size)
        note(ax, (0.2, grid.middle[1]), name, align="left", weight="bold")
        if i == 0:
            label(ax, grid, "top", *words)
    return ax


def halved(sizes: Sequence[tuple[str, str, int]]) -> Axes:
    """Draw which of a teacher's blocks its student begins with.

    sizes: for each pair the names of the two, and how many blocks the teacher has.
    """
    step, most = 0.6, max(n for _, _, n in sizes)
    ax = sheet(1.6 + step * most)
    foot, size = 1.3 + step * most, (1.9, step)
    for i, (teacher, student, n) in enumerate(sizes):
        x = 1.3 + 8.0 * i
        blocks = [[f"block {j}"] for j in reversed(range(n))]
        taught = [[f"block {j}"] for j in reversed(range((n + 1) // 2))]
        tall = cells(ax, (x, foot - step * n), blocks, role="query", weights=0.7, size=size)
        low = cells(
            ax, (x + 4.0, foot - step * len(taught)), taught, role="value", weights=0.7, size=size
        )
        for j in range(len(taught)):
            arrow(ax, tall[n - 1 - 2 * j, 0].at("right"), low[len(taught) - 1 - j, 0].at("left"))
        note(ax, (tall.middle[0], tall.y - 0.4), teacher, weight="bold")
        note(ax, (low.middle[0], low.y - 0.4), student, weight="bold")
    return ax


# Where it breaks ----------------------------------------------------------------------------------


def each_for_itself(phrases: Mapping[tuple[str, str], float]) -> Axes:
    """Draw two gaps, the phrases that would fill them, and what is likeliest in each gap alone.

    phrases: two words that go together, and their chance. A word's in a gap is that of all its
    phrases.
    """
    before = "set", "the"
    ax = sheet(2.5 + 1.3 * len(phrases))
    size, x = (2.7, HEIGHT), [2.6, 5.3, 8.0, 11.6]
    best = []
    for gap in (0, 1):
        chances: dict[str, float] = {}
        for words, p in phrases.items():
            chances[words[gap]] = chances.get(words[gap], 0.0) + p
        word = max(chances, key=chances.__getitem__)
        best.append(f"{word} {chances[word]:.1f}")
    rows = {
        "read": (0.3, ["?", "?"], "state"),
        "filled": (1.35 + 1.3 * len(phrases), best, "gradient"),
    }
    for name, (y, words, role) in rows.items():
        note(ax, (0.2, y + HEIGHT / 2), name, align="left", weight="bold")
        for i, word in enumerate((*before, *words)):
            of = role if i >= len(before) else "state"
            cells(ax, (x[i], y), [[word]], role=of, weights=0.5, size=size)
    note(ax, (0.2, 1.1 + 0.65 * len(phrases)), "go together", align="left", weight="bold")
    for row, (words, p) in enumerate(phrases.items()):
        y = 1.6 + 1.3 * row
        one, other = (
            cells(ax, (place, y), [[word]], role="value", weights=p, size=size)
            for place, word in zip(x[2:], words, strict=True)
        )
        arrow(ax, one.at("right"), other.at("left"))
        note(ax, (x[2] - 0.2, y + HEIGHT / 2), f"{p:.1f}", align="right")
    return ax
