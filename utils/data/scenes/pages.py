"""The small world as a page needs it: inks, colours and grammar as plain data."""

import numpy as np

from utils.data.scenes.drawing import _handwriting, shape
from utils.data.scenes.sampling import scenes
from utils.data.scenes.sentences import _ENGLISH, _MEANING, _PATTERNS, CHINESE, PHRASES, SENTENCES
from utils.data.scenes.things import (
    COLOURS,
    DIGITS,
    OPPOSITE,
    PAIRS_UNSEEN,
    RELATIONS,
    SHAPES,
    SIDE,
    SIZES,
    Thing,
)

NAMES = {"en": {word: word for word in CHINESE}, "zh": CHINESE}
LABELS = {"en": "English", "zh": "中文"}


def for_pages(hands: int = 12, others: int = 15, seed: int = 0) -> dict:
    """Return what a page needs to draw scenes, to say them and to understand what is typed.

    hands: how many handwritings of each digit: the first ones of the test part.
    others: how many scenes to choose from there are of one thing, of two and of three.
    Returns: plain data. An ink is a text, row by row: each letter counts sixteenths of the colour,
        as a digit to the base 17. A pattern is a language, a number of things, a way, and a regular
        expression as JavaScript writes it.
    """
    ink, some = _handwriting("test"), next(iter(COLOURS))
    inks = {(form, None): ink[form][:hands] for form in DIGITS}
    inks |= {(form, size): [shape(Thing(form, some, size))] for size in SIZES for form in SHAPES}
    ways = [
        (language, n, way)
        for language, by_number in SENTENCES.items()
        for n, templates in by_number.items()
        for way in range(len(templates))
    ]
    return {
        "side": SIDE,
        "colours": {name: list(colour) for name, colour in COLOURS.items()},
        "forms": [
            {"form": form, "size": size, "inks": [_written(one) for one in all]}
            for (form, size), all in inks.items()
        ],
        "relations": list(RELATIONS),
        "opposite": OPPOSITE,
        "languages": {
            language: {
                "label": LABELS[language],
                "sentences": {n: list(templates) for n, templates in by_number.items()},
                "styles": PHRASES[language],
                "names": NAMES[language],
            }
            for language, by_number in SENTENCES.items()
        },
        "patterns": [
            [*way, pattern.pattern.replace("(?P<", "(?<")]
            for way, pattern in zip(ways, _PATTERNS, strict=True)
        ],
        "phrases": _MEANING,
        "english": _ENGLISH,
        "unseen": [list(pair) for pair in sorted(PAIRS_UNSEEN)],
        "others": {
            n: [
                {"things": [vars(thing) for thing in scene.things], "relations": scene.relations}
                for scene in scenes(others, seed, n_things=(n,), part="test" if n > 1 else "train")
            ]
            for n in (1, 2, 3)
        },
    }


def _written(ink: np.ndarray) -> str:
    """An ink (side, side) as a text of side² letters."""
    return "".join("0123456789abcdefg"[round(16 * float(full))] for full in ink.flat)
