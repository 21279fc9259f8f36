"""Day 9: a GPT that writes as one types, computed in the page."""

from utils.show.views.models import Stored, check_shapes, shapes
from utils.show.views.writes import writes


def writer(model: str, *, beginning: str) -> None:
    """Let the reader begin a text; a stored model goes on with it, letter by letter.

    model: the name of a stored model as `utils.tasks.shakespeare.writer` makes them, of which the
        file tells "heads" and "characters", its letters in the order of its table's last rows.
    beginning: what stands in the field at first; it may be empty.
    Raises: ModelError as `models.load` does; ValueError if the model has other weights, its heads
        do not divide the width, or the beginning is too long or has other letters.
    """
    writes("writer", model, check, beginning)


def check(held: Stored) -> None:
    """Raise a ValueError if a stored model is not of the kind that the page computes."""
    found = shapes(held)
    symbols, positions = "stack.embedding.symbols.weight", "stack.embedding.positions.table"
    V, D = found.get(symbols, (0, 0))
    T = found.get(positions, (0, 0))[0]
    F = found.get("stack.blocks.0.feed_forward.1.W_gate.weight", (0, 0))[0]
    block = {
        "self_attention.W_in": (3 * D, D),
        "self_attention.W_o.weight": (D, D),
        "feed_forward.1.W_gate.weight": (F, D),
        "feed_forward.1.W_up.weight": (F, D),
        "feed_forward.1.W_down.weight": (D, F),
        "residuals.0.norm.weight": (D,),
        "residuals.1.norm.weight": (D,),
    }
    L = sum(name.endswith("self_attention.W_in") for name in found)
    wanted = {symbols: (V, D), positions: (T, D), "stack.norm.weight": (D,)}
    wanted |= {f"stack.blocks.{i}.{name}": block[name] for i in range(L) for name in block}
    heads, letters = held.header.get("heads", 0), held.header.get("characters", "")
    fits = L and T % 2 == 0 and heads >= 1 and D % heads == 0 and 0 < len(letters) <= V
    told = "heads, characters or context"
    check_shapes(held, wanted, fits, "utils.tasks.shakespeare.writer", told)
