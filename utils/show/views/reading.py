"""Day 2: the lesson's own reader, computed in the page: a word, its states, its gradient."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from utils.show.views.frame import paragraph, rounded, view

DIGITS = 4  # of each weight; answers differ from the model's own by less than a hundredth
LONGEST = 20  # letters of a word
UNKNOWN = "<unk>"  # the symbol that stands for letters which the network has never seen


def reading(
    network: Mapping[str, Tensor],
    letters: Sequence[str],
    answers: Sequence[str],
    *,
    word: str,
) -> None:
    """Let the reader type a word, step through it, and scale W_h to see the gradient's way back.

    network: `letters` (V, D), `W_x` (N, D), `W_h` (N, N), `b` (N,), `W_y` (n, N), `b_y` (n,).
    letters: the V symbols of its vocabulary, "<unk>" among them.
    answers: the n names that it chooses from.
    word: the one that it begins with.
    Raises: ValueError if a weight has another shape or is not finite, or the word has no letter,
        too many, or one that the network doesn't know.
    """
    (V, D), N, n = network["letters"].shape, len(network["W_h"]), len(network["W_y"])
    shapes = {"letters": (V, D), "W_x": (N, D), "W_h": (N, N), "b": (N,)}
    shapes |= {"W_y": (n, N), "b_y": (n,)}
    for name, shape in shapes.items():
        weight = network[name]
        if tuple(weight.shape) != shape or not torch.isfinite(weight).all():
            raise ValueError(
                f"{name!r} should hold finite numbers of shape {shape}, got {tuple(weight.shape)}."
            )
    if (len(letters), len(answers)) != (V, n) or UNKNOWN not in letters:
        raise ValueError(
            f"A network of {V} letters and {n} answers doesn't fit {len(letters)} letters and "
            f"{len(answers)} answers, or {UNKNOWN!r} is not among the letters."
        )
    if not 0 < len(word) <= LONGEST or set(word) - set(letters):
        raise ValueError(
            f"The first word has 1 to {LONGEST} letters, and the network knows them; got {word!r}."
        )
    data = {
        "network": {name: rounded(network[name], DIGITS) for name in shapes},
        "symbols": {symbol: number for number, symbol in enumerate(letters) if len(symbol) == 1},
        "unknown": list(letters).index(UNKNOWN),
        "answers": list(answers),
        "word": word,
        "longest": LONGEST,
    }
    asked = "Step through a word, and turn a weight"
    still = paragraph(
        f"{asked}: an interactive picture, which needs JavaScript. In JupyterLab, run the cell to "
        f"open it. It begins with: {word}"
    )
    view("reading", data, says=f"View: {asked}. {word}", still=still)
