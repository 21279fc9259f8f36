"""Of a word's symbols, how many change an answer when they are flipped?"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random

Answer = Callable[[Tensor], int]


def sensitivity(answer: Answer, word: Tensor) -> int:
    """Return how many of a word's symbols change its answer, if only this one is flipped.

    answer: a function from ids (n,), 0 or 1, to a whole number, or to True and False.
    Shapes: word (n,) to a whole number from 0 to n.
    """
    before, found = answer(word), 0
    for i in range(len(word)):
        other = word.clone()
        other[i] = 1 - other[i]
        found += int(answer(other) != before)
    return found


def whole(answer: Callable) -> Callable:
    """An answer whose whole number may be a bool, a tensor's or numpy's."""

    @functools.wraps(answer)
    def within(*inputs: Any) -> Any:
        found = answer(*inputs)
        if isinstance(found, Tensor | np.generic) and found.ndim == 0:
            found = found.item()
        return int(found) if isinstance(found, bool) else found

    return within


exercise = Exercise(sensitivity, gradient=False, runs=True, through=whole)


# What it is tried on ------------------------------------------------------------------------------


def of_bits(answer: Answer) -> Answer:
    """An answer that wants ids (n,) of 0 and 1."""

    @functools.wraps(answer)
    def asked(word: Tensor) -> int:
        if not isinstance(word, Tensor) or word.dim() != 1 or not ((word == 0) | (word == 1)).all():
            raise ValueError("`answer` takes a tensor (n,) of 0 and 1.")
        return answer(word)

    return asked


@of_bits
def parity(word: Tensor) -> int:
    return int(word.sum()) % 2


@of_bits
def majority(word: Tensor) -> bool:
    return int(word.sum()) * 2 > len(word)


@of_bits
def first(word: Tensor) -> int:
    return int(word[0])


@of_bits
def all_ones(word: Tensor) -> bool:
    return bool(word.all())


@of_bits
def two_ones(word: Tensor) -> bool:
    return bool((word[1:] * word[:-1]).any())


@of_bits
def modulo_5(word: Tensor) -> int:
    return int((word * torch.arange(1, len(word) + 1)).sum()) % 5


def bits(text: str) -> Tensor:
    return torch.tensor([int(symbol) for symbol in text])


@exercise.stage("the first symbol, and all of them together")
def simple():
    return [(first, bits("1011")), (all_ones, bits("111")), (all_ones, bits("11011"))]


@exercise.stage("parity, and majority")
def counted():
    of = "10110", "1100101", "100110", "0010010", "11011110101"
    return [(parity, bits(of[0])), *((majority, bits(text)) for text in of[1:])]


@exercise.stage("two ones side by side, and more than two answers")
def others():
    long = [(random(n) > 0).long() for n in (17, 23)]
    return [
        *((two_ones, bits(text)) for text in ("0010100", "0110000", "01010011", "0111000")),
        *((modulo_5, word) for word in (bits("0110101"), *long)),
        *((majority, word) for word in (bits("0110101"), *long)),
    ]


# What goes wrong ----------------------------------------------------------------------------------


def changed(answer: Answer, word: Tensor, change: Callable[[Tensor, int], Tensor]) -> list[int]:
    """The positions at which a change of a word changes the answer."""
    return [i for i in range(len(word)) if answer(change(word, i)) != answer(word)]


def written(word: Tensor, i: int, symbol: Tensor | int) -> Tensor:
    other = word.clone()
    other[i] = symbol
    return other


def flipped(word: Tensor, i: int) -> Tensor:
    return written(word, i, 1 - word[i])


def asked(answer: Answer, word: Tensor) -> list[int]:
    """What is answered for each symbol that is flipped."""
    return [int(answer(flipped(word, i))) for i in range(len(word))]


@exercise.mistake("that is the number of ones: flip each symbol, and ask again.")
def ones(answer, word):
    return int(word.sum())


@exercise.mistake("that is the length: a symbol counts only if the answer changes with it.")
def length(answer, word):
    return len(word)


@exercise.mistake("that is a share of the symbols: the question is how many.")
def share(answer, word):
    return len(changed(answer, word, flipped)) / len(word)


@exercise.mistake(
    "a symbol stays flipped when the next one is tried in yours: each is flipped alone."
)
def not_flipped_back(answer, word):
    other, found = word.clone(), 0
    for i in range(len(word)):
        other[i] = 1 - other[i]
        found += int(answer(other) != answer(word))
    return found


@exercise.mistake(
    "symbols stay flipped in yours, and each answer is compared with the one just before: each "
    "symbol is flipped alone, and compared with the word as it is."
)
def one_after_the_other(answer, word):
    other, before, found = word.clone(), answer(word), 0
    for i in range(len(word)):
        other[i] = 1 - other[i]
        found += int(answer(other) != before)
        before = answer(other)
    return found


@exercise.mistake("you flip all symbols at once: that is a single other word, and there are n.")
def all_at_once(answer, word):
    return int(answer(1 - word) != answer(word))


@exercise.mistake(
    "you compare with the flipped symbol: what changes is the answer, so compare two answers."
)
def with_the_flipped_symbol(answer, word):
    return sum(int(answer(flipped(word, i)) != 1 - word[i]) for i in range(len(word)))


@exercise.mistake(
    "you compare with the symbol as it was: what changes is the answer, so compare two answers."
)
def with_the_symbol(answer, word):
    return sum(int(answer(flipped(word, i)) != word[i]) for i in range(len(word)))


@exercise.mistake("you count the symbols that change nothing.")
def unchanged(answer, word):
    return len(word) - len(changed(answer, word, flipped))


@exercise.mistake(
    "you add up the answers of the flipped words: how many differ from that of the word itself?"
)
def answers_added(answer, word):
    return sum(asked(answer, word))


@exercise.mistake(
    "you count the flipped words whose answer isn't 0: compare it with that of the word itself."
)
def not_0(answer, word):
    return sum(found != 0 for found in asked(answer, word))


@exercise.mistake(
    "you add up by how much the answer changes: one that changes by three counts once, too."
)
def by_how_much(answer, word):
    return sum(abs(found - int(answer(word))) for found in asked(answer, word))


@exercise.mistake("you count answers that become larger: one that becomes smaller changes, too.")
def larger(answer, word):
    return sum(found > answer(word) for found in asked(answer, word))


@exercise.mistake("you count answers that become smaller: one that becomes larger changes, too.")
def smaller(answer, word):
    return sum(found < answer(word) for found in asked(answer, word))


@exercise.mistake("you write a 1 everywhere: a symbol that is 1 already isn't flipped so.")
def set_to_1(answer, word):
    return len(changed(answer, word, lambda word, i: written(word, i, 1)))


@exercise.mistake("you write a 0 everywhere: a symbol that is 0 already isn't flipped so.")
def set_to_0(answer, word):
    return len(changed(answer, word, lambda word, i: written(word, i, 0)))


@exercise.mistake("you leave a symbol out: the word should stay as long as it is.")
def left_out(answer, word):
    return len(changed(answer, word, lambda word, i: torch.cat([word[:i], word[i + 1 :]])))


@exercise.mistake("you exchange neighbours: that is no flip, and equal ones change nothing.")
def neighbours(answer, word):
    def exchange(word: Tensor, i: int) -> Tensor:
        j = (i + 1) % len(word)
        return written(written(word, i, word[j]), j, word[i])

    return len(changed(answer, word, exchange))


@exercise.mistake("you stop at the first symbol that changes the answer: there may be more.")
def any_of_them(answer, word):
    return int(bool(changed(answer, word, flipped)))


@exercise.mistake("the last symbol is never flipped: a word has n of them.")
def last_missing(answer, word):
    return len([i for i in changed(answer, word, flipped) if i < len(word) - 1])


@exercise.mistake("the first symbol is never flipped: Python counts from 0.")
def first_missing(answer, word):
    return len([i for i in changed(answer, word, flipped) if i > 0])


@exercise.mistake("these are the symbols' positions: return how many there are.")
def positions(answer, word):
    return changed(answer, word, flipped)


@exercise.mistake(
    "these are the answers of all flipped words: how many differ from the word's own?"
)
def all_answers(answer, word):
    return asked(answer, word)


@exercise.mistake("that is yes or no for each symbol: return how many there are.")
def yes_or_no(answer, word):
    return [i in changed(answer, word, flipped) for i in range(len(word))]
