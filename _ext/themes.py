"""A figure's drawing, as matplotlib writes it, for the light and for the dark theme.

In the dark the paper is the page's, ink is light, a tint of a role mixes it into the dark ground of
a box, and what stands on a box is dark or light as its new colour asks for. Colours that stand for
numbers (pictures, heat maps and the numbers on them) stay as they are.
"""

import re
from functools import cache
from math import ceil
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
from matplotlib.colors import to_hex, to_rgb

from utils.show.diagrams.sheet import DIM, LIGHT, ROLE, contrast, stroke
from utils.show.plotting import COLOURS, INK, PAPER, STYLE

POINT = 4 / 3  # pixels of a page
LEGIBLE = 9.7  # pixels of the smallest text on a phone, where DejaVu is as tall as others with 11

NIGHT, BOX = "#121212", "#222832"  # the theme's dark page, and a box on it
BLACK, WHITE = "#000000", "#ffffff"
DARK = {  # what the book's colours are in the dark
    PAPER: NIGHT,
    WHITE: BOX,
    BLACK: "#f4f4f4",
    INK: "#e4e4e4",
    STYLE["grid.color"]: "#3b424c",
    DIM: "#9a968c",
    LIGHT: "#4a4013",
    COLOURS[1]: "#e2702c",
    COLOURS[3]: "#d581af",
    ROLE["gradient"]: "#cf6a48",
    ROLE["query"]: "#429de0",
    ROLE["value"]: "#41bf92",
    ROLE["key"]: "#fbb330",
    ROLE["state"]: "#f3c9e1",
    ROLE["head 0"]: ROLE["head 0"],
    ROLE["head 1"]: ROLE["head 1"],
}
DARK = {light.lower(): dark.lower() for light, dark in DARK.items()}
DARK = {stroke(role): DARK[colour.lower()] for role, colour in ROLE.items()} | DARK

SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
PAINT = re.compile(r"\b(fill|stroke): (#[0-9a-f]{6})")
DIGITS = re.compile(r"-?\d+\.\d{3,}")
PLACE = re.compile(r"translate\([^)]*\)")
NEEDED = re.compile(r"(?:^|\(['\"]?)#([^)'\"]+)")
SCALE = re.compile(r"scale\(([\d.]+) -")  # of a text: a hundredth of its points


class Drawing(NamedTuple):
    """A figure for both themes, its size on a desk, and the width at which a phone's reader can."""

    light: str
    dark: str
    width: int
    height: int
    readable: int


def themed(svg: str) -> Drawing:
    """Return a drawing of matplotlib's for both themes, without what nobody sees."""
    root = _plain(ElementTree.fromstring(svg))
    points = [float(root.get(side).removesuffix("pt")) for side in ("width", "height")]
    size = [round(POINT * length) for length in points]
    root.attrib |= {"width": str(size[0]), "height": str(size[1])}
    light = _written(root)
    texts = [100 * float(scale) for scale in SCALE.findall(light)]
    _darken(root, on_numbers=False)
    root.set("fill", DARK[BLACK])  # of all that names no colour
    return Drawing(light, _written(root), *size, ceil(points[0] * LEGIBLE / min(texts, default=14)))


@cache
def dark(colour: str) -> str:
    """Return what a colour is in the dark."""
    if colour in DARK:
        return DARK[colour]
    off_white = 1 - np.array(to_rgb(colour))
    for role in (INK, *ROLE.values()):  # so much of a role in white?
        full = 1 - np.array(to_rgb(role))
        weight = off_white @ full / (full @ full)
        if weight <= 1 and np.abs(off_white - weight * full).max() < 1.5 / 255:
            return _mixed(BOX, DARK[role.lower()], weight)
    lighter = (_mixed(colour, WHITE, part) for part in np.linspace(0, 1, 21))
    return next(mixed for mixed in lighter if contrast(mixed, NIGHT) >= 3)


def _mixed(ground: str, colour: str, weight: float) -> str:
    return to_hex((1 - weight) * np.array(to_rgb(ground)) + weight * np.array(to_rgb(colour)))


def _darken(node: Element, on_numbers: bool) -> None:
    """Paint what is in a node for the dark; on_numbers: it stands on colours that are numbers."""
    for child in node:
        name = child.get("id", "")
        if name.startswith("QuadMesh"):
            continue
        if name.startswith("on-"):
            ground = dark(f"#{name[3:]}")
            _write(child, max((contrast(ink, ground), ink) for ink in (BLACK, WHITE))[1])
        elif on_numbers and name.startswith("text_") and _ink(child) in (BLACK, WHITE):
            _write(child, _ink(child))
        else:
            if style := child.get("style"):
                child.set("style", PAINT.sub(lambda found: f"{found[1]}: {dark(found[2])}", style))
            for paint in ("fill", "stroke"):  # as hatching has it
                if child.get(paint, "").startswith("#"):
                    child.set(paint, dark(child.get(paint)))
            _darken(child, _shows_numbers(child) if name.startswith("axes_") else on_numbers)


def _shows_numbers(axes: Element) -> bool:
    return any(
        node.tag == f"{SVG}image" or node.get("id", "").startswith("QuadMesh")
        for node in axes.iter()
    )


def _ink(text: Element) -> str:
    """The colour of a text."""
    painted = PAINT.search(" ".join(node.get("style", "") for node in text.iter()))
    return painted[2] if painted else BLACK


def _write(text: Element, colour: str) -> None:
    for node in text:
        node.set("style", f"fill: {colour}")


def _plain(root: Element) -> Element:
    """Take away what a drawing was made by, and the digits that no screen shows."""
    for made_by in root.findall(f"{SVG}metadata"):
        root.remove(made_by)
    for node in root.iter():
        node.tail = None
        if node.tag != f"{SVG}style":
            node.text = None
        if LINK in node.attrib:
            node.set("href", node.attrib.pop(LINK))
        for name in {"d", "x", "y"}.intersection(node.keys()):
            node.set(name, _rounded(" ".join(node.get(name).split())))
        if "transform" in node.keys():
            node.set("transform", PLACE.sub(lambda at: _rounded(at[0]), node.get("transform")))
    return root


def _rounded(numbers: str) -> str:
    return DIGITS.sub(lambda found: f"{float(found[0]):.2f}", numbers)


def _written(root: Element) -> str:
    """The file of a drawing, without names to which nothing in it refers."""
    copy = ElementTree.fromstring(ElementTree.tostring(root))
    needed = {
        name
        for node in copy.iter()
        for place in ("href", "clip-path", "style")
        for name in NEEDED.findall(node.get(place, ""))
    }
    for node in copy.iter():
        if node.get("id") not in needed:
            node.attrib.pop("id", None)
    return ElementTree.tostring(copy, "unicode")


ElementTree.register_namespace("", SVG[1:-1])
