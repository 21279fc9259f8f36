"""Day 12: put a scene together; two encoders in the page say which sentence fits it, and why."""

import math
from collections.abc import Mapping, Sequence

from utils.show.views.frame import paragraph, view
from utils.show.views.models import Stored, check_shapes, encoder_block, hand_over, load, shapes

HIDDEN = 0.0  # what a hidden patch is painted with: black, as the ground is
ENCODERS = ("image_encoder", "text_encoder")
SYMBOLS, POSITIONS = "embedding.symbols", "embedding.positions.table"


def which_sentence(model: str, world: Mapping, *, start: Sequence[Mapping], sentence: str) -> None:
    """Let the reader lay things on a canvas and say a sentence, and show which of sixteen fits.

    model: the name of a stored `utils.vision.CLIP` as `experiments/clip_page.py` makes one, of
        which the file tells "heads", "patch_size", "temperature" and "words".
    world: what is drawn and said: `utils.data.scenes.for_pages()`.
    start: the things that lie there at first: "form", "colour", "size", "hand" (which ink of its
        form), "x" and "y" (of its left upper corner, in pixels). sentence: what is said at first.
    Raises: ModelError as `models.load` does; ValueError if the model has other weights or another
        side, or a thing lies outside.
    """
    held = load(model)
    check(held, world["side"])
    check_places(start, world)
    hand_over(model)
    data = {
        "model": {"name": model, "sha256": held.header["sha256"]},
        "world": dict(world),
        "start": [dict(thing) for thing in start],
        "sentence": sentence,
        "hidden": HIDDEN,
    }
    things = ", ".join(
        " ".join(filter(None, ("a", thing["size"], thing["colour"], thing["form"])))
        for thing in start
    )
    still = paragraph(
        "Put a scene together, and see which sentence fits it: an interactive picture, which needs "
        "JavaScript. In JupyterLab, run the cell to open it. It begins with "
        f"{things}, and the sentence: {sentence}"
    )
    says = f"View: which sentence fits a scene. {things}; {sentence}"
    parts = ["runtime", "live", "towers", "scenes", "stage"]
    view("which_sentence", data, says=says, still=still, parts=parts)


def check_places(start: Sequence[Mapping], world: Mapping) -> None:
    """Raise a ValueError if a thing isn't of the world, or lies outside of its canvas."""
    inks = {(form["form"], form["size"]): form["inks"] for form in world["forms"]}
    for thing in start:
        own = inks.get((thing["form"], thing["size"]), ())
        side = math.isqrt(len(own[0])) if 0 <= thing["hand"] < len(own) else math.inf
        most = world["side"] - side
        inside = 0 <= thing["x"] <= most and 0 <= thing["y"] <= most
        if not inside or thing["colour"] not in world["colours"]:
            raise ValueError(f"There is no such thing, or it lies outside of the canvas: {thing}.")


def check(held: Stored, side: int) -> None:
    """Raise a ValueError if a stored model is not of the kind that the page computes.

    side: of the pictures, in pixels.
    """
    found, told = shapes(held), held.header
    h, P, V = told.get("heads", 0), told.get("patch_size", 0), len(told.get("words", ()))
    E = found.get("text_encoder.output.bias", (0,))[0]
    n, wanted = (side // P) ** 2 if P > 0 else 0, {}
    fits = n > 0 and side % P == 0 and h > 0 and told.get("temperature", 0) > 0
    for name in ENCODERS:
        stack = f"{name}.encoder."
        T, D = found.get(stack + POSITIONS, (0, 0))
        F = found.get(f"{stack}blocks.0.feed_forward.W_1.bias", (0,))[0]
        L = sum(one.startswith(stack) and one.endswith("self_attention.W_in") for one in found)
        own = {f"blocks.{i}.{one}": s for i in range(L) for one, s in encoder_block(D, F).items()}
        own |= {"norm.weight": (D,), "norm.bias": (D,)}
        if name == ENCODERS[0]:
            own |= {f"{SYMBOLS}.linear.weight": (D, 3 * P * P), f"{SYMBOLS}.linear.bias": (D,)}
            own |= {f"{SYMBOLS}.class_token": (D,), POSITIONS: (1 + n, D)}
        else:
            own |= {f"{SYMBOLS}.weight": (V, D), POSITIONS: (T, D)}
        wanted |= {stack + one: shape for one, shape in own.items()}
        wanted |= {f"{name}.output.weight": (E, D), f"{name}.output.bias": (E,)}
        fits = fits and L > 0 and D % h == 0
    check_shapes(held, wanted, fits, "experiments/clip_page.py", "heads, patch size or temperature")
