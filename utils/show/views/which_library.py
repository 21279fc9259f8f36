"""Day 8: type a sentence, and two readers say which library it is from, and which words decided."""

from utils.show.views.frame import paragraph, view
from utils.show.views.models import Stored, check_shapes, encoder_block, hand_over, load, shapes


def which_library(model: str, *, sentence: str) -> None:
    """Let the reader type a sentence; a stored model is computed in the page, a word left out each.

    model: the name of a stored model as `experiments/libraries_page.py` makes one: Day 8's
        classifier and its bag of words, of which the file tells "heads", "merges", "words",
        "libraries", "names" and "masks". sentence: the one that it begins with.
    Raises: ModelError as `models.load` does; ValueError if the model has other weights, or its
        heads do not divide the width.
    """
    held = load(model)
    check(held)
    hand_over(model)
    data = {
        "model": {"name": model, "sha256": held.header["sha256"]},
        "libraries": held.header["libraries"],
        "names": held.header["names"],
        "sentence": sentence,
    }
    still = paragraph(
        "Which library your sentence is from: an interactive picture, which needs JavaScript. In "
        f"JupyterLab, run the cell to open it. It begins with: {sentence}"
    )
    says = f"View: which library your sentence is from. {sentence}"
    parts = ["runtime", "live", "words", "sentence"]
    view("which_library", data, says=says, still=still, parts=parts)


def check(held: Stored) -> None:
    """Raise a ValueError if a stored model is not of the kind that the page computes."""
    found, told = shapes(held), held.header
    table = "encoder.embedding.symbols.weight"
    V, D = found.get(table, (0, 0))
    F = found.get("encoder.blocks.0.feed_forward.W_1.weight", (0, 0))[0]
    n, N = (len(told.get(name, ())) for name in ("libraries", "words"))
    block = encoder_block(D, F)
    L = sum(name.endswith("self_attention.W_in") for name in found)
    wanted = {table: (V, D), "encoder.norm.weight": (D,), "encoder.norm.bias": (D,)}
    wanted |= {"output.weight": (n, D), "output.bias": (n,)}
    wanted |= {"bag.idf": (N,), "bag.weights": (N, n), "bag.bias": (n,)}
    wanted |= {f"encoder.blocks.{i}.{name}": block[name] for i in range(L) for name in block}
    heads, tokens = told.get("heads", 0), 256 + len(told.get("merges", ()))
    fits = L and tokens == V and heads >= 1 and D % (2 * heads) == 0
    check_shapes(held, wanted, fits, "experiments/libraries_page.py", "heads or merges")
