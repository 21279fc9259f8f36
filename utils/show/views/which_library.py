"""Day 8: type a sentence, and a bag of words says which library it is from, and why."""

from collections.abc import Collection, Sequence

import numpy as np

from utils.show.views.frame import paragraph, view

SCALE = (
    200  # numbers are whole 200ths; chances differ from the model's own by less than a hundredth
)


def which_library(
    words: Sequence[str],
    idf: np.ndarray,
    weights: np.ndarray,
    bias: np.ndarray,
    *,
    libraries: Sequence[str],
    names: Collection[str],
    sentence: str,
) -> None:
    """Let the reader type a sentence; TF-IDF and a logistic regression are computed in the page.

    words: the V words of the vocabulary. Shapes: idf (V,), weights (V, n), bias (n,).
    libraries: the n names that it chooses from. names: words that are masked, as
        `utils.data.libraries` has it. sentence: the one that it begins with.
    Raises: ValueError if a shape is another or a number is not finite.
    """
    V, n = len(words), len(libraries)
    for name, numbers, shape in (
        ("idf", idf, (V,)),
        ("weights", weights, (V, n)),
        ("bias", bias, (n,)),
    ):
        if np.shape(numbers) != shape or not np.isfinite(numbers).all():
            raise ValueError(
                f"{name!r} should hold finite numbers of shape {shape}, got {np.shape(numbers)}."
            )
    centred = weights - weights.mean(axis=1, keepdims=True)  # which no softmax notices
    data = {
        "libraries": list(libraries),
        "names": sorted(names),
        "words": list(words),
        "scale": SCALE,
        "idf": _whole(idf),
        "weights": _whole(centred),
        "bias": _whole(bias),
        "sentence": sentence,
    }
    still = paragraph(
        "Which library your sentence is from: an interactive picture, which needs JavaScript. In "
        f"JupyterLab, run the cell to open it. It begins with: {sentence}"
    )
    says = f"View: which library your sentence is from. {sentence}"
    view("which_library", data, says=says, still=still, parts=["words", "sentence"])


def _whole(numbers: np.ndarray) -> list:
    return np.rint(SCALE * np.asarray(numbers)).astype(int).tolist()
