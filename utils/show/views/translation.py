"""Day 6: put an English sentence together, and see what the lesson's Transformer made of it."""

from collections.abc import Sequence
from math import prod

from utils.show.views.frame import paragraph, view


def translation(
    menus: Sequence[tuple[str, Sequence[str]]],
    sentences: Sequence[tuple[str, str]],
    written: Sequence[str],
    learned: Sequence[bool],
) -> None:
    """Let the reader choose from menus; the translations were made beforehand.

    menus: (label, options). sentences: (English, right translation) of each choice, in the order of
        `itertools.product`. written: what the model wrote, words with spaces between them.
    learned: whether a sentence was among those of training.
    Raises: ValueError if there are not as many sentences as choices, translations and answers.
    """
    counts = prod(len(options) for _, options in menus), len(sentences), len(written), len(learned)
    if len(set(counts)) > 1 or not counts[0]:
        raise ValueError(
            "Each choice of the menus needs its sentence, what was written, and whether it was "
            f"learned, got {', '.join(map(str, counts))} of them."
        )
    data = {
        "menus": [{"label": label, "options": list(options)} for label, options in menus],
        "sentences": [
            {"english": english, "right": right, "written": text, "learned": bool(known)}
            for (english, right), text, known in zip(sentences, written, learned, strict=True)
        ],
    }
    english = sentences[0][0]
    still = paragraph(
        "Put a sentence together: an interactive picture, which needs JavaScript. In JupyterLab, "
        f"run the cell to open it. It begins with: {english}"
    )
    view("translation", data, says=f"View: a sentence and its translation. {english}", still=still)
