"""SST-2: phrases from film reviews, good or bad (Socher et al., 2013; Wang et al., 2019).

A phrase is a branch of a sentence's parse tree, so most phrases lie word for word inside longer
ones. Dealt out at random, most of the test was therefore read in training: `random_split`
leaks, `grouped_split` keeps what lies inside each other together, and `sentences` are new.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from utils.data.files import DatasetError, own_file, read_lines

PHRASES, SENTENCES = 67_349, 872  # as GLUE counts them
FROM_GLUE = (
    "get SST-2.zip from https://dl.fbaipublicfiles.com/glue/data/SST-2.zip and save its train.tsv "
    "as sst2_train.tsv and its dev.tsv as sst2_official_dev.tsv in that folder"
)


class Phrase(NamedTuple):
    """Words, and whether they praise (1) or not (0)."""

    words: tuple[str, ...]
    label: int


class SST2(NamedTuple):
    """The phrases, in the order of their words, and the sentences that GLUE judges with."""

    phrases: list[Phrase]
    sentences: list[Phrase]


class Parts(NamedTuple):
    """Phrases to learn from, to choose with, and to judge with once."""

    train: list[Phrase]
    validation: list[Phrase]
    test: list[Phrase]


def sst2() -> SST2:
    """Load the phrases and sentences from the reader's own files, in BOOK_DATA or the cache.

    The phrases may be in two files, sst2_train.tsv and sst2_dev.tsv. How they are dealt out there
    makes no difference: that split leaks, and nobody should report a number on it.

    Raises: DatasetError if a file is missing, or a line is no phrase with its label, or there
    are more or fewer than there should be.
    """
    path = own_file("sst2_train.tsv", FROM_GLUE)
    phrases = _read(path)
    beside = path.with_name("sst2_dev.tsv")
    if beside.exists():
        phrases += _read(beside)
    _check_number(path, phrases, PHRASES)
    path = own_file("sst2_official_dev.tsv", FROM_GLUE)
    sentences = _read(path)
    _check_number(path, sentences, SENTENCES)
    return SST2(sorted(phrases), sentences)


def _read(path: Path) -> list[Phrase]:
    """Read lines of a phrase, a tab, and 0 or 1, under a line of names."""
    phrases = []
    for number, line in enumerate(read_lines(path), start=1):
        words, _, label = line.partition("\t")
        if number == 1 and line == "sentence\tlabel":
            continue
        if number == 1 or not words.split() or label not in ("0", "1"):
            what = "phrase with its label" if number > 1 else "header of sentence and label"
            raise DatasetError(
                f"{path} has no {what} in line {number}: put the original file in its place."
            )
        phrases.append(Phrase(tuple(words.split()), int(label)))
    return phrases


def _check_number(path: Path, phrases: list[Phrase], expected: int) -> None:
    if len(phrases) != expected:
        raise DatasetError(
            f"{path} is not the original ({len(phrases):,} phrases, not {expected:,}): {FROM_GLUE}."
        )


def random_split(phrases: Sequence[Phrase], seed: int = 0) -> Parts:
    """Deal phrases out at random: 80 % to train, 10 % to validate, 10 % to test. This leaks."""
    return _deal(phrases, range(len(phrases)), seed)


def grouped_split(phrases: Sequence[Phrase], seed: int = 0) -> Parts:
    """Deal whole groups out at random, about 80, 10 and 10 % of the phrases: see `groups`."""
    return _deal(phrases, groups([phrase.words for phrase in phrases]), seed)


def _deal(phrases: Sequence[Phrase], group_of: Sequence[int], seed: int) -> Parts:
    """Deal groups out in random order, each to the part that is not full."""
    order = np.random.default_rng(seed).permutation(max(group_of) + 1)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    sizes = np.bincount(rank[list(group_of)], minlength=len(order)).cumsum()  # after each rank
    cuts = np.searchsorted(sizes, [0.8 * len(phrases), 0.9 * len(phrases)], side="right")
    parts = Parts([], [], [])
    for phrase, group in zip(phrases, group_of, strict=True):
        parts[int(np.searchsorted(cuts, rank[group], side="right"))].append(phrase)
    return parts


def groups(phrases: Sequence[tuple[str, ...]]) -> list[int]:
    """Number the groups of phrases: each is with the longest phrase that contains it.

    Of several that are as long, it is with the one that comes first in the alphabet. A short
    phrase can lie inside several long ones, and is with one of them only.

    Returns: the group of each phrase; groups are counted from 0, the longest phrase's first.
    """
    group_of: dict[tuple[str, ...], int] = {}
    n_groups = 0
    for words in sorted(set(phrases), key=lambda words: (-len(words), words)):
        if words not in group_of:
            for start in range(len(words)):
                for end in range(start + 1, len(words) + 1):
                    group_of.setdefault(words[start:end], n_groups)
            n_groups += 1
    return [group_of[words] for words in phrases]
