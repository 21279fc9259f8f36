"""A new word in byte pairs: the learned merges, in the order in which they were learned."""

from collections import Counter
from itertools import pairwise

from utils.exercises.checking import Exercise
from utils.tokens import replace_pair


def encode_word(word: list[int], merges: list[tuple[int, int]]) -> list[int]:
    """Encode a word, a list of bytes, by merges; the i-th makes token 256 + i."""
    for i, pair in enumerate(merges):
        word = replace_pair(word, pair, 256 + i)
    return word


exercise = Exercise(encode_word, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------

A, B, C, D, E = b"abcde"


def word(letters: str, *merges: tuple[int, int]) -> tuple[list[int], list[tuple[int, int]]]:
    return list(letters.encode()), list(merges)


@exercise.stage("one merge")
def one_merge():
    return [word("abcab", (A, B)), word("cba", (A, B)), word("aaa", (A, A)), word("c", (A, B))]


@exercise.stage("a merge of another merge's token")
def a_merge_of_a_merge():
    return [word("abcdab", (A, B), (256, C)), word("ababcd", (C, D), (A, B), (257, 256))]


@exercise.stage("two merges that want the same letter")
def the_same_letter():
    return [
        word("abcd", (B, C), (A, B), (C, D)),
        word("abc", (B, C), (A, B), (257, C)),
        word("abcab", (B, C), (A, B), (A, 256)),
        word("ababc", (B, C), (A, B), (257, C)),
        word("cabab", (A, B), (B, A), (C, A), (258, 257)),
    ]


@exercise.stage("longer words, more merges")
def longer_words():
    merges = (D, E), (A, B), (B, C), (257, 258), (C, 256), (257, 260), (261, A), (A, A)
    return [
        word("abcdeabdebcaabcdea", *merges),
        word("ababcababcde", *merges),
        word("deaaabcdeabcabdede", *merges),
        word("bcbcdedebcdeaaaabc", *merges),
    ]


# What goes wrong ----------------------------------------------------------------------------------


def spelt(merges) -> dict[tuple[int, ...], int]:
    """The bytes of each token, and its number."""
    bytes_of = {byte: (byte,) for byte in range(256)}
    for i, (a, b) in enumerate(merges):
        bytes_of[256 + i] = bytes_of[a] + bytes_of[b]
    return {letters: number for number, letters in bytes_of.items()}


def by_choice(word, merges, choose) -> list[int]:
    """As long as there are known pairs, merge the one that is chosen among them."""
    made = {pair: 256 + i for i, pair in enumerate(merges)}
    while found := [i for i, pair in enumerate(pairwise(word)) if pair in made]:
        i = choose(found, [made[word[i], word[i + 1]] for i in found])
        word = [*word[:i], made[word[i], word[i + 1]], *word[i + 2 :]]
    return word


@exercise.mistake(
    "from the left, you took the longest token that fits: apply the merges in the order in which "
    "they were learned."
)
def longest_first(word, merges):
    known, ids, i = spelt(merges), [], 0
    while i < len(word):
        size = max(n for n in range(1, len(word) - i + 1) if tuple(word[i : i + n]) in known)
        ids.append(known[tuple(word[i : i + size])])
        i += size
    return ids


@exercise.mistake(
    "you merged the first known pair from the left. Another pair, further right, may have been "
    "learned earlier, and goes first."
)
def leftmost_pair(word, merges):
    return by_choice(word, merges, lambda places, made: places[0])


@exercise.mistake(
    "you merged the first known pair from the right: which of them was learned first?"
)
def rightmost_pair(word, merges):
    return by_choice(word, merges, lambda places, made: places[-1])


@exercise.mistake(
    "you apply the latest merges first: they are built from earlier ones, which don't exist yet."
)
def last_learned_first(word, merges):
    return by_choice(word, merges, lambda places, made: places[made.index(max(made))])


@exercise.mistake(
    "you went through the merges once, from the last to the first: the tokens that they are built "
    "from aren't there yet."
)
def once_backwards(word, merges):
    for i in reversed(range(len(merges))):
        word = replace_pair(word, merges[i], 256 + i)
    return word


@exercise.mistake(
    "you merged the pair that is most frequent in this word. Counting is for learning: encode a "
    "new word with the learned merges, in their order."
)
def most_frequent_here(word, merges):
    made = {pair: 256 + i for i, pair in enumerate(merges)}
    while found := Counter(pair for pair in pairwise(word) if pair in made):
        best = min(found, key=lambda pair: (-found[pair], made[pair]))
        word = replace_pair(word, best, made[best])
    return word


@exercise.mistake("you replaced each pair once: merge it wherever it occurs in the word.")
def once_in_the_word(word, merges):
    for i, pair in enumerate(merges):
        places = [k for k, found in enumerate(pairwise(word)) if found == pair][:1]
        for k in places:
            word = [*word[:k], 256 + i, *word[k + 2 :]]
    return word


@exercise.mistake(
    "you stopped after one walk along the word: a merged token may be half of the next pair."
)
def one_walk(word, merges):
    made, ids, i = {pair: 256 + n for n, pair in enumerate(merges)}, [], 0
    while i < len(word):
        pair = tuple(word[i : i + 2])
        ids.append(made.get(pair, word[i]))
        i += 1 + (pair in made)
    return ids


@exercise.mistake("aaa became aX: replace pairs from left to right, as in learning.")
def from_the_right(word, merges):
    for i, pair in enumerate(merges):
        word = replace_pair(word[::-1], pair[::-1], 256 + i)[::-1]
    return word


@exercise.mistake("the first 256 numbers are the bytes: the first merge makes token 256.")
def numbered_from_0(word, merges):
    ids = encode_word(word, merges)
    return [n - 256 if n >= 256 else n for n in ids]


@exercise.mistake("the i-th merge makes token 256 + i, counting from 0; yours are one too high.")
def one_too_high(word, merges):
    for new, pair in enumerate(merges, start=257):
        word = replace_pair(word, pair, new)
    return word


@exercise.mistake(
    "your new tokens are 0, 1, 2, …, which are bytes: the i-th merge makes token 256 + i."
)
def bytes_for_tokens(word, merges):
    for i, pair in enumerate(merges):
        word = replace_pair(word, pair, i)
    return word


@exercise.mistake("replace_pair doesn't change its argument: keep the word that it returns.")
def thrown_away(word, merges):
    for i, pair in enumerate(merges):
        replace_pair(word, pair, 256 + i)
    return word


@exercise.mistake("you applied only the first merge: the others follow, in order.")
def first_merge_alone(word, merges):
    return replace_pair(word, merges[0], 256)


@exercise.mistake("all your merges make the same token: each makes one of its own, 256 + i.")
def one_number_for_all(word, merges):
    for pair in merges:
        word = replace_pair(word, pair, 256 + len(merges))
    return word


@exercise.mistake(
    "you lose the word's last letter: it isn't the first half of a pair, but keep it all the same."
)
def last_letter_lost(word, merges):
    for new, pair in enumerate(merges, start=256):
        ids, i = [], 0
        while i < len(word) - 1:
            ids.append(new if tuple(word[i : i + 2]) == pair else word[i])
            i += 1 + (ids[-1] == new)
        word = ids
    return word


@exercise.mistake("each merge starts from the bytes again: apply it to what the one before left.")
def from_the_bytes_again(word, merges):
    ids = word
    for new, pair in enumerate(merges, start=256):
        ids = replace_pair(word, pair, new)
    return ids


@exercise.mistake(
    "your numbers go up only where something was merged: the i-th merge makes token 256 + i, used "
    "or not."
)
def numbered_as_used(word, merges):
    new = 256
    for pair in merges:
        shorter = replace_pair(word, pair, new)
        new += len(shorter) < len(word)
        word = shorter
    return word
