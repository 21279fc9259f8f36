"""Texts to learn from that other people collected."""

import errno
from pathlib import Path
from typing import NamedTuple

import numpy as np

from utils.data.files import DatasetError, cache_folder, fetch, own_folder


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
    places = [folder / TATOEBA for folder in (own_folder(), cache_folder()) if folder]
    path = next((place for place in places if place.exists()), None)
    if path is None:
        raise DatasetError(
            f"{places[0]} is missing: get cmn-eng.zip from https://www.manythings.org/anki/ and "
            f"save the cmn.txt in it under the name {TATOEBA} in that folder (CC BY 2.0 FR)."
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
    try:
        if not path.is_file():  # a pipe would never end
            raise OSError(errno.EINVAL, "no ordinary file")
        with path.open(encoding="utf-8-sig") as stream:  # some editors begin with a byte-order mark
            lines = stream.readlines()
    except OSError as error:
        fault = f"cannot be read ({error.strerror})"
    except UnicodeDecodeError:
        fault = "is not text in UTF-8"
    else:
        fault = None if lines else "is empty"
        for number, line in enumerate(lines, start=1):
            columns = [column.strip() for column in line.split("\t")]
            if not line.endswith("\n"):
                fault = f"is cut short in line {number}"
            elif len(columns) not in (2, 3) or not all(columns):
                fault = f"has no pair of sentences in line {number}"
            if fault:
                break
            translations.setdefault(columns[0], []).append(columns[1])
    if fault:
        raise DatasetError(f"{path} {fault}: put the original file in its place.")
    return translations
