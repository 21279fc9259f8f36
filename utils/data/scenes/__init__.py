"""A small world: scenes of one to three things, drawn as pictures, said in English and Chinese.

`scenes` draws at random what there is to see, `drawn` makes pictures of it, `say` makes sentences.
Both can be undone: `read` tells what a picture shows, `understand` what a sentence says.
"""

from utils.data.scenes.drawing import Box, draw, drawn, has_room, paint, relation
from utils.data.scenes.pages import for_pages
from utils.data.scenes.reading import Seen, described, read, shows
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
    "Seen",
    "Thing",
    "choices",
    "contradicts",
    "described",
    "draw",
    "drawn",
    "exchanged",
    "for_pages",
    "has_room",
    "paint",
    "part_of",
    "read",
    "relation",
    "say",
    "scenes",
    "shows",
    "understand",
    "words",
]
