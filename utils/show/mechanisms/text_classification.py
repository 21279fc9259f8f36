"""Day 8's larger pictures: the road from a text to an answer, cuts, merges, bags, padding."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from itertools import chain

from matplotlib.axes import Axes

from utils.show.diagrams import arrow, box, cells, label, note, sheet, words
from utils.show.diagrams.sheet import Block

STAGES = "text", "tokens", "reading", "pooling", "answer"
GAP = 0.5  # between words, in cells


def road(sentence: str, answer: str) -> Axes:
    """Draw the road from a text to an answer, stage by stage.

    Raises: ValueError if the sentence is too long for the sheet.
    """
    ax = sheet(9.9)
    tokens = words(ax, (2.2, 2.1), sentence, gap=0.06)
    row = _around(*tokens)
    text = box(ax, (row.x, 0.3), sentence, (row.width, 0.9))
    size = (0.8, 0.45)
    tints = [[0.9], [0.3], [0.6]], [[0.2], [0.8], [0.5]]
    vectors = []
    for i, token in enumerate(tokens):
        look = {"role": "state", "weights": tints[i % 2], "size": size}
        vectors.append(cells(ax, (token.middle[0] - 0.4, 4.0), [[""]] * 3, **look))
    middle = row.middle[0]
    pooled = cells(ax, (middle - 0.4, 6.5), [[""]] * 3, role="state", weights=0.6, size=size)
    said = box(ax, (middle - 2.2, 8.75), answer, (4.4, 0.9))
    for token, vector in zip(tokens, vectors, strict=True):
        x = token.middle[0]
        arrow(ax, (x, text.at("bottom")[1]), token.at("top"))
        arrow(ax, token.at("bottom"), vector.at("top", 0.1))
        arrow(ax, vector.at("bottom", 0.1), pooled.at("top"))
    arrow(ax, pooled.at("bottom"), said.at("top"))
    for stage, block in zip(STAGES, (text, row, vectors[0], pooled, said), strict=True):
        note(ax, (0.2, block.middle[1]), stage, align="left")
    return ax


def _around(first: Block, *others: Block) -> Block:
    """Return the Block from the first to the last of some that stand in a row."""
    last = (first, *others)[-1]
    return Block(first.x, first.y, last.x + last.width - first.x, first.height)


def cuts(text: str, rows: Mapping[str, Sequence[str]], unknown: Container[str] = ()) -> Axes:
    """Draw a text that was cut in several ways, each piece under its letters.

    rows: the pieces for each way to cut; spaces may be left out. unknown: those to be hatched.
    """
    ax = sheet(0.4 + 1.4 * len(rows))
    unit = 11.4 / len(text)
    for i, (name, pieces) in enumerate(rows.items()):
        y, at = 0.5 + 1.4 * i, 0
        note(ax, (0.2, y + 0.42), name, align="left", weight="bold")
        for piece in pieces:
            at = text.index(piece, at)
            size, hatched = (unit * len(piece), 0.85), piece in unknown
            place = 3.1 + unit * at, y
            cells(ax, place, [[piece]], role="key", weights=0.35, size=size, hatched=hatched)
            at += len(piece)
        note(ax, (15.7, y + 0.42), f"{len(pieces)}", align="right")
    return ax


def merging(rows: Sequence[Sequence[Sequence[str]]]) -> Axes:
    """Draw words before and after each merge, what was merged just now in strong colour.

    rows: the pieces of each word, at first and after each merge.
    """
    ax = sheet(0.2 + 1.25 * len(rows))
    unit = 11.0 / (sum(map(len, chain(*rows[0]))) + GAP * (len(rows[0]) - 1))
    before = set(chain(*rows[0]))
    for i, cut in enumerate(rows):
        y, x, pieces = 0.3 + 1.25 * i, 0.3, list(chain(*cut))
        for word in cut:
            for piece in word:
                weight = 0.85 if piece not in before else 0.25 if len(piece) > 1 else 0.0
                size = (unit * len(piece), 0.85)
                cells(ax, (x, y), [[piece]], role="key", weights=weight, size=size)
                x += size[0]
            x += GAP * unit
        before = set(pieces)
        note(ax, (15.7, y + 0.42), f"{len(pieces)} pieces", align="right")
    return ax


def bags(one: str, other: str) -> Axes:
    """Draw two sentences of the same words, and the one bag of counts that both come to.

    Raises: ValueError if their words differ.
    """
    counts = Counter(one.split())
    if counts != Counter(other.split()):
        raise ValueError(f"{one!r} and {other!r} do not have the same words.")
    ax = sheet(7.7)
    known = list(counts)
    size = (13.7 / len(known), 0.85)
    contents = [[str(counts[word]) for word in known]]
    bag = cells(ax, (2.1, 3.3), contents, role="key", weights=0.4, size=size)
    label(ax, bag, "left", "counts")
    label(ax, bag, "bottom", *known)
    for sentence, y, ends in ((one, 0.3, ("bottom", "top")), (other, 6.5, ("top", "bottom"))):
        blocks = words(ax, (1.8, y), sentence, gap=0.1)
        for word, block in zip(sentence.split(), blocks, strict=True):
            target = bag[0, known.index(word)].at(ends[1], 0.1 if y < 3 else 0.75)
            arrow(ax, block.at(ends[0]), target)
    return ax


def padded(lengths: Sequence[int], batch_size: int) -> Axes:
    """Draw sequences in batches as they come, and sorted by length first; padding is hatched."""
    n_batches = -(-len(lengths) // batch_size)
    ax = sheet(2.0 + 0.42 * len(lengths) + 0.45 * n_batches)
    size = (6.6 / max(lengths), 0.42)
    orders = {"as they come": list(lengths), "sorted by length": sorted(lengths)}
    for x, (title, order) in zip((0.5, 8.9), orders.items(), strict=True):
        note(ax, (x + 3.3, 0.5), title, weight="bold")
        y, places = 1.1, 0
        for start in range(0, len(order), batch_size):
            batch = order[start : start + batch_size]
            width = max(batch)
            missing = [[t >= length for t in range(width)] for length in batch]
            blank = [[""] * width] * len(batch)
            cells(ax, (x, y), blank, role="state", weights=0.6, size=size, hatched=missing)
            y += 0.42 * len(batch) + 0.45
            places += width * len(batch)
        note(ax, (x + 3.3, y + 0.1), f"padding: {places - sum(order)} of {places} positions")
    return ax
