"""Day 11: hide a word of a sentence, and see what a teacher and its students guess."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from utils.show.views.frame import listed, paragraph, view

DIGITS = 4  # of each probability
Guesses = tuple[Sequence[tuple[str, float]], float | None]


class Guesser(NamedTuple):
    """A model, and what it guesses when each word is hidden.

    parameters: how many numbers it has learned, or another measure of its size.
    quality: a share, such as of correct answers.
    guesses: for each sentence and each of its words (the likeliest words with their probabilities,
        how likely the hidden one is), as `utils.tasks.filling.guesses` finds them; None for a word
        that the model doesn't know.
    """

    name: str
    parameters: int
    quality: float
    guesses: Sequence[Sequence[Guesses]]


def hidden_words(
    sentences: Sequence[Sequence[str]],
    models: Sequence[Guesser],
    *,
    measure: str,
    amount: str = "parameters",
) -> None:
    """Let the reader hide a word and choose a model, from the teacher to the smallest student.

    models: the largest first; the slider begins with it, at its right end.
    measure: what the quality is a share of, such as "correct with 100 labels".
    amount: what is counted as a model's size.
    Raises: ValueError if there is no sentence or fewer than two models, two have one name, a
        sentence is no list of words, a share is not between 0 and 1, or a word has no guess.
    """
    names = [model.name for model in models]
    if not sentences or len(models) < 2:
        raise ValueError("Give a sentence and two models, at least.")
    if len(set(names)) < len(names):
        raise ValueError(f"Each model needs a name of its own, got {', '.join(names)}.")
    for words in sentences:
        if isinstance(words, str) or not words:
            raise ValueError(f"A sentence is a list of words, at least one, got {words!r}.")
    data = {
        "sentences": [list(words) for words in sentences],
        "models": [_plain(model, sentences) for model in models],
        "measure": measure,
        "amount": amount,
    }
    texts = [" ".join(words) for words in sentences]
    still = paragraph(
        "Hide a word, and see what models of several sizes guess: an interactive picture, which "
        "needs JavaScript. In JupyterLab, run the cell to open it."
    ) + listed([f"{model.name}: {_in_short(sentences[0], model)}" for model in models])
    says = "\n".join([f"View: hide a word; models: {', '.join(names)}.", *texts])
    view("hidden_words", data, says=says, still=still, parts=["words", "guesses"])


def _plain(model: Guesser, sentences: Sequence[Sequence[str]]) -> dict:
    """A model's guesses, rounded."""
    if not isinstance(model.parameters, int) or model.parameters < 1:
        raise ValueError(f"{model.name} has {model.parameters} parameters: a number from 1 on.")
    _check_share(model.name, model.quality)
    if [len(of) for of in model.guesses] != [len(words) for words in sentences]:
        raise ValueError(f"{model.name} needs guesses for each word of each sentence.")
    return {
        "name": model.name,
        "parameters": model.parameters,
        "quality": round(model.quality, DIGITS),
        "guesses": [[_rounded(model.name, *of) for of in guesses] for guesses in model.guesses],
    }


def _rounded(name: str, best: Sequence[tuple[str, float]], right: float | None) -> dict:
    if not best:
        raise ValueError(f"{name} needs guesses for each word of each sentence, at least one.")
    for share in (*(share for _, share in best), *(() if right is None else (right,))):
        _check_share(name, share)
    least = 10**-DIGITS  # a page says of 0 that it is 0
    return {
        "best": [[word, max(round(share, DIGITS), least)] for word, share in best],
        "right": None if right is None else max(round(right, DIGITS), least),
    }


def _check_share(name: str, share: float) -> None:
    if not (math.isfinite(share) and 0 <= share <= 1):
        raise ValueError(f"{name} has a share of {share}: it should be between 0 and 1.")


def _in_short(words: Sequence[str], model: Guesser) -> str:
    """What a model guesses for the word in the middle."""
    middle = len(words) // 2
    [(word, share), *_], _ = model.guesses[0][middle]
    gap = " ".join([*words[:middle], "___", *words[middle + 1 :]])
    return f"{gap}: “{word}”, {100 * share:.0f}%."
