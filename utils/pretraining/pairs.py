"""Day 10: text asks about two of its parts: does the second follow the first?

A sentence is a list of ids, a part one sentence or several.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

import torch

from utils.arguments import check_choice, check_share
from utils.seq2seq import BOS, EOS

QUESTIONS = ("next", "order")


class Pair(NamedTuple):
    """Two parts of a text, as a model reads them."""

    ids: list[int]  # BOS, a part, EOS, the other, EOS: BERT's [CLS] and [SEP]
    types: list[int]  # 0 up to the EOS that ends the first of the parts, 1 behind it
    label: int  # 0 if the second part follows the first, 1 if not


def make_pair(
    first: Sequence[int], second: Sequence[int], other: Sequence[int], question: str, die: float
) -> Pair:
    """Ask whether one part follows another; in half of all pairs it does.

    "next": or else another stands in its place (Devlin et al., 2019, §3.1, task 2).
    "order": or else the two are exchanged (Lan et al., 2020, §3.1).

    first, second: neighbouring parts of a document; other: a part of another document.
    die: from 0 up to 1. The second follows if it is below 0.5.
    Raises: ValueError if there is no such question, or no such die.
    """
    check_choice("question", question, QUESTIONS)
    check_share("die", die)
    label = int(die >= 0.5)
    a, b = first, second
    if label:
        a, b = (first, other) if question == "next" else (second, first)
    ids = [BOS, *a, EOS, *b, EOS]
    types = [0] * (len(a) + 2) + [1] * (len(b) + 1)
    return Pair(ids, types, label)


def two_parts(
    document: Sequence[Sequence[int]], length: int, generator: torch.Generator | None = None
) -> tuple[list[int], list[int]]:
    """Draw two neighbouring parts of a document, together of at most so many ids.

    Only whole sentences are taken, so that no broken one betrays what is last. They begin at one
    that is drawn, go on as far as they fit, and are parted at the end of a sentence, as near to the
    middle as can be.
    generator: torch's own if there is none.
    Raises: ValueError if there are no two sentences, or two neighbours don't fit.
    """
    if len(document) < 2:
        raise ValueError(
            f"Two parts need a document of at least 2 sentences, got {len(document)}: leave it out."
        )
    longest = max(len(a) + len(b) for a, b in pairwise(document))
    if longest > length:
        raise ValueError(
            f"Two neighbouring sentences have {longest} ids together, and {length} fit: allow "
            "more, or leave them out."
        )
    start = int(torch.randint(len(document) - 1, (), generator=generator))
    ends = [*accumulate(map(len, document[start:]))]
    n = bisect_right(ends, length)
    middle = min(range(1, n), key=lambda k: abs(2 * ends[k - 1] - ends[n - 1]))
    ids = [*chain.from_iterable(document[start : start + n])]
    return ids[: ends[middle - 1]], ids[ends[middle - 1] :]
