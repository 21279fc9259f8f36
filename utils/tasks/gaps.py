"""Gaps as a task: how well Day 10's families say the words that are missing."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.data.libraries import NAME, NUMBER, Sentence
from utils.data.text import EOS, PAD, pad
from utils.pretraining import MASK
from utils.tasks.families import Example, Family
from utils.tasks.pretraining import vocabulary

CANDIDATES = 20  # words that are tried in a gap
AT_ONCE = 128  # examples that are judged at once


class Gap(NamedTuple):
    """A word, and what stands around it."""

    before: list[int]
    word: int
    after: list[int]


def gaps(said: Sequence[Sentence], seed: int = 0) -> list[Gap]:
    """Hide one word of each sentence that has a known one; names and numbers aren't asked for."""
    words = vocabulary()
    special = {*range(MASK + 1), *words.encode([NAME, NUMBER])}
    generator, found = torch.Generator().manual_seed(seed), []
    for sentence in said:
        ids = [*words.encode(sentence.words), EOS]
        places = [place for place, word in enumerate(ids) if word not in special]
        if places:
            t = places[int(torch.randint(len(places), (), generator=generator))]
            found.append(Gap(ids[:t], ids[t], ids[t + 1 :]))
    return found


def passages(said: Sequence[Sentence], length: int) -> list[list[int]]:
    """Sentences of one module after the other, cut into pieces of so many ids."""
    by_module: dict[str, list[int]] = {}
    for sentence in said:
        ids = [*vocabulary().encode(sentence.words), EOS]
        by_module.setdefault(sentence.module, []).extend(ids)
    return [
        ids[start : start + length]
        for ids in by_module.values()
        for start in range(0, len(ids) - length + 1, length)
    ]


def second_halves(texts: Sequence[list[int]]) -> list[Gap]:
    """Ask for each known word of the second half of texts, given all that is before it."""
    return [
        Gap(text[:t], text[t], [])
        for text in texts
        for t in range(len(text) // 2, len(text))
        if text[t] > MASK
    ]


@torch.no_grad()
def chances(family: Family, asked: Sequence[Example]) -> Tensor:
    """Return log p of all words at the places that are asked for, (n, V); of others, -inf."""
    found = []
    for start in range(0, len(asked), AT_ONCE):
        some = asked[start : start + AT_ONCE]
        x = family(*family.inputs(some))
        places = torch.tensor([each.place for each in some])
        logits = family.head(x[torch.arange(len(some)), places])[:, : len(vocabulary())]
        logits[:, : MASK + 1] = -torch.inf
        found.append(logits.log_softmax(dim=1))
    return torch.cat(found)


@torch.no_grad()
def follows(family: Family, asked: Sequence[Example]) -> Tensor:
    """Return log p of what stands behind the place that is asked for, (n,)."""
    found = []
    for start in range(0, len(asked), AT_ONCE):
        some = asked[start : start + AT_ONCE]
        target, _ = pad([each.target for each in some])
        places = torch.tensor([each.place for each in some])[:, None]
        behind = (torch.arange(target.shape[1]) > places) & (target != PAD)
        x = family(*family.inputs(some))
        log_p = torch.zeros(target.shape)
        log_p[behind] = -F.cross_entropy(family.head(x[behind]), target[behind], reduction="none")
        found.append(log_p.sum(dim=1))
    return torch.cat(found)


def nats(family: Family, asked: Sequence[Gap]) -> float:
    """Return the mean of -log p of the words that are asked for."""
    words = torch.tensor([gap.word for gap in asked])
    log_p = chances(family, [family.asks(*gap) for gap in asked])
    return -log_p.gather(1, words[:, None]).mean().item()


def fills(family: Family, hidden: Sequence[Gap]) -> tuple[float, float]:
    """Return the share of gaps that get their word: at once, and with a second look.

    A family that writes has chosen its word before it writes what stands behind it, and says with
    what follows how well a word fits: of its likeliest words, the second look takes the one with
    which the rest of the target is likeliest too. An encoder has seen both sides at once.
    """
    words = torch.tensor([gap.word for gap in hidden])
    log_p, order = chances(family, [family.asks(*gap) for gap in hidden]).topk(CANDIDATES, dim=1)
    best = order[:, 0]
    if family.writes:
        tried = [
            family.asks(gap.before, word, gap.after)
            for gap, row in zip(hidden, order.tolist(), strict=True)
            for word in row
        ]
        log_p = log_p + follows(family, tried).view_as(log_p)
        best = order.gather(1, log_p.argmax(dim=1, keepdim=True))[:, 0]
    return tuple((found == words).double().mean().item() for found in (order[:, 0], best))
