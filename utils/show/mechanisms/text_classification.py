"""Day 8's larger pictures: the road from a text to an answer, cuts, merges, bags, padding."""

from collections import Counter
from collections.abc import Sequence

from matplotlib.axes import Axes

from utils.arguments import check_choice
from utils.show.diagrams import arrow, box, cells, label, light, note, sheet, words
from utils.show.diagrams.sheet import Block

STAGES = "text", "tokens", "reading", "pooling", "answer"


def road(sentence: str, answer: str, lit: str | None = None) -> Axes:
    """Draw the road from a text to an answer, with the stage in a frame that the page is at.

    lit: one of `STAGES`.
    Raises: ValueError if it is none of them, or the sentence is too long for the sheet.
    """
    check_choice("lit", lit, [None, *STAGES])
    ax = sheet(10.6)
    left, middle = 2.5, 9.3
    text = box(ax, (left, 0.3), sentence, (13.2, 0.9))
    tokens = words(ax, (left, 2.2), sentence, gap=0.25)
    shift = left + 13.2 - (tokens[-1].x + tokens[-1].width)
    if shift > 0:  # in the middle
        for patch in ax.patches[-len(tokens) :]:
            patch.set_x(patch.get_x() + shift / 2)
        for written in ax.texts[-len(tokens) :]:
            written.set_x(written.get_position()[0] + shift / 2)
        tokens = [Block(b.x + shift / 2, b.y, b.width, b.height) for b in tokens]
    size = (0.8, 0.45)
    vectors = [
        cells(ax, (b.middle[0] - 0.4, 4.2), [[""]] * 3, role="state", weights=w, size=size)
        for b, w in zip(tokens, ([[0.9], [0.3], [0.6]], [[0.2], [0.8], [0.5]]) * len(tokens))
    ]
    across = vectors[-1].x + 0.8 - vectors[0].x
    reading = Block(vectors[0].x - 0.5, 4.0, across + 1.0, 1.75)
    pooled = cells(ax, (middle - 0.4, 7.1), [[""]] * 3, role="state", weights=0.6, size=size)
    said = box(ax, (middle - 2.2, 9.45), answer, (4.4, 0.9))
    for token, vector in zip(tokens, vectors, strict=True):
        arrow(ax, (token.middle[0], text.at("bottom")[1]), token.at("top"))
        arrow(ax, token.at("bottom"), (token.middle[0], 4.0))
        arrow(ax, (vector.middle[0], 5.75), pooled.at("top"))
    arrow(ax, pooled.at("bottom"), said.at("top"))
    row = Block(tokens[0].x, 2.2, tokens[-1].x + tokens[-1].width - tokens[0].x, 0.85)
    stages = dict(zip(STAGES, (text, row, reading, pooled, said), strict=True))
    for stage, block in stages.items():
        bold = "bold" if stage == lit else "normal"
        note(ax, (0.2, block.middle[1]), stage, align="left", weight=bold)
    if lit:
        light(ax, stages[lit], margin=0.12)
    return ax


def cuts(rows: dict[str, Sequence[str]], unknown: str = "<unk>") -> Axes:
    """Draw a text that was cut in several ways, each piece as a box; what is unknown is hatched.

    rows: the pieces for each way to cut.
    """
    ax = sheet(0.5 + 1.75 * len(rows))
    for i, (name, pieces) in enumerate(rows.items()):
        y = 0.5 + 1.75 * i
        note(ax, (0.2, y + 0.42), name, align="left", weight="bold")
        letters = sum(max(len(piece), 1) for piece in pieces)
        unit = (11.9 - 0.1 * len(pieces)) / letters
        x = 2.9
        for piece in pieces:
            width = unit * max(len(piece), 1)
            size = (width, 0.85)
            cells(ax, (x, y), [[piece]], role="key", weights=0.3, size=size, hatched=piece == unknown)
            x += width + 0.1
        note(ax, (15.8, y + 0.42), f"{len(pieces)}", align="right")
    return ax


def merging(rows: Sequence[Sequence[str]], pairs: Sequence[tuple[str, str]]) -> Axes:
    """Draw a text before and after each merge; pieces that a merge made are in colour.

    rows: the pieces of the text, at first and after each of the pairs was merged.
    """
    ax = sheet(0.7 + 1.55 * len(rows))
    letters = sum(len(piece) for piece in rows[0])
    unit = 10.2 / letters
    for i, pieces in enumerate(rows):
        y, x = 0.7 + 1.55 * i, 0.3
        for piece in pieces:
            width = unit * len(piece)
            new = len(piece) > 1
            fresh = i > 0 and new and piece == "".join(pairs[i - 1])
            weight = 0.75 if fresh else 0.3 if new else 0.0
            cells(ax, (x, y), [[piece]], role="key", weights=weight, size=(width, 0.85))
            x += width
        told = f"{len(pieces)} pieces"
        if i:
            one, other = pairs[i - 1]
            told = f"{one} + {other}: {told}"
        note(ax, (10.9, y + 0.42), told, align="left")
    return ax


def bags(one: str, other: str) -> Axes:
    """Draw two sentences of the same words, and the one bag of counts that both come to.

    Raises: ValueError if their words differ.
    """
    counts = Counter(one.split())
    if counts != Counter(other.split()):
        raise ValueError(f"{one!r} and {other!r} do not have the same words.")
    ax = sheet(8.0)
    known = sorted(counts)
    width = 13.0 / len(known)
    bag = cells(
        ax,
        (2.6, 3.6),
        [[str(counts[word]) for word in known]],
        role="key",
        weights=0.4,
        size=(width, 0.85),
    )
    label(ax, bag, "left", "counts")
    for j, word in enumerate(known):
        note(ax, (bag[0, j].middle[0], 4.85), word)
    for sentence, y, side in ((one, 0.4, "top"), (other, 6.7, "bottom")):
        for word, block in zip(sentence.split(), words(ax, (1.2, y), sentence, gap=0.45)):
            target = bag[0, known.index(word)]
            if side == "top":
                arrow(ax, block.at("bottom"), target.at("top"))
            else:
                arrow(ax, block.at("top"), (target.middle[0], 5.2))
    return ax


def padded(lengths: Sequence[int], batch_size: int) -> Axes:
    """Draw sequences in batches as they come, and sorted by length first; padding is hatched."""
    rows = len(lengths)
    ax = sheet(2.2 + 0.42 * rows + 0.45 * -(-rows // batch_size))
    longest = max(lengths)
    size = (6.6 / longest, 0.42)
    for x, title, order in (
        (0.5, "as they come", list(lengths)),
        (8.9, "sorted by length", sorted(lengths)),
    ):
        note(ax, (x + 3.3, 0.5), title, weight="bold")
        y, wasted, total = 1.1, 0, 0
        for start in range(0, rows, batch_size):
            batch = order[start : start + batch_size]
            width = max(batch)
            blank = [[""] * width for _ in batch]
            hatched = [[t >= length for t in range(width)] for length in batch]
            cells(ax, (x, y), blank, role="state", weights=0.6, size=size, hatched=hatched)
            y += 0.42 * len(batch) + 0.45
            wasted += sum(map(sum, hatched))
            total += width * len(batch)
        note(ax, (x + 3.3, y + 0.3), f"{wasted} of {total} places are padding")
    return ax
