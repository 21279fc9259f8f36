"""Day 5: put a sentence together, and a network in the page says what its pronoun means."""

from collections.abc import Mapping, Sequence

from utils.show.views.frame import paragraph, view
from utils.show.views.models import Stored, check_shapes, hand_over, load, shapes


def meaning(
    model: str,
    *,
    menus: Sequence[tuple[str, Sequence[str], int]],
    nouns: Mapping[str, tuple[str, bool, str]],
    said: Mapping[str, str],
) -> None:
    """Let the reader choose the words of a sentence, and take links of its pronoun away.

    model: the name of a stored `SelfAttentionTagger` with learned positions, of which the file
        tells "heads" and "words", in the order of its table's last rows.
    menus: (label, options, which one is chosen first) for each part of the sentence; an option may
        be several words, or none. The gap is "_". The last menu has the pronoun, "it" or "they",
        and as its last word what is said of what is meant: first all with "it", then all with
        "they". The page offers what leaves exactly one noun that is meant.
    nouns: {noun: (its kind, whether it is plural, what training never said of it)}.
    said: {what is said: of which kind}.
    Raises: ModelError as `models.load` does; ValueError if the model has other weights or too few
        positions, or a menu has a word that it doesn't know.
    """
    held = load(model)
    check(held, sum(max(len(option.split()) for option in options) for _, options, _ in menus))
    unknown = {
        word for _, options, _ in menus for option in options for word in option.split()
    } - set(held.header["words"])
    if unknown:
        raise ValueError(f"The network doesn't know {', '.join(sorted(unknown))}.")
    hand_over(model)
    data = {
        "model": {"name": model, "sha256": held.header["sha256"]},
        "menus": [
            {"label": label, "options": list(options), "first": first}
            for label, options, first in menus
        ],
        "nouns": {
            noun: {"kind": kind, "plural": plural, "never": never}
            for noun, (kind, plural, never) in nouns.items()
        },
        "said": dict(said),
    }
    chosen = " ".join(options[first] for _, options, first in menus if options[first])
    still = paragraph(
        "Put a sentence together: an interactive picture, which needs JavaScript. In JupyterLab, "
        "run the cell to open it. It begins with:"
    ) + paragraph(chosen)
    says = f"View: what a pronoun means. {chosen}"
    parts = ["runtime", "live"]
    view("meaning", data, says=says, still=still, parts=parts)


def check(held: Stored, longest: int) -> None:
    """Raise a ValueError if a stored model is not of the kind that the page computes.

    longest: words that a sentence may have.
    """
    found = shapes(held)
    V, D = found.get("embedding.weight", (0, 0))
    n = found.get("positions.table", (0, 0))[0]
    layer = {"W_in": (3 * D, D), "b_in": (3 * D,), "W_o.weight": (D, D), "W_o.bias": (D,)}
    L = sum(name.endswith("W_in") for name in found)
    wanted = {"embedding.weight": (V, D), "positions.table": (n, D)}
    wanted |= {f"layers.{i}.{name}": shape for i in range(L) for name, shape in layer.items()}
    wanted |= {"output.weight": (V, D), "output.bias": (V,)}
    heads, words = held.header.get("heads", 0), held.header.get("words", ())
    fits = L and n >= longest and heads >= 1 and D % heads == 0 and len(words) + 4 == V
    check_shapes(
        held, wanted, fits, "utils.self_attention.SelfAttentionTagger", "heads, words or positions"
    )
