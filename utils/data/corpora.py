"""Texts to learn from that other people collected."""

import csv
import hashlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from utils.data.files import DatasetError, fetch, own_file, read_lines


def tiny_shakespeare(part: str | None = None) -> str:
    """Load a million letters of Shakespeare's plays (Karpathy, 2015), fetched if need be.

    One part of it, or all (the default): of the speeches in their order, the first 90 % are
    "train", the next 5 % "validation", the last "test".

    Raises: DatasetError if the file cannot be had or is not the original (see `fetch`);
    ValueError if there is no such part.
    """
    text = fetch("tinyshakespeare.txt").read_text(encoding="ascii")
    first, second = (text.index("\n\n", share * len(text) // 100) + 2 for share in (90, 95))
    parts = {None: text, "train": text[:first], "validation": text[first:second]}
    parts["test"] = text[second:]
    if part not in parts:
        raise ValueError(f'No part is called {part!r}: say "train", "validation" or "test".')
    return parts[part]


class Pairs(NamedTuple):
    """Sentences and their translations, to learn from, to choose with, and to judge with once."""

    train: list[tuple[str, str]]
    validation: list[tuple[str, str]]
    test: list[tuple[str, str]]


TATOEBA = "tatoeba_eng_cmn.tsv"


def tatoeba(seed: int = 0) -> Pairs:
    """Load English sentences with Chinese translations, made by the volunteers of Tatoeba.

    The collection grows every week and its old states are not kept, so there is no address to pin
    and no checksum: the file is the reader's own, in BOOK_DATA or the cache, and what is measured
    on it hangs on its state. A line is an English sentence, a tab, its translation, and perhaps a
    tab and the authors, who are passed over.

    An English sentence is in one part only, with all its translations: 80 % of the sentences to
    train, 10 % to validate, 10 % to test. A translation that fits two sentences may be in two.

    Raises: DatasetError if the file is missing, or a line is no such pair.
    """
    path = own_file(
        TATOEBA,
        "get cmn-eng.zip from https://www.manythings.org/anki/ and save the cmn.txt in it under "
        f"the name {TATOEBA} in that folder (CC BY 2.0 FR)",
    )
    translations = read_pairs(path)
    sentences = list(translations)
    order = np.random.default_rng(seed).permutation(len(sentences))
    cuts = [8 * len(order) // 10, 9 * len(order) // 10]
    parts = [[sentences[i] for i in part] for part in np.split(order, cuts)]
    return Pairs(*([(s, t) for s in part for t in translations[s]] for part in parts))


def read_pairs(path: Path) -> dict[str, list[str]]:
    """Read lines of a sentence, a tab, its translation, and perhaps a tab and something else.

    Returns: the translations of each sentence, both in the order of the file.
    Raises: DatasetError if the file can't be read, ends within a line, or a line is no such pair.
    """
    translations: dict[str, list[str]] = {}
    for number, line in enumerate(read_lines(path), start=1):
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) not in (2, 3) or not all(columns):
            raise DatasetError(
                f"{path} has no pair of sentences in line {number}: put the original file in its "
                "place."
            )
        translations.setdefault(columns[0], []).append(columns[1])
    return translations


class News(NamedTuple):
    """An article of AG News (Zhang, Zhao and LeCun, 2015); label counts in TOPICS."""

    title: str
    description: str
    label: int


TOPICS = ("world", "sports", "business", "science and technology")
AG_NEWS = {  # the parts' MD5 sums, which torchtext pins
    "train": "b1a00f826fdfbd249f79597b59e1dc12",
    "test": "d52ea96a97a2d943681189a97654912d",
}


def ag_news(part: str) -> list[News]:
    """Load 120,000 short articles to "train", or 7,600 to "test", as many of each topic.

    The files are the reader's own, in BOOK_DATA or the cache. They may be used for research only,
    so the book doesn't fetch them.

    Raises: DatasetError if the file is missing or is not the original; ValueError if there is no
    such part.
    """
    if part not in AG_NEWS:
        raise ValueError(f'No part is called {part!r}: say "train" or "test".')
    name = f"ag_news_{part}.csv"
    path = own_file(
        name,
        f"get {part}.csv from the folder data/ag_news_csv of github.com/mhjabreel/CharCnn_Keras "
        f"and save it under the name {name} in that folder (for research only)",
    )
    lines = read_lines(path)
    found = hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()
    if found != AG_NEWS[part]:
        raise DatasetError(
            f"{path} is not the original (its MD5 sum is {found}, not {AG_NEWS[part]}): put the "
            "original file in its place."
        )
    return [News(title, text, int(label) - 1) for label, title, text in csv.reader(lines)]
