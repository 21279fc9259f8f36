"""What a picture shows, read without a network: colours by their hue, pieces, and their forms."""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise, permutations
from typing import NamedTuple

import numpy as np
from scipy import ndimage
from sklearn.svm import SVC
from torch import Tensor

from utils.data.pictures import digits
from utils.data.scenes.drawing import Box, relation, shape
from utils.data.scenes.things import COLOURS, DIGITS, SHAPES, SIDE, SIZES, Scene, Thing

INK = 0.25  # what is fainter counts as ground where a thing is looked for
GAP = 2  # pixels between pieces of one thing
SPECK = 6  # pieces of fewer pixels are dirt
SMALL, LARGE = SIZES["small"], SIZES["large"]
LEAST_LIKE = 0.75  # cosine of an outline and what is read as one
CLOSE = 2  # pixels by which a thing may be larger than it was drawn, where colours run


class Seen(NamedTuple):
    """A thing, and where it is."""

    thing: Thing
    box: Box


def read(picture: Tensor) -> list[Seen] | None:
    """Say which things a picture shows, and where: large ones first, then from left to right.

    A pixel has the colour of the nearest hue; the pieces of a colour are things. Outlines are
    compared with the shapes, what is small by a support vector machine that has seen the training
    handwriting. A little blur and noise are no harm: a Gaussian's σ of 0.5 pixels, a standard
    deviation of 0.05. Two things of the same colour have to lie apart.

    picture: (3, 24, 24), red, green and blue in 0..1.
    Returns: the things, none if the picture is black; None if something in it is no thing.
    Raises: ValueError if the picture is no tensor, or has another shape.
    """
    given = tuple(picture.shape) if isinstance(picture, Tensor) else type(picture).__name__
    if given != (3, SIDE, SIDE):
        raise ValueError(f"A picture is a tensor (3, {SIDE}, {SIDE}), not {given}.")
    inks = _inks(picture.detach().cpu().numpy())
    found = []
    for colour, ink in zip(COLOURS, inks, strict=True):
        for box in _pieces(ink):
            seen = _named(ink, box, colour)
            if seen is None:
                return None
            found.append(seen)
    return sorted(found, key=lambda seen: (-seen.thing.side, seen.box))


def shows(picture: Tensor, scene: Scene) -> bool:
    """Whether a picture shows the things of a scene, in its relations, and nothing else.

    Raises: ValueError if the picture isn't a tensor (3, 24, 24).
    """
    seen = read(picture)
    if seen is None or len(seen) != len(scene.things):
        return False
    return any(
        tuple(thing for thing, _ in order) == scene.things and _related(order) == scene.relations
        for order in permutations(seen)
    )


def described(seen: Sequence[Seen]) -> Scene:
    """Put the things seen into a scene; what is inside another is said to be, where it can be.

    Raises: ValueError if there are no or too many things.
    """
    if not 1 <= len(seen) <= 3:
        raise ValueError(f"A scene has one to three things: {len(seen)} were seen.")
    orders = [order for order in permutations(seen) if None not in _related(order)]
    order = max(orders, key=lambda order: _related(order).count("inside"))
    return Scene(tuple(thing for thing, _ in order), _related(order))


def _related(seen: Sequence[Seen]) -> tuple[str | None, ...]:
    """How each thing lies to the next."""
    return tuple(relation(a.box, b.box) for a, b in pairwise(seen))


def _inks(pixels: np.ndarray) -> np.ndarray:
    """How much ink of each colour (5, 24, 24) makes the pixels (3, 24, 24): of one, the nearest."""
    rgb = np.array(list(COLOURS.values()), dtype=np.float32)
    lengths = np.linalg.norm(rgb, axis=1)
    along = np.tensordot(rgb / lengths[:, None], pixels, axes=1)  # (5, 24, 24)
    nearest = along.argmax(axis=0) == np.arange(len(rgb))[:, None, None]
    return np.where(nearest, along / lengths[:, None, None], 0).clip(0)


def _pieces(ink: np.ndarray) -> list[Box]:
    """The boxes around what hangs together, where pieces of one small thing are put together."""
    labels, _ = ndimage.label(ink > INK, structure=np.ones((3, 3)))
    pieces = []
    for number, (rows, columns) in enumerate(ndimage.find_objects(labels), start=1):
        box = Box(columns.start, rows.start, columns.stop, rows.stop)
        n_pixels = int((labels[rows, columns] == number).sum())
        while near := next((piece for piece in pieces if _one_thing(box, piece[0])), None):
            pieces.remove(near)
            box, n_pixels = _both(box, near[0]), n_pixels + near[1]
        pieces.append((box, n_pixels))
    return [box for box, n_pixels in pieces if n_pixels >= SPECK]


def _one_thing(a: Box, b: Box) -> bool:
    """Whether two pieces lie as near as those of a small thing, and are no larger together."""
    gap = max(*np.subtract(a[:2], b[2:]), *np.subtract(b[:2], a[2:]))  # the wider of the two ways
    return gap <= GAP and max(_sides(_both(a, b))) <= SMALL + CLOSE


def _both(a: Box, b: Box) -> Box:
    return Box(*map(min, a[:2], b[:2]), *map(max, a[2:], b[2:]))


def _named(ink: np.ndarray, box: Box, colour: str) -> Seen | None:
    """The thing whose ink is in a box, in a box of its own size; None if it is no thing."""
    if max(_sides(box)) <= SMALL + CLOSE:
        place = _around(box, SMALL)
        form = _small_forms().predict(_features([_cut(ink, place)]))[0]
        return Seen(Thing(form, colour, "small" if form in SHAPES else None), place)
    if max(_sides(box)) > LARGE + CLOSE or min(_sides(box)) < SMALL:
        return None
    place = _around(box, LARGE)
    likeness = {}
    for form in SHAPES:
        thing = Thing(form, colour, "large")
        for dx, dy in ((x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)):
            moved = Box(place.left + dx, place.top + dy, place.right + dx, place.bottom + dy)
            likeness[thing, moved] = float(_features([_cut(ink, moved)])[0] @ _outline(form))
    thing, place = max(likeness, key=likeness.get)
    return Seen(thing, place) if likeness[thing, place] >= LEAST_LIKE else None


def _sides(box: Box) -> tuple[float, float]:
    return box.right - box.left, box.bottom - box.top


def _around(box: Box, side: int) -> Box:
    """The square of a side in the middle of a box."""
    left = int(box.left + box.right + 1) // 2 - side // 2
    top = int(box.top + box.bottom + 1) // 2 - side // 2
    return Box(left, top, left + side, top + side)


def _cut(ink: np.ndarray, box: Box) -> np.ndarray:
    """What is in a box, which may reach over the edge of the picture."""
    margin = LARGE
    left, top, right, bottom = (edge + margin for edge in box)
    return np.pad(ink, margin)[top:bottom, left:right]


def _features(cuts: list[np.ndarray]) -> np.ndarray:
    """Cuts as rows of length 1, so that how bright they are is no matter."""
    rows = np.stack([cut.ravel() for cut in cuts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True).clip(1e-6)


@cache
def _outline(form: str) -> np.ndarray:
    return _features([shape(Thing(form, "red", "large"))])[0]


@cache
def _small_forms() -> SVC:
    """Learns the training handwriting and the small shapes: as they are, and blurred with noise."""
    train, chance = digits("file order").train, np.random.default_rng(0)
    inks = list(train.images[:, 0].numpy())
    names = [DIGITS[label] for label in train.labels]
    for form in SHAPES:
        inks += [shape(Thing(form, "red", "small"))] * 40
        names += [form] * 40
    cuts = []
    for copy in range(3):
        for ink in inks:
            ground = np.pad(ink, 6)
            if copy > 0:
                ground = ndimage.gaussian_filter(ground, chance.uniform(0, 0.7))
                noise = chance.normal(0, chance.uniform(0, 0.07), ground.shape)
                ground = np.abs(ground + noise)
            rows, columns = np.nonzero(ground > INK)
            box = Box(columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
            cuts.append(_cut(ground, _around(box, SMALL)))
    return SVC(C=10, gamma=1.6).fit(_features(cuts), names * 3)
