"""Day 11's pictures: the factors of a size, a recipe, gates, passes, bits and a detour."""

from matplotlib.axes import Axes
from torch import Tensor

from utils.show.diagrams import arrow, box, cells, note, sheet, stack

# The size -----------------------------------------------------------------------------------------

LEVERS = (  # what the bytes are a product of, and what makes it smaller
    ("blocks", "distillation", "query"),
    ("weights each", "pruning, sharing", "key"),
    ("bits each", "int8", "value"),
    ("copies", "LoRA", "state"),
)


def levers() -> Axes:
    """Draw the bytes of models for some tasks as a product, and what makes each factor smaller."""
    ax = sheet(3.6)
    width, gap = 3.3, 0.75
    for i, (name, step, role) in enumerate(LEVERS):
        x = 0.2 + i * (width + gap)
        factor = box(ax, (x, 0.6), name, (width, 0.95), role=role)
        note(ax, (x + width / 2, 2.35), step, weight="bold")
        arrow(ax, (x + width / 2, 2.05), factor.at("bottom"))
        if i:
            note(ax, (x - gap / 2, 1.07), "×", weight="bold")
    note(ax, (8.0, 3.2), "the table of words is there whatever the number of blocks")
    return ax


# Distillation -------------------------------------------------------------------------------------


def recipe() -> Axes:
    """Draw DistilBERT's recipe: where a student begins, and the three losses that teach it."""
    ax = sheet(6.6)
    above = [box(ax, (0.3 + 2.1 * i, 0.6), f"block {i}", (1.9, 0.9), role="key") for i in range(4)]
    below = [box(ax, (0.3 + 2.1 * i, 3.4), f"block {i}", (1.9, 0.9), role="query") for i in (0, 2)]
    for i, block in enumerate(below):
        arrow(ax, above[2 * i].at("bottom"), block.at("top"), dashed=True)
    arrow(ax, below[0].at("right"), below[1].at("left"))
    rows = {}
    for y, last in ((0.6, above[-1]), (3.4, below[-1])):
        x = box(ax, (9.3, y), "vectors", (2.1, 0.9), role="state")
        words = box(ax, (12.7, y), "probabilities", (2.8, 0.9), role="value")
        arrow(ax, last.at("right"), x.at("left"))
        arrow(ax, x.at("right"), words.at("left"))
        rows[y] = x, words
    for place, name in enumerate(("cosine", "soft\ntargets")):
        over, under = rows[0.6][place], rows[3.4][place]
        arrow(ax, over.at("bottom"), under.at("top"), role="gradient")
        note(ax, (over.middle[0] - 0.9, 2.45), name)
    word = box(ax, (12.7, 5.5), "hidden word", (2.8, 0.9))
    arrow(ax, word.at("top"), rows[3.4][1].at("bottom"), role="gradient")
    note(ax, (11.2, 4.9), "masked words")
    note(ax, (1.6, 2.45), "copied", align="left")
    note(ax, (0.3, 0.25), "teacher", align="left", weight="bold")
    note(ax, (0.3, 4.65), "student", align="left", weight="bold")
    return ax


# Heads and passes ---------------------------------------------------------------------------------


def gates() -> Axes:
    """Draw a gate after each head, and one that is closed."""
    ax = sheet(5.4)
    mix = box(ax, (11.2, 2.2), "W_o", (1.8, 0.9), role="value")
    for i, gate in enumerate((1, 1, 0, 1)):
        y = 0.3 + 1.25 * i
        head = box(ax, (1.2, y), f"head {i}", (2.6, 0.9), role="query" if gate else None)
        open_ = box(ax, (6.0, y), f"ξ = {gate}", (2.2, 0.9), role="key" if gate else None)
        arrow(ax, head.at("right"), open_.at("left"))
        arrow(ax, open_.at("right"), mix.at("left"), dashed=not gate)
    arrow(ax, mix.at("right"), (14.6, 2.65))
    return ax


def passes() -> Axes:
    """Draw encoders of four passes: with blocks of their own, with one block, and universal."""
    ax = sheet(9.4)
    for x, title, names in (
        (2.6, "of their own", "ABCD"),
        (7.6, "shared", "AAAA"),
        (12.0, "universal", "AAAA"),
    ):
        blocks = stack(ax, (x, 8.0), [f"block {name}" for name in names], (2.6, 1.0))
        note(ax, (x, 8.4), "embedded words")
        note(ax, (x, 9.0), title, weight="bold")
    for step, block in enumerate(blocks, start=1):
        y = block.at("bottom")[1] + 0.35
        arrow(ax, (14.0, y), (12.05, y), role="gradient")
        note(ax, (14.2, y), f"p + t{step}", align="left")
    return ax


# Bits and detours ---------------------------------------------------------------------------------


def rounding(weights: Tensor, ways: dict[str, tuple[Tensor, Tensor]]) -> Axes:
    """Draw weights, and their whole numbers and scales in two ways.

    Shapes: weights (2, n); of each way whole numbers (2, n) and scales (2, 1) or (1, 1).
    """
    ax = sheet(4.6)
    left = cells(ax, (0.3, 1.5), weights, role="value", weights=0.1, size=(1.25, 0.9))
    for x, (name, (whole, scale)) in zip((6.2, 11.5), ways.items(), strict=True):
        middle = cells(ax, (x, 1.5), whole.tolist(), role="query", weights=0.1, size=(1.05, 0.9))
        note(ax, (middle.middle[0], 0.9), name, weight="bold")
        scales = "   ".join(f"{each:.2f}" for each in scale.flatten().tolist())
        note(ax, (middle.middle[0], 3.8), f"scale: {scales}")
    note(ax, (left.middle[0], 0.9), "weights", weight="bold")
    arrow(ax, left.at("right"), (6.2, 2.4))
    return ax


def detour() -> Axes:
    """Draw LoRA: a frozen weight, and two thin matrices that read the same input."""
    ax = sheet(7.4)
    x = box(ax, (0.3, 3.0), "x", (1.2, 0.9))
    frozen = box(ax, (5.2, 0.4), "W, frozen", (3.0, 3.0), role="key")
    thin = box(ax, (3.2, 5.3), "A", (3.0, 0.7), role="query")
    tall = box(ax, (9.6, 4.15), "B", (0.7, 3.0), role="query")
    total = box(ax, (12.8, 3.0), "+", (0.9, 0.9))
    arrow(ax, x.at("right"), frozen.at("left"))
    arrow(ax, x.at("right"), thin.at("left"))
    arrow(ax, thin.at("right"), tall.at("left"))
    arrow(ax, frozen.at("right"), total.at("left"))
    arrow(ax, tall.at("right"), total.at("bottom"))
    arrow(ax, total.at("right"), (15.4, 3.45))
    note(ax, (7.9, 5.2), "r numbers")
    note(ax, (13.2, 5.3), "times α/r")
    return ax


def copies() -> Axes:
    """Draw four tasks with a model each, and with one model and a change of low rank each."""
    ax, n = sheet(6.2), 4
    note(ax, (3.6, 0.4), "a copy for each task", weight="bold")
    for i in range(n):
        box(ax, (0.4 + 1.7 * i, 1.2), f"W{i + 1}", (1.5, 3.4), role="key")
        note(ax, (1.15 + 1.7 * i, 5.2), f"task {i + 1}")
    left = 9.2
    note(ax, (left + 3.1, 0.4), "one model, small changes", weight="bold")
    box(ax, (left, 1.2), "W, frozen", (2.3, 3.4), role="key")
    for i in range(n):
        thin = box(ax, (left + 3.4, 1.2 + 0.9 * i), f"B{i + 1} A{i + 1}", (1.6, 0.5), role="query")
        arrow(ax, (left + 2.3, thin.middle[1]), thin.at("left"))
        note(ax, (left + 5.2, thin.middle[1]), f"task {i + 1}", align="left")
    return ax
