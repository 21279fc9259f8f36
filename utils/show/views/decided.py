"""Day 8: which words decided, as several methods have it, and where it is known as it is."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from utils.show.views.frame import listed, paragraph, view


class Reading(NamedTuple):
    """What a model said of a text, and why.

    answer, probability: the model's answer and what it gives it. right: the right answer.
    scores: {method: a number for each word: above 0 if it speaks for the answer, else below}.
    decides: places, counted from 0, of the words that do decide; none if nobody knows.
    """

    words: Sequence[str]
    answer: str
    probability: float
    right: str
    scores: Mapping[str, Sequence[float]]
    decides: Sequence[int] = ()


def decided(readings: Sequence[Reading]) -> None:
    """Let the reader choose a text and a method, and see each word's share, for and against.

    A score is shown as a percentage of the largest of its text and method, without its sign.

    Raises: ValueError if there is no text, or methods, numbers and places do not fit the words, or
        a number is not finite or no probability.
    """
    if not readings or not readings[0].scores:
        raise ValueError("There is nothing to show: give a text and a method, at least one.")
    methods = list(readings[0].scores)
    texts = [_plain(reading, methods) for reading in readings]
    says = "\n".join(
        [
            f"View: which words decided; methods: {', '.join(methods)}.",
            *(" ".join(text["words"]) for text in texts),
        ]
    )
    still = paragraph(
        "Which words decided: an interactive picture, which needs JavaScript. In JupyterLab, run "
        f"the cell to open it. By the method that it shows first, {methods[0]}:"
    ) + listed([_in_short(text) for text in texts])
    data = {"methods": methods, "texts": texts}
    view("decided", data, says=says, still=still, parts=["words"])


def _plain(reading: Reading, methods: list[str]) -> dict:
    """One reading, its scores in per cent of the largest."""
    words, said = list(reading.words), " ".join(reading.words)
    if isinstance(reading.words, str) or not words:
        raise ValueError(f"A text is a list of words, at least one, got {reading.words!r}.")
    if list(reading.scores) != methods:
        raise ValueError(
            f"Each text needs scores of the methods {methods}, got {list(reading.scores)} for "
            f"{said!r}."
        )
    for method, scores in reading.scores.items():
        if len(scores) != len(words) or not all(map(math.isfinite, scores)):
            raise ValueError(
                f"{said!r} needs {len(words)} finite scores by {method}, one for each word."
            )
    if not 0 <= reading.probability <= 1:
        raise ValueError(
            f"A probability is between 0 and 1, got {reading.probability} for {said!r}."
        )
    if not all(place in range(len(words)) for place in reading.decides):
        raise ValueError(
            f"{said!r} has words 0 to {len(words) - 1}, and {list(reading.decides)} decide."
        )
    return {
        "words": words,
        "answer": reading.answer,
        "percent": round(100 * float(reading.probability)),
        "right": reading.right,
        "scores": [_shares(reading.scores[method]) for method in methods],
        "decides": sorted(reading.decides),
    }


def _shares(scores: Sequence[float]) -> list[int]:
    """Per cent of the largest, with their signs."""
    largest = max(map(abs, map(float, scores))) or 1.0
    return [round(100 * float(score) / largest) for score in scores]


def _in_short(text: dict) -> str:
    """The model's answer, and the word that speaks for it most."""
    words, shares = text["words"], text["scores"][0]
    most = words[max(range(len(words)), key=shares.__getitem__)]
    return (
        f"{' '.join(words)}: the model answers “{text['answer']}”, with {text['percent']}%, and "
        f"“{most}” speaks for it most."
    )
