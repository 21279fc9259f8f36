"""The sheet on which a picture of a mechanism stands: places, colours of roles, texts that fit.

A sheet is `UNITS` wide; x runs to the right and y down, so that rows count as in a matrix. Texts
have one size, which a phone can show, and are a little smaller where they do not fit; what leaves
the sheet or its box even so is refused.
"""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from utils.arguments import check_choice
from utils.show.plotting import COLOURS, INK, PAPER, WIDTH

ROLE = {  # from dark to light: they differ in print, and without colour vision
    "gradient": "#8C2D04",
    "query": COLOURS[0],
    "value": COLOURS[2],
    "key": COLOURS[4],
    "state": "#E5BCD3",
    # columns of heads, whatever their role
    "head 0": COLOURS[5],
    "head 1": "#F0E442",
}
UNITS = 16  # width of a sheet
SIZE, TIGHT = 13, 12  # points, of every text; of what does not fit otherwise
LIGHT, DIM = "#FFF1B8", "#8a867c"  # under what is new; strokes of what is shut out
SIDES = {"left": (-1, 0), "right": (1, 0), "top": (0, -1), "bottom": (0, 1)}
Point = tuple[float, float]


@dataclass(frozen=True)
class Block:
    """A rectangle on a sheet by its top left corner; `block[i, j]` and slices of it are Blocks."""

    x: float
    y: float
    width: float
    height: float
    rows: int = 1
    columns: int = 1

    def __getitem__(self, where: tuple[int | slice, int | slice]) -> "Block":
        """Return the Block of these rows and columns. Raises: ValueError if there are none."""
        picked = []
        for index, count in zip(where, (self.rows, self.columns), strict=True):
            inside = range(count)
            one = not isinstance(index, slice)
            chosen = [i for i in inside if i == index % count] if one else inside[index]
            if not chosen or (one and not -count <= index < count):
                raise ValueError(f"There is no part {where} in {self.rows} × {self.columns} cells.")
            picked.append(chosen)
        down, across = picked
        width, height = self.width / self.columns, self.height / self.rows
        corner = self.x + across[0] * width, self.y + down[0] * height
        size = len(across) * width, len(down) * height
        return Block(*corner, *size, len(down), len(across))

    def at(self, side: str, gap: float = 0.0) -> Point:
        """Return the middle of a side, or a point so far outside of it."""
        check_choice("side", side, SIDES)
        across, down = SIDES[side]
        x, y = self.middle
        return x + across * (self.width / 2 + gap), y + down * (self.height / 2 + gap)

    @property
    def middle(self) -> Point:
        """The point in the middle."""
        return self.x + self.width / 2, self.y + self.height / 2


def sheet(height: float) -> Axes:
    """Begin a picture, `UNITS` wide and so many units high, without axes."""
    figure = plt.figure(figsize=(WIDTH, WIDTH * height / UNITS), layout="none")
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, UNITS), ylim=(height, 0), aspect="equal")
    ax.set_axis_off()
    ax.add_patch(Rectangle((0, 0), UNITS, height, facecolor=PAPER, edgecolor="none", zorder=-1))
    return ax


def contrast(one: str, other: str) -> float:
    """Return how far two colours stand apart, from 1 to 21, as WCAG 2.2 defines it."""
    levels = []
    for colour in (one, other):
        rgb = np.array(to_rgb(colour))
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        levels.append(float(linear @ [0.2126, 0.7152, 0.0722]))
    return (max(levels) + 0.05) / (min(levels) + 0.05)


def tinted(role: str | None, weight: float = 1.0) -> str:
    """Return the colour of a role, or of ink where it has none, mixed into white by its weight.

    Raises: ValueError if the role is unknown, or the weight is not in 0..1.
    """
    check_choice("role", role, [None, *ROLE])
    if not 0 <= weight <= 1:
        raise ValueError(f"A weight is a number from 0 to 1, got {weight}.")
    full = np.array(to_rgb(INK if role is None else ROLE[role]))
    return to_hex((1 - weight) + weight * full)


def stroke(role: str | None) -> str:
    """Return a role's colour, dark enough for a line on paper.

    Raises: ValueError if the role is unknown.
    """
    colour = np.array(to_rgb(tinted(role)))
    while contrast(to_hex(colour), PAPER) < 3:
        colour = colour * 0.97
    return to_hex(colour)


def write(ax: Axes, place: Point, text: str, align: str = "center", **font) -> Text:
    """Write a text, unchecked."""
    font = {"color": INK, "fontsize": SIZE, "va": "center", "zorder": 3, **font}
    return ax.text(*place, text, ha=align, **font)


def measure(ax: Axes, written: Text, remove: bool = False) -> Bbox:
    """Return the rectangle that a text takes, in units of the sheet."""
    reach = written.get_window_extent().transformed(ax.transData.inverted())
    if remove:
        written.remove()
    return reach


def fits(ax: Axes, block: Block) -> bool:
    """Whether a block is on the sheet."""
    slack = 1e-6
    right, bottom = ax.get_xlim()[1] + slack, ax.get_ylim()[0] + slack
    ends = block.x + block.width <= right and block.y + block.height <= bottom
    return bool(min(block.x, block.y) >= -slack and ends)


def inside(ax: Axes, block: Block, what: str = "a shape") -> Block:
    """Return a block. Raises: ValueError if it leaves the sheet."""
    if not fits(ax, block):
        height, width = ax.get_ylim()[0], ax.get_xlim()[1]
        raise ValueError(
            f"On a sheet of {width:g} × {height:g}, {what} does not fit: it takes x from "
            f"{block.x:.2f} to {block.x + block.width:.2f}, y from {block.y:.2f} to "
            f"{block.y + block.height:.2f}."
        )
    return block


def fill_in(ax: Axes, block: Block, text: str, colour: str) -> Text | None:
    """Write into a block, dark or white. Raises: ValueError if the text does not fit.

    A name tells the book, whose dark pages have other colours, what the text stands on.
    """
    if not text:
        return None
    ink = max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, colour))
    written = write(ax, block.middle, text, color=ink)
    written.set_gid(f"on-{to_hex(colour)[1:]}")
    for size, room in ((SIZE, 0.15), (TIGHT, 0)):
        written.set_fontsize(size)
        reach = measure(ax, written)
        if reach.width + room <= block.width and abs(reach.height) <= block.height:
            return written
    raise ValueError(
        f"The text {text!r} takes {reach.width:.2f} × {abs(reach.height):.2f}, its box has "
        f"{block.width:.2f} × {block.height:.2f}: make the box larger or the text shorter."
    )
