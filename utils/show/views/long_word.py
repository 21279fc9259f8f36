"""Day 15: parity on a word of up to a thousand bits: three weights, an RNN and a Transformer."""

import re

from utils.show.views.frame import paragraph, view
from utils.show.views.models import Stored, check_shapes, encoder_block, hand_over, load, shapes

MOST = 1000  # bits of a word
READERS = "three weights", "RNN", "Transformer"


def long_word(model: str, *, word: str) -> None:
    """Let the reader write a word of bits; three readers say after each if the ones are odd so far.

    The first is a machine of three weights, which the reader can change; the others were trained.
    model: the name of a stored RNN and Transformer, as `experiments/parity_page.py` makes them.
        The file tells "heads" and "longest", the bits of the longest word in training.
    word: the one that it begins with, of 0 and 1.
    Raises: ModelError as `models.load` does; ValueError if the model has other weights, or the
        word is empty, too long, or has other symbols.
    """
    held = load(model)
    check(held)
    if not re.fullmatch(f"[01]{{1,{MOST}}}", word):
        raise ValueError(f"A word has 1 to {MOST:,} bits, each 0 or 1, got {word[:40]!r}.")
    hand_over(model)
    data = {
        "model": {"name": model, "sha256": held.header["sha256"]},
        "readers": READERS,
        "longest": held.header["longest"],
        "word": word,
        "most": MOST,
    }
    still = paragraph(
        "Write a word of up to a thousand bits. A machine of three weights, a trained RNN and a "
        "trained Transformer say after each whether the number of ones so far is odd: an "
        "interactive picture, which needs JavaScript. In JupyterLab, run the cell to open it. It "
        f"begins with: {word}"
    )
    says = f"View: three readers tell the parity of a word. {word}"
    view("long_word", data, says=says, still=still, parts=["runtime", "live", "bit_readers"])


def check(held: Stored) -> None:
    """Raise a ValueError if stored readers are not of the kinds that the page computes."""
    found, told = shapes(held), held.header
    N, D = found.get("RNN.layer.W_x", (0, 0))
    wanted = {"embedding.weight": (2, D), "layer.W_x": (N, D), "layer.W_h": (N, N)}
    wanted |= {"layer.b": (N,), "output.weight": (2, N), "output.bias": (2,)}
    wanted = {f"RNN.{name}": shape for name, shape in wanted.items()}
    W = found.get("Transformer.encoder.norm.bias", (0,))[0]
    F = found.get("Transformer.encoder.blocks.0.feed_forward.W_1.bias", (0,))[0]
    L = sum(name.endswith("self_attention.W_in") for name in found)
    own = {"encoder.embedding.symbols.weight": (2, W), "output.weight": (2, W), "output.bias": (2,)}
    own |= {f"encoder.norm.{name}": (W,) for name in ("weight", "bias")}
    for i in range(L):
        own |= {f"encoder.blocks.{i}.{name}": shape for name, shape in encoder_block(W, F).items()}
    wanted |= {f"Transformer.{name}": shape for name, shape in own.items()}
    heads, longest = told.get("heads", 0), told.get("longest", 0)
    fits = N > 0 and L > 0 and heads > 0 and W % heads == 0 and 0 < longest < MOST
    check_shapes(held, wanted, fits, "experiments/parity_page.py", "heads or longest")
