"""Byte-pair encoding learned in plain loops: count all pairs of neighbours, merge the winner."""

from collections import Counter
from collections.abc import Sequence, Sized
from itertools import pairwise
from numbers import Integral

from utils.tokens.splitting import check_text, pre_tokens

Pair = tuple[int, int]


def byte_words(text: str) -> tuple[list[list[int]], list[int]]:
    """Cut a text into its distinct pre-tokens, each a list of bytes, and count how often each is.

    Raises: ValueError if there is no text.
    """
    check_text(text)
    if not text:
        raise ValueError("The text is empty: there is nothing to learn merges from.")
    found = Counter(pre_tokens(text))
    return [list(word.encode()) for word in found], list(found.values())


def replace_pair(word: Sequence[int], pair: Pair, new: int) -> list[int]:
    """Write `new` wherever a pair stands in a word, from left to right: aaa becomes Xa."""
    replaced: list[int] = []
    for token in word:
        if replaced and (replaced[-1], token) == pair:
            replaced[-1] = new
        else:
            replaced.append(token)
    return replaced


def merge_step(
    words: Sequence[Sequence[int]], counts: Sequence[int], new: int
) -> tuple[Pair, list[list[int]]]:
    """Merge the most frequent pair of neighbours into a new token (Sennrich et al., 2016, alg. 1).

    words, counts: distinct words, and how often each is in the text. A pair is counted at each
    place where it stands, so aaa has two, and never across two words. Of equally frequent pairs
    the lowest wins: (1, 9) is below (2, 3).
    Returns: the pair, and the words with `new` in its place.
    Raises: ValueError if no word has two tokens.
    """
    pairs: Counter[Pair] = Counter()
    for word, count in zip(words, counts, strict=True):
        for pair in pairwise(word):
            pairs[pair] += count
    check_pair_left(pairs)
    best = min(pairs, key=lambda pair: (-pairs[pair], pair))
    return best, [replace_pair(word, best, new) for word in words]


def learn_merges(text: str, n_merges: int) -> list[Pair]:
    """Learn merges of neighbouring bytes: the i-th makes token 256 + i of an earlier pair.

    Each costs a walk through all distinct words: right for 100 kB; `learn_merges_indexed` gives
    the same for more.
    Raises: ValueError if there is no text, or it has fewer merges than that.
    """
    check_merges(n_merges)
    words, counts = byte_words(text)
    merges = []
    for new in range(256, 256 + n_merges):
        pair, words = merge_step(words, counts, new)
        merges.append(pair)
    return merges


def check_merges(n_merges: int) -> None:
    """Raise a ValueError if this is no number of merges."""
    if not isinstance(n_merges, Integral) or n_merges < 0:
        raise ValueError(f"n_merges is a whole number of at least 0, got {n_merges!r}.")


def check_pair_left(pairs: Sized) -> None:
    """Raise a ValueError if no pair of neighbours is left to be merged."""
    if not pairs:
        raise ValueError(
            "Every word is one token by now, and no pair is left: learn fewer merges, or from "
            "more text."
        )
