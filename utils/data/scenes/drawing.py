"""How a scene is drawn: places are found for its things, and each is drawn in its colour."""

from collections.abc import Sequence
from functools import cache
from itertools import product
from random import Random
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from utils.data.pictures import digits
from utils.data.scenes.things import COLOURS, DIGITS, SHAPES, SIDE, SIZES, Scene, Thing

MARGIN = {"circle": 3, "square": 2}  # pixels of an outline that nothing inside it touches


class Box(NamedTuple):
    """The pixels left ≤ x < right, top ≤ y < bottom."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def centre(self) -> tuple[float, float]:
        """x and y, from the upper left corner of the picture."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2


def draw(scene: Scene, seed: int | Random, part: str = "train") -> Tensor:
    """Draw one scene: `drawn([scene], seed, part)[0]`, a picture (3, 24, 24)."""
    return drawn([scene], seed, part)[0]


def drawn(
    scenes: Sequence[Scene],
    seed: int | Random,
    part: str = "train",
    need_boxes: bool = False,
    grid: int = 1,
) -> Tensor | tuple[Tensor, list[list[Box]]]:
    """Draw scenes on black, each at places drawn from all that its relations allow.

    What is left of another thing ends before that begins, and is at most half as far above or
    below it as it is to its left; so for the other sides. Things don't overlap, unless one is
    inside the other: a digit or a small shape in a large circle or square.

    seed: a number, or Python's generator, which then goes on.
    part: of scikit-learn's digits in "file order": handwriting of "test" is never in "train".
    need_boxes: also say where each thing was drawn.
    grid: corners lie at multiples of this many pixels, but for what is inside another thing.
    Returns: pictures (n, 3, 24, 24), red, green and blue, float32 in 0..1; and with `need_boxes`
        a list of boxes for each, in the order of its things.
    Raises: ValueError if there is no such part, a scene has no room in the picture, or the grid is
        no whole number of at least 1.
    """
    if not isinstance(grid, int) or grid < 1:
        raise ValueError(f"A grid is a whole number of pixels, at least 1, not {grid!r}.")
    chance = seed if isinstance(seed, Random) else Random(seed)
    boxes = [_placed(scene, chance, grid) for scene in scenes]
    pictures = np.zeros((len(scenes), 3, SIDE, SIDE), dtype=np.float32)
    for picture, scene, places in zip(pictures, scenes, boxes, strict=True):
        _paint(picture, scene.things, places, chance, _handwriting(part))
    pictures = torch.from_numpy(pictures)
    return (pictures, boxes) if need_boxes else pictures


def paint(
    things: Sequence[Thing], boxes: Sequence[Box], seed: int | Random, part: str = "train"
) -> Tensor:
    """Draw things where one wants them: (3, 24, 24). The seed chooses the handwriting.

    Raises: ValueError if there is no such part, a box has not the size of its thing, or reaches
    over the edge.
    """
    for thing, box in zip(things, boxes, strict=True):
        sides = (box.right - box.left, box.bottom - box.top)
        if sides != (thing.side, thing.side) or min(box) < 0 or max(box) > SIDE:
            raise ValueError(
                f"A box of {thing.side} by {thing.side} pixels inside {SIDE} by {SIDE} is needed "
                f"for a {thing.form}, not {tuple(box)}."
            )
    chance = seed if isinstance(seed, Random) else Random(seed)
    picture = np.zeros((3, SIDE, SIDE), dtype=np.float32)
    _paint(picture, things, boxes, chance, _handwriting(part))
    return torch.from_numpy(picture)


def relation(a: Box, b: Box) -> str | None:
    """Say how box a lies to box b: in one of `RELATIONS`, or None where b is inside a.

    Inside means up to one pixel over the edge. Of what is not inside, the larger distance of the
    centres decides.
    """
    if _inside(a, b):
        return "inside"
    if _inside(b, a):
        return None
    across, down = np.subtract(a.centre, b.centre).tolist()
    if abs(across) > abs(down):
        return "left of" if across < 0 else "right of"
    return "above" if down < 0 else "below"


def _inside(a: Box, b: Box) -> bool:
    edges = (a.left - b.left, a.top - b.top, b.right - a.right, b.bottom - a.bottom)
    return min(edges) >= -1 and a.right - a.left < b.right - b.left


def has_room(scene: Scene) -> bool:
    """Whether a picture has room for the scene."""
    return bool(_arrangements(_outlines(scene), scene.relations)[2])


@cache
def shape(thing: Thing) -> np.ndarray:
    """The ink of a shape, 0 or 1, in a square of its side: filled if small, else an outline."""
    side = thing.side
    y, x = np.mgrid[:side, :side] - (side - 1) / 2
    if thing.form == "circle":
        distance = np.hypot(x, y)
        filled, hole = distance < side / 2, distance < side / 2 - 1.7
    elif thing.form == "square":
        filled, hole = np.ones_like(x, dtype=bool), np.maximum(abs(x), abs(y)) < side / 2 - 2
    else:
        width = 2 * ((y + side / 2) // 2 + 1)  # pixels in a row: 2, 2, 4, 4, ...
        filled = abs(x) < width / 2
        hole = (abs(x) < width / 2 - 2) & (y < side / 2 - 2)
    return (filled & ~hole if thing.size == "large" else filled).astype(np.float32)


@cache
def _handwriting(part: str) -> dict[str, list[np.ndarray]]:
    """The digits (8, 8) of a part, by their names."""
    data = digits("file order")
    if part not in ("train", "validation", "test"):
        raise ValueError(f'No part is called {part!r}: say "train", "validation" or "test".')
    images, labels = getattr(data, part)
    return {name: list(images[labels == n, 0].numpy()) for n, name in enumerate(DIGITS)}


def _placed(scene: Scene, chance: Random, grid: int) -> list[Box]:
    """A box for each thing, at one of the places that the relations allow; all are as likely."""
    corners, extent, places = _arrangements(_outlines(scene), scene.relations, grid)
    if not places:
        raise ValueError(f"A picture has no room for this scene: {scene}.")
    row = chance.choices(range(len(places)), cum_weights=places)[0]
    free = ((SIDE - length) // grid for length in extent[row].tolist())
    left, top = (grid * chance.randint(0, most) for most in free)
    sides = [thing.side for thing in scene.things]
    return [
        Box(x + left, y + top, x + left + side, y + top + side)
        for (x, y), side in zip(corners[row].tolist(), sides, strict=True)
    ]


def _paint(
    picture: np.ndarray,
    things: Sequence[Thing],
    boxes: Sequence[Box],
    chance: Random,
    handwriting: dict[str, list[np.ndarray]],
) -> None:
    """Draw things into a picture (3, 24, 24) itself: what is inside another comes after it."""
    inks = [
        shape(thing) if thing.form in SHAPES else chance.choice(handwriting[thing.form])
        for thing in things
    ]
    drawn_first = sorted(zip(things, boxes, inks, strict=True), key=lambda drawn: -drawn[0].side)
    for thing, (left, top, right, bottom), ink in drawn_first:
        ground = picture[:, top:bottom, left:right]  # (3, side, side), a view
        ground[:] = np.where(ink > 0, _RGB[thing.colour] * ink, ground)


def _outlines(scene: Scene) -> tuple[str | None, ...]:
    """For each thing its form if it is large, else None."""
    return tuple(thing.form if thing.size == "large" else None for thing in scene.things)


@cache
def _arrangements(
    large: tuple[str | None, ...], relations: tuple[str, ...], grid: int = 1
) -> tuple:
    """All ways in which things lie to each other: corners, and sums of how often each has room.

    large: see `_outlines`.
    Returns: for k ways the upper left corners (k, n_things, 2) as x and y, from 0, the width and
        height (k, 2) of all together, and a list of k sums of the numbers of places.
    """
    sides = np.array([SIZES["large" if form else "small"] for form in large])
    corners = np.zeros((1, 1, 2), dtype=int)
    for i, name in enumerate(relations):
        steps = _offsets(*large[i : i + 2], name)
        if name != "inside":
            steps = steps[(steps % grid == 0).all(axis=1)]
        before = np.repeat(corners, len(steps), axis=0)  # each way so far, with each step
        after = before[:, -1] + np.tile(steps, (len(corners), 1))
        corners = np.concatenate([before, after[:, None]], axis=1)
    corners = corners - corners.min(axis=1, keepdims=True)
    extent = (corners + sides[:, None]).max(axis=1)
    fits = (extent <= SIDE).all(axis=1)
    if len(sides) == 3:  # that neighbours don't overlap is seen to by their relation
        a, b = corners[:, 0], corners[:, 2]
        fits &= ~((a < b + sides[2]) & (b < a + sides[0])).all(axis=1)
    corners, extent = corners[fits], extent[fits]
    return corners, extent, ((SIDE - extent) // grid + 1).prod(axis=1).cumsum().tolist()


def _offsets(a: str | None, b: str | None, name: str) -> np.ndarray:
    """Where "a name b" holds: the ways (k, 2) from the corner of a to that of b, if they have room.

    a, b: see `_outlines`.
    """
    if name == "inside":
        if a or b not in MARGIN:
            return np.zeros((0, 2), dtype=int)
        free = range(MARGIN[b], SIZES["large"] - SIZES["small"] - MARGIN[b] + 1)
        return -np.array(list(product(free, free)))
    sides = [SIZES["large" if form else "small"] for form in (a, b)]
    far = SIDE - min(sides)
    offsets = np.array(list(product(range(-far, far + 1), repeat=2)))
    between = offsets + (sides[1] - sides[0]) / 2  # the centres
    along, aside = between.T if name in ("left of", "right of") else between.T[::-1]
    along = along if name in ("left of", "above") else -along
    near = along + sum(sides) / 2 <= SIDE
    return offsets[(along >= sum(sides) / 2) & (abs(aside) <= along / 2) & near]


_RGB = {name: np.array(rgb, dtype=np.float32)[:, None, None] for name, rgb in COLOURS.items()}
