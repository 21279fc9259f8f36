"""Clocks, on which positions and rotations are angles."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Wedge

from utils.show.diagrams.shapes import note
from utils.show.diagrams.sheet import DIM, LIGHT, Block, Point, inside, stroke
from utils.show.plotting import INK


def dial(ax: Axes, middle: Point, radius: float) -> Block:
    """Draw the face of a clock, for `hand` and `sector`."""
    block = inside(ax, Block(middle[0] - radius, middle[1] - radius, 2 * radius, 2 * radius))
    ax.add_patch(Circle(middle, radius, facecolor="white", edgecolor=INK, linewidth=1.2))
    return block


def hand(
    ax: Axes,
    face: Block,
    angle: float,
    *,
    text: str = "",
    role: str | None = None,
    dashed: bool = False,
) -> None:
    """Draw a clock's hand at an angle, in radians from twelve o'clock, clockwise.

    On a clock of radius 1 it points to (sin angle, cos angle). text: stands outside, where it
    points. Raises: ValueError if the role is unknown.
    """
    (x, y), radius = face.middle, face.width / 2
    way = np.array([math.sin(angle), -math.cos(angle)])
    end = 0.88 * radius * way
    form = {"linestyle": (0, (2, 1.2)) if dashed else "-", "linewidth": 1.4 if dashed else 3.2}
    ax.plot([x, x + end[0]], [y, y + end[1]], color=stroke(role), marker="", **form)
    ax.add_patch(Circle((x, y), 0.09, facecolor=INK, zorder=2.5))
    if text:
        note(ax, (x, y) + (radius + 0.35) * way, text, weight="bold")


def sector(ax: Axes, face: Block, start: float, end: float) -> None:
    """Shade on a clock what a hand passes that turns from one angle to another, clockwise."""
    ends = math.degrees(start) - 90, math.degrees(end) - 90
    form = {"facecolor": LIGHT, "edgecolor": DIM, "linewidth": 0.8}
    ax.add_patch(Wedge(face.middle, 0.78 * face.width / 2, *ends, **form))
