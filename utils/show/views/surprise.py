"""Day 9: how much each token of a text surprises a model, and what it expected instead."""

import math
from collections.abc import Mapping, Sequence

from utils.show.views.frame import listed, paragraph, view

EXPECTED = 3  # tokens that are named instead
Token = tuple[str, float | None, Sequence[tuple[str, float]]]


def surprise(texts: Mapping[str, Sequence[Token]]) -> None:
    """Let the reader point at a text's tokens: the less one was expected, the more colour it has.

    texts: {title: the tokens of a text, each (text, bits, expected)}: bits is -log2 of the
        probability that the model gave it, expected the three tokens that it held most likely,
        (text, probability), the likeliest first. A token that was given and not predicted, such as
        the first of a text, has None for its bits and nothing expected; it is not counted.
    Raises: ValueError if there is no text or nothing was predicted in one, bits are negative or not
        finite, or what was expected are no three tokens with probabilities.
    """
    if not texts:
        raise ValueError("There is no text to show the surprise over: give at least one.")
    shown = [
        {"title": title, "tokens": [_plain(title, *token) for token in text]}
        for title, text in texts.items()
    ]
    for text in shown:
        if not any(token["text"] for token in _counted(text)):
            raise ValueError(
                f"In {text['title']!r} no token was predicted: nothing can be counted."
            )
    still = paragraph(
        "How much each token of a text surprises the model: an interactive picture, which needs "
        "JavaScript. In JupyterLab, run the cell to open it. In all:"
    ) + listed([f"{text['title']}: {_bits_per_byte(text):.2f} bits per byte." for text in shown])
    says = "\n".join(["View: how much each token surprises the model.", *texts])
    view("surprise", {"texts": shown}, says=says, still=still)


def _plain(
    title: str, text: str, bits: float | None, expected: Sequence[tuple[str, float]]
) -> dict:
    """One token, its bits and the probabilities of the others rounded."""
    if bits is None:
        return {"text": text}
    if not (math.isfinite(bits) and bits >= 0):
        raise ValueError(f"{text!r} in {title!r} has {bits} bits: a finite number, at least 0.")
    if len(expected) != EXPECTED or not all(0 <= share <= 1 for _, share in expected):
        raise ValueError(
            f"{text!r} in {title!r} needs the {EXPECTED} tokens that were expected most, each with "
            "its probability."
        )
    shares = [[other, round(float(share), 4)] for other, share in expected]
    return {"text": text, "bits": round(float(bits), 3), "expected": shares}


def _counted(text: dict) -> list[dict]:
    return [token for token in text["tokens"] if "bits" in token]


def _bits_per_byte(text: dict) -> float:
    counted = _counted(text)
    return sum(t["bits"] for t in counted) / sum(len(t["text"].encode()) for t in counted)
