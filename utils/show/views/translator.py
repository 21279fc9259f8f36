"""Day 6: a Transformer that translates a sentence in the page, word by word."""

from utils.show.views.frame import paragraph, view
from utils.show.views.models import Stored, check_shapes, hand_over, load, shapes

LONGEST = 40  # English words that are read, Chinese words that are written


def translator(model: str, *, sentence: str) -> None:
    """Let the reader write a sentence; a stored model translates it, and shows what it attends to.

    model: the name of a stored model as `experiments/translation_page.py` makes one, of which the
        file tells "heads", the symbols "english" and "chinese" in the order of the tables' rows,
        and "examples", sentences with their right translations, which it never saw in training.
    sentence: what stands in the field at first, words that the model knows with spaces between.
    Raises: ModelError as `models.load` does; ValueError if the model has other weights, its heads
        do not divide the width, or the sentence has a word that it does not know.
    """
    held = load(model)
    check(held)
    strange = sorted(set(sentence.split()) - set(held.header["english"]))
    if strange or not 0 < len(sentence.split()) < LONGEST:
        raise ValueError(f"It translates up to {LONGEST} words that it knows, got {sentence!r}.")
    hand_over(model)
    data = {
        "model": {"name": model, "sha256": held.header["sha256"]},
        "sentence": sentence,
        "longest": LONGEST,
    }
    still = paragraph(
        "It translates your sentence: an interactive picture, which needs JavaScript. In "
        f"JupyterLab, run the cell to open it. It begins with: {sentence}"
    )
    says = f"View: it translates your sentence, word by word. {sentence}"
    view("translator", data, says=says, still=still, parts=["runtime", "live"])


def check(held: Stored) -> None:
    """Raise a ValueError if a stored model is not of the kind that the page computes."""
    found = shapes(held)
    tables = {side: f"{side}.embedding.symbols.weight" for side in ("encoder", "decoder")}
    sizes = {side: found.get(table, (0, 0)) for side, table in tables.items()}
    (V, D), (W, _) = sizes["encoder"], sizes["decoder"]
    F = found.get("encoder.blocks.0.feed_forward.W_1.weight", (0, 0))[0]
    attention = {"W_in": (3 * D, D), "b_in": (3 * D,), "W_o.weight": (D, D), "W_o.bias": (D,)}
    thought = {"W_1.weight": (F, D), "W_1.bias": (F,), "W_2.weight": (D, F), "W_2.bias": (D,)}
    wanted = {tables["encoder"]: (V, D), tables["decoder"]: (W, D)}
    L = {}
    for side, looks in (("encoder", ("self",)), ("decoder", ("self", "cross"))):
        L[side] = sum(name.startswith(side) and name.endswith("W_1.weight") for name in found)
        wanted |= {f"{side}.norm.{part}": (D,) for part in ("weight", "bias")}
        for i in range(L[side]):
            block = f"{side}.blocks.{i}"
            for look in looks:
                wanted |= {f"{block}.{look}_attention.{n}": of for n, of in attention.items()}
            wanted |= {f"{block}.feed_forward.{n}": of for n, of in thought.items()}
            for n in range(len(looks) + 1):
                norm = f"{block}.residuals.{n}.norm"
                wanted |= {f"{norm}.weight": (D,), f"{norm}.bias": (D,)}
    told = held.header
    named = [len(told.get(language, ())) for language in ("english", "chinese")] == [V, W]
    heads = told.get("heads", 0)
    fits = all(L.values()) and named and heads >= 1 and D % heads == 0
    check_shapes(held, wanted, fits, "experiments/translation_page.py", "heads, english or chinese")
