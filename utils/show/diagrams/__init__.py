"""Pictures of mechanisms: a sheet, and the shapes with which a lesson draws on it."""

from utils.show.diagrams.clock import dial, hand, sector
from utils.show.diagrams.shapes import (
    arrow,
    bar,
    box,
    brace,
    cells,
    label,
    light,
    note,
    picture,
    stack,
    words,
)
from utils.show.diagrams.sheet import ROLE, UNITS, Block, contrast, sheet, tinted

__all__ = [
    "ROLE",
    "UNITS",
    "Block",
    "arrow",
    "bar",
    "box",
    "brace",
    "cells",
    "contrast",
    "dial",
    "hand",
    "label",
    "light",
    "note",
    "picture",
    "sector",
    "sheet",
    "stack",
    "tinted",
    "words",
]
