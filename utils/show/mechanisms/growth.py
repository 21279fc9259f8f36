"""Day 15's pictures of what size buys: six operations, and a product that looks like a jump."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from utils.show.diagrams import arrow, box, cells, note, sheet, tinted
from utils.show.plotting import INK


def six_operations() -> Axes:
    """Draw a weight's multiplications and additions for one token: forward two, backward four."""
    rows = (
        ("forward", "x", "w", "other inputs", "y"),
        ("backward", "y.grad", "w", "other outputs", "x.grad"),
        ("", "y.grad", "x", "other tokens", "w.grad"),
    )
    ax = sheet(1.0 + 2.5 * len(rows))
    roles = {"x": "query", "w": "value", "y": "key"}
    counts = []
    note(ax, (14.4, 0.35), "operations")
    for k, (name, one, other, rest, result) in enumerate(rows):
        y = 0.3 + 2.5 * k
        note(ax, (0.3, y + 1.0), name, align="left", weight="bold")
        signs = [box(ax, (x, y + 0.6), sign, (0.8, 0.8)) for x, sign in ((6.2, "×"), (9.2, "+"))]
        for place, text in ((y, one), (y + 1.2, other)):
            factor = box(ax, (3.2, place), text, (1.9, 0.85), role=roles.get(text, "gradient"))
            arrow(ax, factor.at("right"), signs[0].at("left"))
        arrow(ax, signs[0].at("right"), signs[1].at("left"))
        note(ax, (9.6, y + 0.05), rest)
        arrow(ax, (9.6, y + 0.25), signs[1].at("top"))
        end = box(ax, (11.6, y + 0.57), result, (1.9, 0.85), role=roles.get(result, "gradient"))
        arrow(ax, signs[1].at("right"), end.at("left"))
        counts.append(len(signs))
        note(ax, (14.4, y + 1.0), str(counts[-1]), weight="bold")
    total = f"{' + '.join(map(str, counts))} = {sum(counts)} for each weight and token: "
    total += f"$C = {sum(counts)} N D$"
    note(ax, (8.0, ax.get_ylim()[0] - 0.5), total)
    return ax


def all_or_nothing(p: Sequence[float], k: int) -> Axes:
    """Draw k digits that are each correct with probability p, and how likely all of them are.

    p: a probability for each row.
    Raises: ValueError if p is not from 0 to 1, or there is no digit.
    """
    if k < 1 or not all(0 <= each <= 1 for each in p):
        raise ValueError(f"Draw at least one digit, each p from 0 to 1, got k={k} and p={[*p]}.")
    ax = sheet(1.0 + 1.15 * len(p))
    note(ax, (4.3, 0.5), "each digit", weight="bold")
    note(ax, (12.3, 0.5), f"all {k}", weight="bold")
    for i, each in enumerate(p):
        y = 1.0 + 1.15 * i
        form = {"role": "query", "weights": 0.6 * each, "size": (8.0 / k, 0.85)}
        cells(ax, (0.3, y), [[f"{each:.0%}"] * k], **form)
        chance = each**k
        form = {"facecolor": tinted("key"), "edgecolor": INK, "linewidth": 1.2}
        ax.add_patch(Rectangle((9.2, y), 5.0 * chance, 0.85, **form))
        note(ax, (9.4 + 5.0 * chance, y + 0.42), f"{chance:.0%}", align="left")
    return ax
