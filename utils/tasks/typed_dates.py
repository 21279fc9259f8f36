"""Dates as visitors of a page type them: of two centuries, carelessly, under any country's name.

Shapes: sources are ids, each ended by EOS; targets are ids without it.
"""

import re
import unicodedata
from collections.abc import Sequence

import numpy as np
import torch

from utils.data.dates import FORMATS, LOCALES, UNSEEN_FORMATS, YEARS, Example, days, examples
from utils.data.text import EOS, UNK, Vocabulary
from utils.seq2seq import Seq2Seq, Seq2SeqConfig

CENTURIES = range(1900, 2100)
WORDED = ("medium", "long", "full", "yMMMEd", "GyMMMd")  # where the month may be a word


def drawn(n_train: int, n_held_out: int, seed: int) -> tuple[list[Example], list[Example]]:
    """Dates in all formats to learn from, and others to judge by: no day is in both parts.

    A year of two digits is one of `YEARS`, the others are of `CENTURIES`.
    """
    every = days(CENTURIES)
    order = np.random.default_rng(seed).permutation(len(every))
    held_out, train = np.split(order, [len(every) // 10])
    return _texts(n_train, [seed, 0], [every[i] for i in train]), _texts(
        n_held_out, [seed, 1], [every[i] for i in held_out]
    )


def _texts(n: int, seed: Sequence[int], of: Sequence) -> list[Example]:
    """n dates whose texts tell the century, or needn't."""
    found: list[Example] = []
    while len(found) < n:
        more = examples(n, [*seed, len(found)], of, formats=FORMATS + UNSEEN_FORMATS)
        found += [e for e in more if str(e.date.year) in e.text or e.date.year in YEARS]
    return found[:n]


def careless(text: str, chance: np.random.Generator) -> str:
    """A date in small letters, without full stops and commas, or without accents; or as it was."""
    if chance.random() < 1 / 3:
        text = text.lower()
    if chance.random() < 1 / 3:
        text = re.sub(r"(?<=[^\d\s])[.,]|[.,](?=\s|$)", "", text)
    if chance.random() < 1 / 4:
        plain = unicodedata.normalize("NFD", text)
        text = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return unicodedata.normalize("NFC", text)


def brief(text: str, year: int, chance: np.random.Generator) -> str:
    """A date of numbers alone with two digits of the year, fewer zeros, or other strokes."""
    if re.search(r"[^\W\d_]", text):
        return text
    if str(year) in text and chance.random() < 1 / 2:
        text = re.sub(r"(?<!\d)0(?=\d(?!\d))", "", text)
    if year in YEARS and chance.random() < 1 / 2:
        text = text.replace(str(year), f"{year % 100:02d}")
    if chance.random() < 1 / 4:
        text = re.sub(r"[./-](?=\d)", "./-"[chance.integers(3)], text)
    return text


def typed(example: Example, chance: np.random.Generator) -> list[str]:
    """The symbols of a date as somebody types it.

    Where the month is a word, one in eight stands under the name of another country.
    """
    locale = example.locale
    worded = example.format in WORDED and re.search(r"[^\W\d_]{3}", example.text)
    if worded and chance.random() < 1 / 8:
        locale = LOCALES[chance.integers(len(LOCALES))]
    text = brief(example.text, example.date.year, chance)
    return [f"<{locale}>", *careless(text, chance)]


def in_ids(
    symbols: Sequence[str], known: Vocabulary, chance: np.random.Generator | None = None
) -> list[int]:
    """The ids of a text, ended by EOS; by chance, in one of twenty, a letter is not known."""
    ids = known.encode(symbols)
    if chance is not None and chance.random() < 1 / 20:
        letters = [at for at in range(1, len(symbols)) if not symbols[at].isdigit()]
        if letters:
            ids[letters[chance.integers(len(letters))]] = UNK
    return [*ids, EOS]


def reader(n_source: int, n_target: int, seed: int, hidden_size: int = 96) -> Seq2Seq:
    """A network with new weights: Day 4's, with the additive score, in Luong's style."""
    torch.manual_seed(seed)
    return Seq2Seq(
        Seq2SeqConfig(n_source, n_target, 48, hidden_size, attention="additive", style="Luong")
    )
