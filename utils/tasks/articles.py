"""Day 10: does a model that has only seen numbers of words know which of them begin with a vowel?

After *an* a word begins with a vowel, after *a* it doesn't, but for a few. Shapes: logits (n, V).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from utils.data.libraries import sentences
from utils.data.text import EOS, pad
from utils.pretraining import MASK, MaskedLanguageModel
from utils.tasks.pretraining import vocabulary

VOWELS = frozenset("aeiou")
BATCH = 64  # gaps that are filled at once


def gaps_after(article: str, read: str | None = None) -> list[list[int]]:
    """Hide the word after an article, wherever validation sentences have it: ids, with EOS.

    read: the word that the model finds in the article's place; if None, the article itself.
    """
    words, found = vocabulary(), []
    (shown,) = words.encode([read or article], strict=True)
    for sentence in sentences().validation:
        ids = words.encode(sentence.words)
        for place, word in enumerate(sentence.words[:-1]):
            if word == article:
                found.append([*ids[:place], shown, MASK, *ids[place + 2 :], EOS])
    return found


@torch.no_grad()
def logits_at(model: MaskedLanguageModel, gaps: Sequence[list[int]]) -> Tensor:
    """What a model finds likely in each gap, (n, V); it is in evaluation mode."""
    found = []
    for first in range(0, len(gaps), BATCH):
        ids, lengths = pad(gaps[first : first + BATCH])
        after = (ids == MASK).int().argmax(dim=1)  # an unknown word may not be hidden twice
        x = model.read(ids, lengths)[torch.arange(len(ids)), after]
        found.append(model.head(x))
    return torch.cat(found)


def share_of_vowels(logits: Tensor, words: Sequence[str]) -> float:
    """In how many gaps the likeliest word, of those that are made of letters, begins with a vowel.

    words: all V symbols; <name>, <mask> and their like are no words.
    """
    spelt = torch.tensor([word.isalpha() for word in words])
    first = logits.masked_fill(~spelt, -torch.inf).argmax(dim=1).tolist()
    return sum(words[place][0] in VOWELS for place in first) / len(first)


def after_articles(model: MaskedLanguageModel) -> dict[str, float]:
    """The share of vowels after *an* and after *a*, and once each has become the other."""
    words = vocabulary().symbols
    asked = {"an": ("an", None), "an to a": ("an", "a"), "a": ("a", None), "a to an": ("a", "an")}
    return {
        name: share_of_vowels(logits_at(model, gaps_after(*which)), words)
        for name, which in asked.items()
    }
