"""Day 6's larger pictures: the stream, norms, blocks, towers, the shifted target, waves."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from utils.show.diagrams import (
    arrow,
    box,
    cells,
    label,
    light,
    note,
    sheet,
)


def residuals() -> Axes:
    """Draw a block in post-norm and in pre-norm beside each other."""
    ax = sheet(11.4)
    for kind, x in (("post-norm", 3.2), ("pre-norm", 11.2)):
        note(ax, (x, 0.5), kind, weight="bold")
        y = 10.6
        note(ax, (x, y + 0.3), "$x$")
        for name in ("attention", "feed-forward"):
            if kind == "post-norm":
                layer = box(ax, (x + 1.2, y - 2.4), name, (2.9, 0.85))
                norm = box(ax, (x - 0.85, y - 4.5), "norm", (1.7, 0.85))
                light(ax, norm)
                arrow(ax, (x, y), (x, y - 2.85), role="state", weight=0.35)
                arrow(ax, (x, y - 0.5), layer.at("bottom"), bend=-0.2)
                arrow(ax, layer.at("top"), (x + 0.25, y - 3.1), bend=-0.2)
                note(ax, (x, y - 3.15), "+", weight="bold")
                arrow(ax, (x, y - 3.3), norm.at("bottom"), role="state")
                y = norm.at("top")[1]
            else:
                norm = box(ax, (x + 1.2, y - 1.9), "norm", (1.7, 0.85))
                layer = box(ax, (x + 0.85, y - 3.45), name, (2.9, 0.85))
                arrow(ax, (x, y), (x, y - 3.9), role="state", weight=0.35)
                arrow(ax, (x, y - 0.4), norm.at("bottom"), bend=-0.2)
                arrow(ax, norm.at("top"), (norm.middle[0], layer.y + layer.height))
                arrow(ax, layer.at("top"), (x + 0.25, y - 4.2), bend=-0.15)
                note(ax, (x, y - 4.2), "+", weight="bold")
                y -= 4.5
        arrow(ax, (x, y), (x, y - 0.7), role="state", weight=0.35)
    return ax


def towers(source: str, read: Sequence[str], said: Sequence[str]) -> Axes:
    """Draw encoder and decoder, what enters them, and what flows from one to the other."""
    ax = sheet(12.6)
    left, right = 3.6, 11.6
    wide = (5.6, 0.85)

    def tower(x, names, foot):
        blocks, y = [], foot
        for name in names:
            blocks.append(box(ax, (x - wide[0] / 2, y - 1.65), name, wide))
            arrow(ax, (x, y), (x, y - 0.8), role="state", weight=0.25)
            y -= 1.65
        return blocks

    foot = 10.4
    encoder = tower(left, ("self-attention", "feed-forward"), foot)
    decoder = tower(right, ("causal self-attention", "look at the source", "feed-forward"), foot)
    light(ax, decoder[1])
    for x, blocks in ((left, encoder), (right, decoder)):
        note(ax, (x + 3.2, blocks[0].y - 0.3), r"$\times L$")
    words = source.split()
    memory = cells(
        ax, (left - 0.6 * len(words), 4.6), [[""] * len(words)] * 2, role="state", size=(1.2, 0.5)
    )
    arrow(ax, encoder[-1].at("top"), memory.at("bottom"), role="state", weight=0.25)
    label(ax, memory, "top", "what the encoder found: (S, D)")
    start = memory.at("right")
    arrow(ax, (start[0], start[1] - 0.1), decoder[1].at("left"), role="key", weight=0.2)
    arrow(
        ax, (start[0], start[1] + 0.2), (decoder[1].x, decoder[1].y + 0.7), role="value", weight=0.2
    )
    note(ax, (7.8, 4.9), "keys and\nvalues")
    for x, texts in ((left, words), (right, read)):
        note(ax, (x, foot + 1.25), "   ".join(texts))
        note(ax, (x, foot + 0.45), "vectors + clocks")
    note(ax, (left, 12.25), "source", weight="bold")
    note(ax, (right, 12.25), "what the decoder reads", weight="bold")
    top = decoder[-1].at("top")
    out = box(ax, (right - wide[0] / 2, top[1] - 1.85), "norm, then logits", wide)
    arrow(ax, top, out.at("bottom"), role="state", weight=0.25)
    note(ax, (right, out.y - 1.1), "   ".join(said), weight="bold")
    arrow(ax, out.at("top"), (right, out.y - 0.75))
    note(ax, (right, out.y - 1.75), "what it says")
    return ax
