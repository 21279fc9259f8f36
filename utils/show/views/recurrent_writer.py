"""Day 3: an LSTM that writes as one types, computed in the page; its state can be emptied."""

from utils.show.views.models import Stored, check_shapes, shapes
from utils.show.views.writes import writes


def recurrent_writer(model: str, *, beginning: str) -> None:
    """Let the reader begin a text; a stored LSTM goes on with it, and its state can be emptied.

    model: the name of a stored `LanguageModel` with an `LSTM`, of which the file tells
        "characters", its letters in the order of its table's last rows.
    beginning: what stands in the field at first; it may be empty.
    Raises: ModelError as `models.load` does; ValueError if the model has other weights, or the
        beginning is too long or has other letters.
    """
    writes("recurrent_writer", model, check, beginning)


def check(held: Stored) -> None:
    """Raise a ValueError if a stored model is not of the kind that the page computes."""
    found = shapes(held)
    V, D = found.get("embedding.weight", (0, 0))
    N = found.get("layer.W_h", (0, 0))[-1]
    wanted = {"embedding.weight": (V, D), "output.weight": (V, N), "output.bias": (V,)}
    wanted |= {"layer.W_x": (4 * N, D), "layer.W_h": (4 * N, N), "layer.b": (4 * N,)}
    fits = 0 < len(held.header.get("characters", "")) <= V
    kind = "utils.recurrent.LanguageModel"
    check_shapes(held, wanted, fits, kind, "characters")
