"""Scenes drawn at random, in parts that share none, and the sentences to choose from."""

import zlib
from collections.abc import Sequence
from random import Random

from utils.data.scenes.drawing import has_room
from utils.data.scenes.things import (
    COLOURS,
    DIGITS,
    FORMS,
    OPPOSITE,
    PAIRS_UNSEEN,
    RELATIONS,
    SIZES,
    Scene,
    Thing,
    exchanged,
)

PARTS = ("train", "validation", "test")


def scenes(
    n: int,
    seed: int | Random,
    *,
    n_things: Sequence[int] = (1, 2, 3),
    part: str = "train",
    pairs: str = "seen",
) -> list[Scene]:
    """Draw n scenes that have room in a picture; their things have different colours.

    n_things: how many things a scene has: each of these numbers is as likely.
    part: "train" (eight of ten), "validation" or "test". A scene of two or three things is in one
        part only, however it is said: a left of b is b right of a. One thing is in all parts, where
        its handwriting is another's.
    pairs: "seen": no thing is one of `PAIRS_UNSEEN`; "unseen": at least one is; "all": as it comes.
    Raises: ValueError if there is no such part, or no such pairs, or n_things isn't of 1, 2, 3.
    """
    if part not in PARTS:
        raise ValueError(f'No part is called {part!r}: say "train", "validation" or "test".')
    if pairs not in ("seen", "unseen", "all"):
        raise ValueError(f'There are the pairs "seen", "unseen" and "all", not {pairs!r}.')
    if not n_things or not set(n_things) <= {1, 2, 3}:
        raise ValueError(f"A scene has 1, 2 or 3 things, not {tuple(n_things)}.")
    chance = seed if isinstance(seed, Random) else Random(seed)
    found = []
    while len(found) < n:
        number = chance.choice(n_things)
        while True:
            scene = _drawn(number, chance)
            if not _fits(scene, pairs):
                continue
            if (number == 1 or part_of(scene) == part) and has_room(scene):
                break
        found.append(scene)
    return found


def choices(scene: Scene, n: int, seed: int | Random) -> tuple[list[Scene], int]:
    """Draw n scenes to choose from, of which a picture of `scene` shows only that one.

    Up to four use the same words (see `exchanged`), about as many differ in one part, the others
    are anything; the scene is at a place drawn at random.
    Returns: the scenes and the place of `scene` among them.
    Raises: ValueError if n < 1.
    """
    if n < 1:
        raise ValueError(f"There has to be at least one scene to choose from, not {n}.")
    chance = seed if isinstance(seed, Random) else Random(seed)
    same_words = exchanged(scene)
    others = {_content(other): other for other in chance.sample(same_words, len(same_words))}
    tries = 0
    while len(others) < n:
        near = tries < 6
        other = _one_changed(scene, chance) if near else _drawn(len(scene.things), chance)
        if contradicts(scene, other) and (near or has_room(other)):
            others.setdefault(_content(other), other)
        tries += 1
    others, place = list(others.values())[: n - 1], chance.randrange(n)
    return [*others[:place], scene, *others[place:]], place


def contradicts(scene: Scene, other: Scene) -> bool:
    """Whether no picture of the scene shows the other: a thing is missing, or lies elsewhere."""
    if not set(other.things) <= set(scene.things):
        return True
    known = {}
    for a, b, name in zip(scene.things, scene.things[1:], scene.relations, strict=False):
        known |= {(a, b): name, (b, a): OPPOSITE[name]}
    said = zip(other.things, other.things[1:], other.relations, strict=False)
    return any(known.get((a, b), name) != name for a, b, name in said)


def part_of(scene: Scene) -> str:
    """The part to which a scene of two or three things belongs."""
    number = zlib.crc32(repr(_content(scene)).encode()) % 10
    return PARTS[max(0, number - 7)]


def _content(scene: Scene) -> tuple:
    """The same for two scenes that say the same from either end."""
    names = [" ".join([thing.size or "", thing.colour, thing.form]) for thing in scene.things]
    there = (*names, *scene.relations)
    back = (*names[::-1], *(OPPOSITE[name] for name in scene.relations[::-1]))
    return min(there, back)


def _fits(scene: Scene, pairs: str) -> bool:
    unseen = any((thing.form, thing.colour) in PAIRS_UNSEEN for thing in scene.things)
    return pairs == "all" or unseen == (pairs == "unseen")


def _drawn(number: int, chance: Random) -> Scene:
    """A scene of this many things, whether or not there is room for it."""
    relations = tuple(chance.choice(RELATIONS) for _ in range(number - 1))
    things = []
    for i, colour in enumerate(chance.sample(list(COLOURS), number)):
        holds = i > 0 and relations[i - 1] == "inside"
        held = i < number - 1 and relations[i] == "inside"
        form = chance.choice(("circle", "square") if holds else FORMS)
        size = "large" if holds else "small" if held else chance.choice(list(SIZES))
        things.append(Thing(form, colour, None if form in DIGITS else size))
    return Scene(tuple(things), relations)


def _one_changed(scene: Scene, chance: Random) -> Scene:
    """The scene with another colour, form or relation, and the rest as it is."""
    things, relations = list(scene.things), list(scene.relations)
    if relations and chance.random() < 0.4:
        i = chance.randrange(len(relations))
        relations[i] = chance.choice([r for r in RELATIONS if r not in (relations[i], "inside")])
        return Scene(tuple(things), tuple(relations))
    i = chance.randrange(len(things))
    form, colour, size = things[i].form, things[i].colour, things[i].size
    if chance.random() < 0.5:
        free = set(COLOURS) - {thing.colour for thing in things}
        colour = chance.choice(sorted(free))
    else:
        form = chance.choice([other for other in FORMS if other != form])
        size = None if form in DIGITS else size or "small"
    things[i] = Thing(form, colour, size)
    return Scene(tuple(things), tuple(relations))
