"""A small world: scenes of one to three things, drawn as pictures, said in English and Chinese.

`scenes` draws what there is to see, `drawn` draws the pictures, `say` the sentences; `understand`
gives the scene back from a sentence.
"""

from utils.data.scenes.drawing import Box, draw, drawn, has_room, relation
from utils.data.scenes.sampling import choices, contradicts, part_of, scenes
from utils.data.scenes.sentences import LONGEST, VOCABULARY, WAYS, say, understand, words
from utils.data.scenes.things import (
    COLOURS,
    DIGITS,
    FORMS,
    OPPOSITE,
    PAIRS_UNSEEN,
    RELATIONS,
    SHAPES,
    SIDE,
    SIZES,
    Scene,
    Thing,
    exchanged,
)

__all__ = [
    "COLOURS",
    "DIGITS",
    "FORMS",
    "LONGEST",
    "OPPOSITE",
    "PAIRS_UNSEEN",
    "RELATIONS",
    "SHAPES",
    "SIDE",
    "SIZES",
    "VOCABULARY",
    "WAYS",
    "Box",
    "Scene",
    "Thing",
    "choices",
    "contradicts",
    "draw",
    "drawn",
    "exchanged",
    "has_room",
    "part_of",
    "relation",
    "say",
    "scenes",
    "understand",
    "words",
]
