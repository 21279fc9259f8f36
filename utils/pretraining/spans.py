"""Day 10: noise for an encoder and a decoder: T5 hides spans, BART rewrites, and both ask for text.

A text is a list of n ids. A span is where it begins, and where what follows it begins.
"""

import math
from collections import Counter
from collections.abc import Sequence

import torch
from torch import Generator

from utils.arguments import check_share
from utils.pretraining.masking import MASK

Span = tuple[int, int]


def replace_spans(ids: Sequence[int], spans: Sequence[Span], symbols: Sequence[int]) -> list[int]:
    """Return a text in which one symbol stands for each span.

    Raises: ValueError if the spans are not in order, or not in the text.
    """
    before = 0
    for start, end in spans:
        if not before <= start <= end <= len(ids):
            raise ValueError(
                f"The span from {start} to {end} doesn't fit behind {before} in a text of "
                f"{len(ids)}: spans are in order, don't overlap, and lie in the text."
            )
        before = end
    source, kept_from = [], 0
    for (start, end), symbol in zip(spans, symbols, strict=False):
        source += [*ids[kept_from:start], symbol]
        kept_from = end
    return [*source, *ids[kept_from:]]


# T5 -----------------------------------------------------------------------------------------------


def draw_spans(
    n: int, share: float = 0.15, mean: float = 3.0, generator: Generator | None = None
) -> list[Span]:
    """Choose the spans of a text of n words that T5 hides (Raffel et al., 2020, §3.3.4).

    They are round(share·n) words in round(words / mean) spans, at least one, and no more spans
    than words that stay. What stays and what is hidden take turns, beginning with what stays and
    ending with what is hidden; all ways to do so are equally likely (the published code).
    Raises: ValueError if the text has no two words, the share is none, or the mean is below 1.
    """
    check_noise(n, share, mean, least=2)
    hidden = min(max(round(share * n), 1), n - 1)
    n_spans = min(max(round(hidden / mean), 1), n - hidden)
    turns = torch.stack([_parts(each, n_spans, generator) for each in (n - hidden, hidden)], dim=1)
    ends = turns.flatten().cumsum(dim=0).tolist()
    return [*zip(ends[0::2], ends[1::2], strict=True)]


def _parts(n: int, n_parts: int, generator: Generator | None) -> torch.Tensor:
    """Cut n into parts of at least 1: their sizes."""
    cuts = torch.randperm(n - 1, generator=generator)[: n_parts - 1].sort().values + 1
    return torch.diff(cuts, prepend=torch.tensor([0]), append=torch.tensor([n]))


def hide_spans(
    ids: Sequence[int], spans: Sequence[Span], sentinels: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Return what T5's encoder reads, and what its decoder is to write (ibid., §3.1.4).

    In the source, one sentinel stands for each span. The target has each sentinel and behind it
    the words for which it stands, and the next sentinel as its end (the published code has EOS
    there).
    sentinels: their ids in order, which no text has; T5's own are range(32_099, 31_999, -1).
    Raises: ValueError as `replace_spans` does, if there are not enough sentinels, or the text has
        one.
    """
    check_sentinels(ids, sentinels, least=len(spans) + 1)
    target = []
    for (start, end), sentinel in zip(spans, sentinels, strict=False):
        target += [sentinel, *ids[start:end]]
    return replace_spans(ids, spans, sentinels), [*target, sentinels[len(spans)]]


def put_back(source: Sequence[int], target: Sequence[int], sentinels: Sequence[int]) -> list[int]:
    """Return the text of a source whose spans a target tells.

    What the target has before its first sentinel is left out, and a sentinel that it doesn't have
    stands for nothing.
    Raises: ValueError if the target has a sentinel twice.
    """
    counts = Counter(symbol for symbol in target if symbol in sentinels)
    if twice := [sentinel for sentinel, count in counts.items() if count > 1]:
        raise ValueError(f"The target has the sentinel {twice[0]} twice: which one counts?")
    said: dict[int, list[int]] = {sentinel: [] for sentinel in sentinels}
    words: list[int] = []
    for symbol in target:
        if symbol in said:
            words = said[symbol]
        else:
            words.append(symbol)
    return [word for symbol in source for word in said.get(symbol, [symbol])]


# BART ---------------------------------------------------------------------------------------------


def draw_infilling(
    n: int, share: float = 0.3, mean: float = 3.0, generator: Generator | None = None
) -> list[Span]:
    """Choose the spans of a text of n words that BART rewrites (Lewis et al., 2020, §2.2).

    Their lengths are Poisson numbers, 0 among them, until round(share·n) words are hidden; the
    last one is cut off there. All places between words that stay are equally likely; several spans
    may share one.
    Raises: ValueError if the text has no word, the share is none, or the mean is below 1.
    """
    check_noise(n, share, mean, least=1)
    left, lengths = round(share * n), []
    while left > 0:
        length = min(int(torch.poisson(torch.tensor(mean), generator=generator)), left)
        left -= length
        lengths.append(length)
    kept = n - sum(lengths)
    places = torch.randint(kept + 1, (len(lengths),), generator=generator).sort().values.tolist()
    spans, before = [], 0
    for place, length in zip(places, lengths, strict=True):
        spans.append((place + before, place + before + length))
        before += length
    return spans


def infill(ids: Sequence[int], spans: Sequence[Span], mask: int = MASK) -> list[int]:
    """Return what BART's encoder reads: one MASK for each span, however long (ibid.).

    A span without a word is a MASK that stands for nothing. The target is the whole text.
    Raises: ValueError as `replace_spans` does.
    """
    return replace_spans(ids, spans, [mask] * len(spans))


def permute_sentences(
    ids: Sequence[int], end: int, generator: Generator | None = None
) -> list[int]:
    """Return a text whose sentences, each up to its `end`, are in random order (ibid.).

    What stands behind the last end is a sentence too.
    """
    ends = [place + 1 for place, symbol in enumerate(ids) if symbol == end]
    sentences = [[*ids[a:b]] for a, b in zip([0, *ends], [*ends, len(ids)], strict=True)]
    order = torch.randperm(len(sentences), generator=generator).tolist()
    return [symbol for number in order for symbol in sentences[number]]


def check_noise(n: int, share: float, mean: float, least: int) -> None:
    """Raise a ValueError if a text is too short to hide spans in, or nothing says how many."""
    if n < least:
        raise ValueError(f"A text of length {n} is too short: it takes {least} to hide some of it.")
    check_share("share", share)
    if not 1 <= mean < math.inf:
        raise ValueError(f"The mean length of a span is at least 1, got {mean}.")


def check_sentinels(ids: Sequence[int], sentinels: Sequence[int], least: int) -> None:
    """Raise a ValueError if there are too few sentinels, or a text has one."""
    if len(sentinels) < least:
        raise ValueError(
            f"{least - 1} spans and the end take {least} sentinels, got {len(sentinels)}."
        )
    if taken := [symbol for symbol in ids if symbol in sentinels]:
        raise ValueError(f"The text has {taken[0]}, which is a sentinel: give them other numbers.")
