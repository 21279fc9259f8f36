"""Day 10: an encoder fills the gaps of a sentence."""

import re
from collections.abc import Sequence

import torch
from torch import Tensor

from utils.arguments import check_sizes
from utils.data.libraries import masked
from utils.data.text import EOS
from utils.pretraining import MASK, MaskedLanguageModel
from utils.tasks.pretraining import HIDDEN, vocabulary

GAP = re.compile(r"(?<!\w)_+(?!\w)")
STAND_IN = "gaptobefilled"  # a word like any other to `masked`

# Guesses ------------------------------------------------------------------------------------------


def fill(model: MaskedLanguageModel, sentence: str, n: int = 5) -> list[list[tuple[str, float]]]:
    """Guess the word of each gap, "___", of a sentence: the n likeliest with their probabilities.

    Raises: ValueError if n is below 1, or there is no gap in a sentence of plain words.
    """
    check_sizes(n=n)
    words = with_gaps(sentence)
    if HIDDEN not in words:
        raise ValueError(f"Leave a gap, ___, in a sentence without formulas, got {sentence!r}.")
    return [_best(chances, n) for chances in chances_of(model, words)]


def guesses(
    model: MaskedLanguageModel, words: Sequence[str], n: int = 5
) -> list[tuple[list[tuple[str, float]], float | None]]:
    """Hide each word of a sentence in turn: the n likeliest, and how likely the hidden one is.

    Returns: (guesses, probability) for each word; it is None for a word that has no number.
    Raises: ValueError if n is below 1.
    """
    check_sizes(n=n)
    found = []
    for place, number in enumerate(vocabulary().encode(words)):
        (chances,) = chances_of(model, [*words[:place], HIDDEN, *words[place + 1 :]])
        right = chances[number - MASK - 1].item() if number > MASK else None
        found.append((_best(chances, n), right))
    return found


def with_gaps(sentence: str) -> list[str]:
    """The words of a sentence as `masked` has them, HIDDEN where a gap is."""
    words = masked(GAP.sub(f" {STAND_IN} ", sentence))
    return [HIDDEN if word == STAND_IN else word for word in words]


@torch.no_grad()
def chances_of(model: MaskedLanguageModel, words: Sequence[str]) -> Tensor:
    """How likely each word with a number of its own is where one is HIDDEN: (gaps, words)."""
    ids = torch.tensor([[*vocabulary().encode(words), EOS]])
    logits = model.head(model.read(ids)[ids == MASK])
    return logits[:, MASK + 1 :].softmax(dim=-1)


def _best(chances: Tensor, n: int) -> list[tuple[str, float]]:
    best = chances.topk(min(n, len(chances)))
    words = (vocabulary().symbols[MASK + 1 + place] for place in best.indices.tolist())
    return list(zip(words, best.values.tolist(), strict=True))
