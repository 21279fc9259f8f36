"""What a merge changes in the counts of pairs: those of its neighbours, and no others."""

from collections import Counter
from itertools import pairwise

from utils.exercises.checking import Exercise
from utils.tokens import replace_pair

Change = tuple[tuple[int, int], int]


def changed_counts(
    words: list[list[int]], counts: list[int], pair: tuple[int, int], new: int
) -> list[Change]:
    """Return how much each pair's count changes when `pair` becomes `new`, sorted by pair.

    words: distinct words, each a list of tokens; the i-th is counts[i] times in the text.
    Returns: (pair, change) for each pair whose count changes, and for no other.
    """
    changes = Counter()
    for word, count in zip(words, counts, strict=True):
        for before in pairwise(word):
            changes[before] -= count
        for after in pairwise(replace_pair(word, pair, new)):
            changes[after] += count
    return sorted((changed, change) for changed, change in changes.items() if change)


exercise = Exercise(changed_counts, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def given(pair: str, new: int = 256, **counts: int):
    words = [list(word.encode()) for word in counts]
    return words, list(counts.values()), tuple(pair.encode()), new


@exercise.stage("one merge in one word")
def one_merge():
    return [given("bc", abcd=1), given("ab", abx=1), given("xy", abxy=1)]


@exercise.stage("words that are in the text several times, and words without the pair")
def several_words():
    return [given("es", newest=6, widest=3, lower=2), given("ab", cab=2, abd=1, dca=5, ab=3)]


@exercise.stage("two merges in one word")
def two_merges():
    return [given("ab", abcab=2), given("ab", xabyabz=1, yab=2)]


@exercise.stage("two merges side by side")
def side_by_side():
    return [given("ab", abab=1), given("ab", xababaz=3, baab=1), given("ab", ababab=2)]


@exercise.stage("a pair that overlaps itself")
def overlapping():
    return [given("aa", aaa=1), given("aa", baaaab=2, aaaaa=1), given("aa", caac=1, aaac=4)]


# What goes wrong ----------------------------------------------------------------------------------


def listed(changes: Counter) -> list[Change]:
    return sorted((pair, change) for pair, change in changes.items() if change)


def merged_at(word, pair) -> list[int]:
    """Where in a word a pair is merged, from left to right."""
    places, i = [], 0
    while i < len(word) - 1:
        if tuple(word[i : i + 2]) == pair:
            places.append(i)
            i += 1
        i += 1
    return places


def by_neighbours(words, counts, pair, new) -> Counter:
    """Look at each merge alone, as if nothing else in its word were merged."""
    changes = Counter()
    for word, count in zip(words, counts, strict=True):
        for i in merged_at(word, pair):
            changes[pair] -= count
            if i > 0:
                changes[word[i - 1], pair[0]] -= count
                changes[word[i - 1], new] += count
            if i + 2 < len(word):
                changes[pair[1], word[i + 2]] -= count
                changes[new, word[i + 2]] += count
    return changes


@exercise.mistake(
    "two merges side by side: abab becomes XX, and the neighbour of an X is an X, not the a or b "
    "that was there before."
)
def each_merge_alone(words, counts, pair, new):
    return listed(by_neighbours(words, counts, pair, new))


@exercise.mistake(
    "where two merges are side by side, you removed the pair between them twice: it was there once."
)
def lost_between_twice(words, counts, pair, new):
    changes = by_neighbours(words, counts, pair, new)
    for found in [found for found in changes if new in found]:
        del changes[found]
    for word, count in zip(words, counts, strict=True):
        for after in pairwise(replace_pair(word, pair, new)):
            changes[after] += count * (new in after)
    return listed(changes)


@exercise.mistake("each word counts once in yours: multiply each change by the word's count.")
def each_word_once(words, counts, pair, new):
    return changed_counts(words, [1] * len(words), pair, new)


@exercise.mistake("remove the merged pair from the counts, too: it occurs nowhere now.")
def merged_pair_stays(words, counts, pair, new):
    return [change for change in changed_counts(words, counts, pair, new) if change[0] != pair]


@exercise.mistake(
    "you added the pairs with the new token, but removed none: the pairs that it breaks are gone."
)
def nothing_lost(words, counts, pair, new):
    return [change for change in changed_counts(words, counts, pair, new) if change[1] > 0]


@exercise.mistake(
    "you removed the broken pairs, but gave the new token no neighbours: add its pairs."
)
def nothing_gained(words, counts, pair, new):
    return [change for change in changed_counts(words, counts, pair, new) if change[1] < 0]


@exercise.mistake("your signs are reversed: pairs that disappear should have negative changes.")
def signs_reversed(words, counts, pair, new):
    return [(found, -change) for found, change in changed_counts(words, counts, pair, new)]


@exercise.mistake("you looked at the pair's first position in each word: it may occur again.")
def first_place_alone(words, counts, pair, new):
    changes = Counter()
    for word, count in zip(words, counts, strict=True):
        for i in merged_at(word, pair)[:1]:
            after = [*word[:i], new, *word[i + 2 :]]
            for found in pairwise(word):
                changes[found] -= count
            for found in pairwise(after):
                changes[found] += count
    return listed(changes)


@exercise.mistake(
    "you looked only to the left of each merge: the token after it has a new neighbour, too."
)
def left_side_alone(words, counts, pair, new):
    return [c for c in changed_counts(words, counts, pair, new) if c[0] == pair or c[0][1] == new]


@exercise.mistake(
    "your list has pairs that keep their count: leave out changes of 0, or nothing is saved."
)
def with_zeros(words, counts, pair, new):
    changes = Counter(dict.fromkeys((found for word in words for found in pairwise(word)), 0))
    changes.update(dict(changed_counts(words, counts, pair, new)))
    return sorted(changes.items())


@exercise.mistake("these are the counts after the merge: subtract those before it.")
def counts_after(words, counts, pair, new):
    after = Counter()
    for word, count in zip(words, counts, strict=True):
        for found in pairwise(replace_pair(word, pair, new)):
            after[found] += count
    return listed(after)


@exercise.mistake(
    "you looked only to the right of each merge: the token before it has a new neighbour, too."
)
def right_side_alone(words, counts, pair, new):
    changes = Counter()
    for word, count in zip(words, counts, strict=True):
        for i in merged_at(word, pair):
            changes[pair] -= count
            if i + 2 < len(word):
                changes[pair[1], word[i + 2]] -= count
                changes[new, word[i + 2]] += count
    return listed(changes)
