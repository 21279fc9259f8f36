"""Day 5: put a sentence together, and the lesson's own reader says what its pronoun means."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from utils.show.views.frame import paragraph, view

DIGITS = 4  # of each weight; answers differ from the model's own by less than a hundredth


def meaning(
    network: Mapping[str, Tensor | int],
    words: Sequence[str],
    *,
    menus: Sequence[tuple[str, Sequence[str], int]],
    nouns: Mapping[str, tuple[str, bool]],
    said: Mapping[str, str],
) -> None:
    """Let the reader choose the words of a sentence; the network is computed in the page.

    network: `words` (V, D), `places` (n, D), `W_in` (L, 3·D, D), `W_o` (L, D, D), `output` (V, D),
        `bias` (V,), and `heads`, their number: the weights of the lesson's `Reader`.
    words: the V words of its vocabulary.
    menus: (label, options, which one is chosen first) for each part of the sentence; an option may
        be several words, or none. The gap is "_", the pronoun "it" or "they", the last word what is
        said of what is meant.
    nouns: {noun: (its kind, whether it is plural)}. said: {what is said: of which kind}.
    Raises: ValueError if a weight has another shape or is not finite, or a menu has a word that the
        network doesn't know.
    """
    V, D = network["words"].shape
    L, n = len(network["W_in"]), len(network["places"])
    shapes = {"words": (V, D), "places": (n, D), "W_in": (L, 3 * D, D), "W_o": (L, D, D)}
    shapes |= {"output": (V, D), "bias": (V,)}
    for name, shape in shapes.items():
        weight = network[name]
        if tuple(weight.shape) != shape or not torch.isfinite(weight).all():
            raise ValueError(
                f"{name!r} should hold finite numbers of shape {shape}, got {tuple(weight.shape)}."
            )
    if len(words) != V or D % network["heads"]:
        raise ValueError(
            f"A network of {V} words and {network['heads']} heads of a width of {D} can't read "
            f"{len(words)} words: the numbers have to fit."
        )
    unknown = {
        word for _, options, _ in menus for option in options for word in option.split()
    } - set(words)
    if unknown:
        raise ValueError(f"The network doesn't know {', '.join(sorted(unknown))}.")
    data = {
        "network": {name: _rounded(network[name]) for name in shapes} | {"heads": network["heads"]},
        "words": list(words),
        "menus": [
            {"label": label, "options": list(options), "first": first}
            for label, options, first in menus
        ],
        "nouns": {noun: {"kind": kind, "plural": plural} for noun, (kind, plural) in nouns.items()},
        "said": dict(said),
    }
    chosen = " ".join(options[first] for _, options, first in menus if options[first])
    still = paragraph(
        "Put a sentence together: an interactive picture, which needs JavaScript. In JupyterLab, "
        "run the cell to open it. It begins with:"
    ) + paragraph(chosen)
    view("meaning", data, says=f"View: what a pronoun means. {chosen}", still=still)


def _rounded(weight: Tensor) -> list:
    scale = 10**DIGITS
    return ((weight.detach().double() * scale).round() / scale).tolist()
