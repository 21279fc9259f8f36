"""English sentences with their one Chinese translation, written by a grammar: both at once.

A rule says in both languages what it says, so which word stands for which is known, and not
guessed afterwards. There are sure links, and links that are only possible (Och and Ney, 2003).
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from utils.lab.translation.joined import STRUCTURES, Sentences

SHORTEST, LONGEST = 3, 25
__all__ = ["STRUCTURES", "Corpus", "Pair", "corpus", "held_out", "sentences"]


class Pair(NamedTuple):
    """A sentence and its translation, in words; a link (t, s) joins target[t] and source[s].

    structure: what it is made of, such as "because(event past time, state not)".
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]
    structure: str


class Corpus(NamedTuple):
    """No sentence is in two parts; unseen_structures combines what train has only apart."""

    train: list[Pair]
    validation: list[Pair]
    test: list[Pair]
    unseen_structures: list[Pair]


def sentences(n: int, seed: int, structures: Sequence[str] = STRUCTURES) -> list[Pair]:
    """Draw n different sentences of 3 to 25 English words; lengths are about equally frequent.

    Raises: ValueError if there is no such structure.
    """
    unknown = set(structures) - set(STRUCTURES)
    if unknown or not structures:
        raise ValueError(
            f"There is no structure {sorted(unknown)}: choose from {', '.join(STRUCTURES)}."
        )
    stream = endless(Random(seed), structures)
    return [next(stream) for _ in range(n)]


def endless(random: Random, structures: Sequence[str]) -> Iterator[Pair]:
    """Sentences without end, each one once."""
    grammar, seen = Sentences(random), set()
    drawn = dict.fromkeys(range(SHORTEST, LONGEST + 1), 0)
    while True:
        rarest = min(drawn, key=drawn.get)
        phrase, structure = grammar.sentence(rarest, structures)
        english = phrase.english
        if SHORTEST <= len(english) <= LONGEST and english not in seen:
            seen.add(english)
            drawn[len(english)] += 1
            sure = frozenset(phrase.sure)
            yield Pair(english, phrase.chinese, sure, sure.union(phrase.maybe), structure)


HELD_OUT = (  # parts of one clause that train never has together
    {"placing", "that"},
    {"who", "place", "time"},
)


def held_out(structure: str) -> bool:
    """Whether a clause of this structure combines what is kept from training."""
    clauses = structure.rpartition("(")[2].rstrip(")").split(", ")
    return any(parts <= set(clause.split()) for clause in clauses for parts in HELD_OUT)


def corpus(
    seed: int, n_train: int = 16_000, n_validation: int = 1_000, n_test: int = 2_300
) -> Corpus:
    """Draw a corpus to train on, to choose with, and to judge with: of both kinds of sentences."""
    parts = Corpus([], [], [], [])
    wanted = (n_train, n_validation, n_test)
    for pair in endless(Random(seed), STRUCTURES):
        if held_out(pair.structure):
            parts.unseen_structures.append(pair)
            continue
        for part, size in zip(parts, wanted, strict=False):
            if len(part) < size:
                part.append(pair)
                break
        else:
            return parts
