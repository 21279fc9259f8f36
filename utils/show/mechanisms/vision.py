"""Day 12's pictures: patches in a row, the plane, two towers, a table, an exchange."""

from collections.abc import Sequence

import torch
from matplotlib.axes import Axes
from torch import Tensor

from utils.show.diagrams import (
    arrow,
    box,
    brace,
    cells,
    dial,
    hand,
    label,
    light,
    note,
    picture,
    sheet,
)

CHANNELS = {"red": "gradient", "green": "value", "blue": "query"}  # the role of each

# Patches ------------------------------------------------------------------------------------------


def _cut(image: Tensor, P: int) -> list[Tensor]:
    """Return the patches of an image (C, H, W), row by row, each (C, P, P)."""
    return [part for strip in image.split(P, dim=1) for part in strip.split(P, dim=2)]


def row(image: Tensor, P: int) -> Axes:
    """Draw a picture, the same picture cut, and its patches in a row. Shapes: image (3, H, W)."""
    ax = sheet(8.4)
    parts, across = _cut(image, P), image.shape[2] // P
    whole = picture(ax, (0.5, 0.9), image, 4.8)
    note(ax, (whole.middle[0], 0.45), "a picture", weight="bold")
    side, gap = 1.0, 0.25
    corner = 9.6, 0.9
    for i, part in enumerate(parts):
        down, right = divmod(i, across)
        place = corner[0] + right * (side + gap), corner[1] + down * (side + gap)
        last = picture(ax, place, part, side)
    middle = (corner[0] + last.x + side) / 2
    note(ax, (middle, 0.45), f"{len(parts)} patches", weight="bold")
    arrow(ax, whole.at("right", 0.3), (corner[0] - 0.4, whole.middle[1]), text="cut")
    pitch = 15.2 / len(parts)
    for i, part in enumerate(parts):
        small = picture(ax, (0.45 + i * pitch, 6.85), part, 0.84 * pitch)
        label(ax, small, "bottom", str(i + 1))
    arrow(ax, (middle, last.y + side + 0.15), (8, 6.7))
    note(ax, (8.2, 6.0), "in a row", align="right")
    return ax


def token(patch: Tensor, D: int = 4) -> Axes:
    """Draw how the numbers of a patch become one vector, channel by channel.

    Shapes: patch (3, P, P).
    """
    ax = sheet(6.9)
    P, size = patch.shape[1], (0.74, 0.74)
    numbers = [f"{value:.1f}".lstrip("0") if value else "0" for value in patch.flatten().tolist()]
    for c, (name, role) in enumerate(CHANNELS.items()):
        own = numbers[c * P * P : (c + 1) * P * P]
        rows = [own[i : i + P] for i in range(0, P * P, P)]
        x = 0.6 + 5.3 * c
        plane = cells(ax, (x + 0.75, 0.9), rows, role=role, weights=0.35, size=size)
        note(ax, (plane.middle[0], 0.45), name, weight="bold")
        flat = cells(ax, (x, 3.4), [own], role=role, weights=0.35, size=(1.1, 0.74))
        arrow(ax, plane.at("bottom"), flat.at("top"))
        matrix = (8.0, 5.2)
        arrow(ax, flat.at("bottom"), (matrix[0] + 0.5 * (c - 1), matrix[1] - 0.2))
    W_p = box(ax, (7.1, 5.1), "$W_p$", (1.8, 0.9), role="key")
    out = cells(ax, (11.2, 5.15), [[""] * D], role="state", size=(0.9, 0.8))
    arrow(ax, W_p.at("right"), out.at("left"))
    label(ax, out, "bottom", "token, $D$ numbers")
    label(ax, W_p, "bottom", f"$D$ × {len(numbers)} weights")
    return ax


def sequence(image: Tensor, P: int, answer: str, shown: Sequence[int]) -> Axes:
    """Draw what a Vision Transformer reads, and where its answer comes from.

    Shapes: image (3, H, W). shown: the numbers of five of its patches, from 1 on.
    """
    ax = sheet(9.1)
    parts = _cut(image, P)
    encoder = box(ax, (0.4, 2.4), "Day 6's encoder", (15.2, 1.0), role="key")
    x, before = 0.4, 0
    for number in (0, *shown):
        if number > before + 1:
            note(ax, (x + 0.2, 6.3), "…", weight="bold")
            x += 0.7
        middle, before = x + 0.9, number
        role = "state" if number else "head 1"
        own = box(ax, (x, 5.9), str(number) if number else "class", (1.8, 0.85), role=role)
        place = box(ax, (x, 4.35), f"$p_{{{number}}}$", (1.8, 0.85))
        note(ax, (middle, 5.55), "+")
        arrow(ax, place.at("top"), (middle, encoder.y + encoder.height))
        if number:
            part = picture(ax, (middle - 0.65, 7.55), parts[number - 1], 1.3)
            arrow(ax, part.at("top"), own.at("bottom"))
        arrow(ax, (middle, encoder.y), (middle, 1.6), dashed=number > 0)
        x += 2.2
    note(ax, (2.7, 7.2), "$W_p$", align="right")
    head = box(ax, (0.4, 0.6), "head", (1.8, 0.9), role="value")
    arrow(ax, head.at("right"), (3.2, head.middle[1]))
    note(ax, (3.4, head.middle[1]), answer, align="left", weight="bold")
    note(ax, (10.0, 1.1), "not used")
    return ax


def plane(n: int, at: int) -> Axes:
    """Draw the neighbours of a patch in the plane and in the row. at: its number, from 1 on."""
    ax = sheet(6.9)
    y, x = divmod(at - 1, n)
    near = {(y + dy) * n + x + dx + 1 for dy, dx in ((0, 1), (0, -1), (1, 0), (-1, 0))}
    numbers = [[str(i * n + j + 1) for j in range(n)] for i in range(n)]
    tint = [[0.55 * (int(number) in near) for number in line] for line in numbers]
    grid = cells(ax, (6.0, 0.5), numbers, role="query", weights=tint, size=(1.0, 0.95))
    light(ax, grid[y, x])
    tints = [[value for line in tint for value in line]]
    flat = [[number for line in numbers for number in line]]
    width = 15.0 / n**2
    line = cells(ax, (0.5, 5.5), flat, role="query", weights=tints, size=(width, 0.85))
    light(ax, line[0, at - 1])
    arrow(ax, grid.at("bottom", 0.1), line.at("top", 0.1))
    note(ax, (5.7, grid.middle[1]), "in the plane", align="right", weight="bold")
    note(ax, (0.5, 5.0), "in the row", align="left", weight="bold")
    return ax


def looked(weights: Tensor, at: tuple[int, int]) -> Axes:
    """Draw where a patch attends, how far each patch is, and the mean. Shapes: weights (n, n)."""
    ax = sheet(6.0)
    n = len(weights)
    ys, xs = torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")
    far = torch.hypot(ys - float(at[0]), xs - float(at[1]))
    size = (1.15, 0.95)
    strong = (weights / weights.max()).sqrt()
    grids = []
    for i, (name, values, role, tint) in enumerate(
        (("weights", weights, "key", strong), ("distances", far, "state", 0.8 * far / far.max()))
    ):
        left = 1.2 + 8.4 * i
        grid = cells(ax, (left, 1.0), values, role=role, weights=tint, size=size)
        light(ax, grid[at])
        note(ax, (grid.middle[0], 0.45), name, weight="bold")
        grids.append(grid)
    note(ax, (8.0, grids[0].middle[1]), "times", weight="bold")
    mean = (weights * far).sum()
    note(ax, (8.0, 5.4), f"sum of all products: {mean:.2f} patches", weight="bold")
    return ax


# Two encoders -------------------------------------------------------------------------------------


def towers(images: Sequence[Tensor], sentences: Sequence[str]) -> Axes:
    """Draw how two pictures and their sentences become arrows in one space.

    Shapes: images (3, H, W).
    """
    ax = sheet(8.4)
    space = dial(ax, (8, 4.3), 1.75)
    note(ax, (8, 2.1), "one space", weight="bold")
    see = box(ax, (3.6, 3.7), "image\nencoder", (2.1, 1.2), role="query")
    read = box(ax, (10.3, 3.7), "text\nencoder", (2.1, 1.2), role="key")
    for k, (image, sentence) in enumerate(zip(images, sentences, strict=True)):
        shown = picture(ax, (0.4, 0.4 + 5.0 * k), image, 2.6)
        told = box(ax, (12.2, 0.6 + 5.0 * k), sentence, (3.5, 2.2))
        arrow(ax, shown.at("right", 0.1), see.at(("top", "bottom")[k]))
        arrow(ax, told.at("left", 0.1), read.at(("top", "bottom")[k]))
        for apart, role in ((-0.13, "query"), (0.13, "key")):
            hand(ax, space, (-0.45, 1.9)[k] + apart, role=role)
    arrow(ax, see.at("right"), space.at("left"))
    arrow(ax, read.at("left"), space.at("right"))
    return ax


def table(images: Sequence[Tensor], sentences: Sequence[str], similarity: Tensor) -> Axes:
    """Draw how well each picture fits each sentence, pairs on the diagonal.

    Shapes: images (B, 3, H, W), similarity (B, B).
    """
    n = len(images)
    ax = sheet(2.0 + 1.75 * n)
    wide, high = 2.9, 1.75
    texts = [[f"{value:.1f}" for value in line] for line in similarity.tolist()]
    tint = similarity.clamp(0, 1) * 0.7
    grid = cells(ax, (3.2, 1.7), texts, role="value", weights=tint, size=(wide, high))
    for i, (image, sentence) in enumerate(zip(images, sentences, strict=True)):
        picture(ax, (1.3, 1.8 + i * high), image, high - 0.2)
        note(ax, (3.2 + wide * (i + 0.5), 0.85), sentence)
        light(ax, grid[i, i], margin=-0.06)
    return ax


def both_ways(similarity: Tensor, tau: float) -> Axes:
    """Draw the softmax of each row and of each column. Shapes: similarity (B, B)."""
    ax = sheet(6.7)
    size = (1.6, 0.95)
    n = len(similarity)
    for i, (dim, name) in enumerate(((1, "which sentence?"), (0, "which picture?"))):
        chances = (similarity / tau).softmax(dim=dim)
        grid = cells(ax, (0.8 + 7.9 * i, 1.9), chances, role="value", weights=chances, size=size)
        note(ax, (grid.middle[0], 0.5), name, weight="bold")
        for k in range(n):
            light(ax, grid[k, k], margin=-0.05)
        if dim:
            brace(ax, grid[:1, :], "top", "1")
        else:
            brace(ax, grid[:, :1], "left", "1")
        told = "each row adds up to 1" if dim else "each column adds up to 1"
        note(ax, (grid.middle[0], 6.2), told)
    return ax


# Where it breaks ----------------------------------------------------------------------------------


def exchange(images: Sequence[Tensor], sentences: Sequence[str]) -> Axes:
    """Draw two pictures, their sentences word by word, and the one bag of both.

    Raises: ValueError if the sentences have other words.
    """
    lists = [sentence.split() for sentence in sentences]
    bag = sorted(lists[0])
    if bag != sorted(lists[1]):
        raise ValueError(f"These sentences differ in their words: {' / '.join(sentences)}.")
    ax = sheet(8.0)
    differs = [one != other for one, other in zip(*lists, strict=True)]
    for k, (image, line) in enumerate(zip(images, lists, strict=True)):
        y = 0.3 + 2.75 * k
        picture(ax, (0.3, y), image, 2.35)
        x = 3.3
        for word, other in zip(line, differs, strict=True):
            width = 0.26 * len(word) + 0.45
            role = "head 1" if other else None
            box(ax, (x, y + 0.75), word, (width, 0.85), role=role)
            x += width + 0.2
    note(ax, (0.3, 6.15), "as a bag, both are", align="left", weight="bold")
    x = 0.3
    for word in bag:
        width = 0.26 * len(word) + 0.45
        box(ax, (x, 6.7), word, (width, 0.85))
        x += width + 0.2
    return ax
