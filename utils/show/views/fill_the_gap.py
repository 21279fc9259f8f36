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
    weights: Mapping[str, tuple[np.ndarray, ...]],
    words: Sequence[str],
    *,
    n_heads: int,
    names: Collection[str],
    sentence: str,
) -> None:
    """Let the reader leave gaps, "___", in a sentence; see the ten likeliest words for each.

    weights: {name: (int8 of (n, d_in), a scale for each row, (n, 1))}, of a vector {name: (its
        numbers,)}, as `utils.tasks.filling.in_int8` makes them of a `MaskedLanguageModel`.
    words: the V symbols of its vocabulary, the five special ones first.
    names: words that are masked, as `utils.data.libraries` has it.
    sentence: the one that it begins with.
    Raises: ValueError if a weight is missing or has another shape or is not finite, the words
        are others, or the heads do not divide the width into pairs.
    """
    shapes = _shapes(weights)
    for name, shape in shapes.items():
        is_matrix = len(shape) == 2
        parts = weights[name]
        fits = [part.shape for part in parts] == [shape, (shape[0], 1)][: 1 + is_matrix]
        if not fits or (parts[0].dtype == np.int8) != is_matrix or not np.isfinite(parts[-1]).all():
            kind = "int8, with a finite scale for each row" if is_matrix else "finite numbers"
            raise ValueError(f"{name!r} should be {kind}, of shape {shape}: see `in_int8`.")
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
    matrices = [name for name, shape in shapes.items() if len(shape) == 2]
    vectors = [name for name, shape in shapes.items() if len(shape) == 1]
    data = {
        "matrices": [[name, *shapes[name]] for name in matrices],
        "vectors": [[name, *shapes[name]] for name in vectors],
        "numbers": _in_base64([weights[name][0] for name in matrices], "i1"),
        "reals": _in_base64([weights[name][-1] for name in (*matrices, *vectors)], "<f4"),
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


def _shapes(weights: Mapping[str, tuple[np.ndarray, ...]]) -> dict[str, tuple[int, ...]]:
    """The shape of each weight, as those of the table and of a first layer have them."""
    W_1 = "encoder.blocks.0.feed_forward.W_1.weight"
    V, D = (weights[TABLE][0].shape[axis] if TABLE in weights else 0 for axis in (0, -1))
    F = len(weights[W_1][0]) if W_1 in weights else 0
    norm = {"weight": (D,), "bias": (D,)}
    block = {
        "self_attention.W_in": (3 * D, D),
        "self_attention.b_in": (3 * D,),
        "self_attention.W_o.weight": (D, D),
        "self_attention.W_o.bias": (D,),
        "feed_forward.W_1.weight": (F, D),
        "feed_forward.W_1.bias": (F,),
        "feed_forward.W_2.weight": (D, F),
        "feed_forward.W_2.bias": (D,),
        **{f"residuals.{i}.norm.{part}": shape for i in (0, 1) for part, shape in norm.items()},
    }
    L = sum(name.endswith("self_attention.W_in") for name in weights)
    shapes = {TABLE: (V, D)}
    shapes |= {f"encoder.blocks.{i}.{name}": block[name] for i in range(L) for name in block}
    shapes |= {f"encoder.norm.{part}": shape for part, shape in norm.items()}
    shapes |= {"head.transform.weight": (D, D), "head.transform.bias": (D,)}
    shapes |= {f"head.norm.{part}": shape for part, shape in norm.items()} | {"head.bias": (V,)}
    if others := sorted(shapes.keys() ^ weights.keys()):
        raise ValueError(
            f"The page computes blocks of attention and a feed-forward layer and a head; missing "
            f"or too much: {', '.join(others[:3])}."
        )
    return shapes


def _in_base64(rows: Sequence[np.ndarray], dtype: str) -> str:
    flat = np.concatenate([numbers.ravel() for numbers in rows]).astype(dtype)
    return b64encode(flat.tobytes()).decode()
