"""Day 15's picture of what a weight costs: six operations for each token."""

from matplotlib.axes import Axes

from utils.show.diagrams import arrow, box, note, sheet


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
