"""Day 7: one text, written with a cache and without one by a model that runs in the page."""

from utils.show.views.frame import paragraph, view
from utils.show.views.models import Stored, check_shapes, hand_over, load, shapes
from utils.show.views.race import WAYS
from utils.show.views.typed import check_beginning

LONGEST = 100  # characters of a beginning
LENGTH = 200  # characters that each lane writes
TEMPERATURE = 0.5
WINDOW = 16  # positions before a character that the cache may be limited to


def live_race(model: str, *, beginning: str) -> None:
    """Let the reader begin a text; a stored writer goes on with it, without a cache and with one.

    model: the name of a stored `utils.tasks.writer.Writer`, of which the file tells "heads" and
        "characters", in the order of its table's last rows.
    beginning: what stands in the field at first; it may be empty.
    Raises: ModelError as `models.load` does; ValueError if the model has other weights, its heads
        do not divide the width, or the beginning is too long or has other characters.
    """
    held = load(model)
    check(held)
    check_beginning(beginning, held, LONGEST)
    hand_over(model)
    data = {
        "model": {"name": model, "sha256": held.header["sha256"]},
        "ways": list(WAYS),
        "beginning": beginning,
        "longest": LONGEST,
        "length": LENGTH,
        "temperature": TEMPERATURE,
        "window": WINDOW,
    }
    still = paragraph(
        "One model writes the same text twice, without a cache and with one: an interactive "
        "picture, which needs JavaScript. In JupyterLab, run the cell to open it. It begins with: "
        f"{beginning}"
    )
    says = f"View: the same text without a cache and with one, written in the page. {beginning}"
    view("live_race", data, says=says, still=still, parts=["runtime", "live", "typed", "lanes"])


def check(held: Stored) -> None:
    """Raise a ValueError if a stored model is not of the kind that the page computes."""
    found = shapes(held)
    V, D = found.get("characters.weight", (0, 0))
    F = found.get("blocks.0.feed_forward.0.bias", (0,))[0]
    block = {"W_in.weight": (3 * D, D), "W_o.weight": (D, D)}
    block |= {"feed_forward.0.weight": (F, D), "feed_forward.0.bias": (F,)}
    block |= {"feed_forward.2.weight": (D, F), "feed_forward.2.bias": (D,)}
    block |= {f"norms.{i}.{name}": (D,) for i in (0, 1) for name in ("weight", "bias")}
    L = sum(name.endswith("W_in.weight") for name in found)
    wanted = {"characters.weight": (V, D), "output.weight": (V, D), "output.bias": (V,)}
    wanted |= {"norm.weight": (D,), "norm.bias": (D,)}
    wanted |= {f"blocks.{i}.{name}": block[name] for i in range(L) for name in block}
    heads, letters = held.header.get("heads", 0), held.header.get("characters", "")
    fits = L and heads >= 1 and D and D % (2 * heads) == 0 and 0 < len(letters) <= V
    check_shapes(held, wanted, fits, "utils.tasks.writer.Writer", "heads or characters")
