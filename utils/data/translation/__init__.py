"""English sentences with their one Chinese translation, written by a grammar: both at once.

A rule says in both languages what it says, so which word stands for which is known, and not
guessed afterwards. There are sure links, and links that are only possible (Och and Ney, 2003).
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random
from typing import NamedTuple

from utils.data.translation.joined import STRUCTURES, Sentences

SHORTEST, LONGEST = 3, 25
PATIENCE = 2_000  # sentences in a row that are nothing new
N_VALIDATION, N_TEST = 1_000, 2_300  # sentences
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
    """Draw n different sentences of 3 to 25 English words; all lengths are about as frequent.

    structures: names out of STRUCTURES, for sentences of these kinds only. Some have no long or
        short sentences, and some only a few dozen at all.
    Raises: ValueError if there is no such structure, or there are not n sentences of it.
    """
    unknown = sorted(set(structures) - set(STRUCTURES))
    if unknown or not structures:
        raise ValueError(f"No structure {unknown or ''}: choose from {', '.join(STRUCTURES)}.")
    pairs = list(islice(endless(Random(seed), structures), n))
    if len(pairs) < n:
        raise ValueError(
            f"Only {len(pairs)} different sentences were found, not {n}: ask for fewer."
        )
    return pairs


def endless(random: Random, structures: Sequence[str]) -> Iterator[Pair]:
    """Sentences as long as new ones come up, each of about the length that is rarest so far."""
    grammar, seen = Sentences(random), set()
    drawn = dict.fromkeys(range(SHORTEST, LONGEST + 1), 0.0)
    misses = 0
    while misses < PATIENCE:
        aim = min(drawn, key=drawn.get)
        phrase, structure = grammar.sentence(aim, structures)
        length = len(phrase.english)
        drawn[aim] += 0.1  # so that nobody waits for a length that there is not
        misses += 1
        if length in drawn and phrase.english not in seen:
            misses = 0
            drawn[length] += 1
            seen.add(phrase.english)
            sure = frozenset(phrase.sure)
            possible = sure.union(phrase.maybe)
            yield Pair(phrase.english, phrase.chinese, sure, possible, structure)


HELD_OUT = (  # a clause with all of these is kept from training; with some of them it is not
    frozenset({"placing", "that"}),  # he put the book that Tom bought on the table
    frozenset({"who", "place", "time"}),  # the man who sang worked in the park yesterday
)


def held_out(structure: str) -> bool:
    """Whether a clause of this structure combines what training shows only apart."""
    return any(parts <= set(clause) for clause in clauses(structure) for parts in HELD_OUT)


def clauses(structure: str) -> list[list[str]]:
    """The parts of each clause: [["event", "past"], ["state", "present"]] in "so(...)"."""
    return [clause.split() for clause in structure.rpartition("(")[2].rstrip(")").split(", ")]


def corpus(seed: int, n_train: int = 24_000) -> Corpus:
    """Draw a corpus to train on, to choose with, and to judge with: once on the same kinds of
    sentences, and once on the combinations in HELD_OUT, of which there are about 850."""
    parts = Corpus([], [], [], [])
    drawn = []
    for pair in endless(Random(seed), STRUCTURES):
        (parts.unseen_structures if held_out(pair.structure) else drawn).append(pair)
        if len(drawn) == n_train + N_VALIDATION + N_TEST:
            break
    parts.train.extend(drawn[:n_train])
    parts.validation.extend(drawn[n_train : n_train + N_VALIDATION])
    parts.test.extend(drawn[n_train + N_VALIDATION :])
    return parts
