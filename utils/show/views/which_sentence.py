"""Day 12: put a scene together, and two encoders in the page say which sentence fits it, and why."""

from collections.abc import Mapping, Sequence

from utils.show.views.frame import paragraph, view
from utils.show.views.models import Stored, check_shapes, encoder_block, hand_over, load, shapes

GREY = 0.5  # of a patch that is hidden


def which_sentence(model: str, world: Mapping, *, start: Sequence[Mapping], sentence: str) -> None:
    """Let the reader lay things on a canvas and say a sentence, and show which of sixteen fits.

    model: the name of a stored `utils.vision.CLIP`, of which the file tells "heads", "activation",
        "patch_size", "side", "scale" and "words".
    world: what is drawn and said: `utils.data.scenes.for_pages()`.
    start: the things that lie there at first: "form", "colour", "size", "hand" (which ink of its
        form), "x" and "y" (of its left upper corner, in pixels). sentence: what is said at first.
    Raises: ModelError as `models.load` does; ValueError if the model has other weights or another
        side, or a thing lies outside.
    """
    held = load(model)
    hand_over(model)
    data = {
        "model": {"name": model, "sha256": held.header["sha256"]},
        "world": dict(world),
        "start": [dict(thing) for thing in start],
        "sentence": sentence,
        "grey": GREY,
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
