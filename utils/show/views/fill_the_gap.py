"""Day 10: leave a gap in a sentence, and a whole encoder, computed in the page, fills it."""

from base64 import b64encode
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from utils.show.views.frame import paragraph, view

LONGEST = 300  # characters of a sentence
PARTS = ("words", "sentence", "guesses", "encoder")
SPECIAL = ("<pad>", "<bos>", "<eos>", "<unk>", "<mask>")  # words begin behind them
TABLE = "encoder.embedding.symbols.weight"


def fill_the_gap(
    weights: Mapping[str, tuple[np.ndarray, np.ndarray]],
    words: Sequence[str],
    *,
    n_heads: int,
    names: Collection[str],
    sentence: str,
) -> None:
    """Let the reader leave gaps, "___", in a sentence; see the ten likeliest words for each.

    weights: {name: (int8 of (rows, columns), a scale for each row)}, as
        `utils.tasks.filling.in_int8` makes them of a `MaskedLanguageModel`.
    words: the V symbols of its vocabulary, the five special ones first.
    names: words that are masked, as `utils.data.libraries` has it.
    sentence: the one that it begins with.
    Raises: ValueError if a weight is missing or has another shape, a scale is not finite, the words
        are others, or the heads do not divide the width into pairs.
    """
    shapes = _shapes(weights)
    for name, shape in shapes.items():
        whole, scale = weights[name]
        fits = whole.dtype == np.int8 and (*whole.shape, *scale.shape) == (*shape, shape[0])
        if not fits or not np.isfinite(scale).all():
            raise ValueError(
                f"{name!r} should be int8 of shape {shape} with a finite scale for each row, got "
                f"{whole.dtype} of shape {whole.shape} with {scale.size} scales."
            )
    V, D = shapes[TABLE]
    if len(words) != V or tuple(words[: len(SPECIAL)]) != SPECIAL:
        raise ValueError(
            f"The table has {V} rows, for {', '.join(SPECIAL)} and the words, in this order; got "
            f"{len(words)} words that begin with {', '.join(words[:5])}."
        )
    if n_heads < 1 or D % (2 * n_heads):
        raise ValueError(f"{n_heads} heads do not divide a width of {D} into pairs.")
    if len(sentence) > LONGEST:
        raise ValueError(f"A sentence has up to {LONGEST} characters, got {len(sentence)}.")
    data = {
        "shapes": [[name, *shape] for name, shape in shapes.items()],
        "numbers": _in_base64([weights[name][0] for name in shapes], "i1"),
        "scales": _in_base64([weights[name][1] for name in shapes], "<f4"),
        "heads": n_heads,
        "words": list(words),
        "names": sorted(names),
        "sentence": sentence,
        "longest": LONGEST,
    }
    still = paragraph(
        "It fills the gap that you leave: an interactive picture, which needs JavaScript. In "
        f"JupyterLab, run the cell to open it. It begins with: {sentence}"
    )
    says = f"View: it fills the gap that you leave. {sentence}"
    view("fill_the_gap", data, says=says, still=still, parts=PARTS)


def _shapes(weights: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> dict[str, tuple[int, int]]:
    """The rows and columns of each weight, as those of the table and of a first layer have them."""
    W_1 = "encoder.blocks.0.feed_forward.W_1.weight"
    found = {name: whole.shape for name, (whole, _) in weights.items()}
    V, D = found.get(TABLE, (0, 0))
    F = found.get(W_1, (0, 0))[0]
    norm = {"weight": (1, D), "bias": (1, D)}
    block = {
        "self_attention.W_in": (3 * D, D),
        "self_attention.b_in": (1, 3 * D),
        "self_attention.W_o.weight": (D, D),
        "self_attention.W_o.bias": (1, D),
        "feed_forward.W_1.weight": (F, D),
        "feed_forward.W_1.bias": (1, F),
        "feed_forward.W_2.weight": (D, F),
        "feed_forward.W_2.bias": (1, D),
        **{f"residuals.{i}.norm.{part}": shape for i in (0, 1) for part, shape in norm.items()},
    }
    L = sum(name.endswith("self_attention.W_in") for name in found)
    shapes = {TABLE: (V, D)}
    shapes |= {f"encoder.blocks.{i}.{name}": block[name] for i in range(L) for name in block}
    shapes |= {f"encoder.norm.{part}": shape for part, shape in norm.items()}
    shapes |= {"head.transform.weight": (D, D), "head.transform.bias": (1, D)}
    shapes |= {f"head.norm.{part}": shape for part, shape in norm.items()} | {"head.bias": (1, V)}
    if others := sorted(shapes.keys() ^ found.keys()):
        raise ValueError(
            f"The page computes blocks of attention and a feed-forward layer and a head; missing "
            f"or too much: {', '.join(others[:3])}."
        )
    return shapes


def _in_base64(rows: Sequence[np.ndarray], dtype: str) -> str:
    flat = np.concatenate([numbers.ravel() for numbers in rows]).astype(dtype)
    return b64encode(flat.tobytes()).decode()
