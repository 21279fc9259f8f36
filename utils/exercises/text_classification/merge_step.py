"""One step of byte-pair encoding: count adjacent pairs, and merge the most frequent one."""

from collections import Counter
from itertools import pairwise

from utils.exercises.checking import Exercise


def merge_step(
    words: list[list[int]], counts: list[int], new: int
) -> tuple[tuple[int, int], list[list[int]]]:
    """Merge the most frequent adjacent pair into the token `new`; of equals, the lowest.

    words: distinct words, each a list of tokens; the i-th is counts[i] times in the text.
    Returns: the pair, and the words with `new` in its place, replaced from left to right.
    """
    pairs = Counter()
    for word, count in zip(words, counts, strict=True):
        for pair in pairwise(word):
            pairs[pair] += count
    best = min(pairs, key=lambda pair: (-pairs[pair], pair))
    merged = []
    for word in words:
        left = []
        for token in word:
            if left and (left[-1], token) == best:
                left[-1] = new
            else:
                left.append(token)
        merged.append(left)
    return best, merged


exercise = Exercise(merge_step, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def given(new: int = 256, **counts: int) -> tuple[list[list[int]], list[int], int]:
    return [list(word.encode()) for word in counts], list(counts.values()), new


@exercise.stage("one word")
def one_word():
    return [given(abcab=1), given(xyzyz=1)]


@exercise.stage("words that are in the text several times")
def several_times():
    return [given(low=5, lower=2, newest=6, widest=3), given(abc=1, abd=1, bc=3, dbdb=1)]


@exercise.stage("two pairs that are equally frequent")
def equally_frequent():
    return [given(za=2, ab=2, ba=2), given(ca=3, cb=3), given(bd=4, cb=4)]


@exercise.stage("a pair that overlaps itself")
def overlapping():
    return [given(aaa=2, bc=3), given(aaaa=1, aaaaab=2, ac=1)]


@exercise.stage("several words: no pair crosses from one into the next")
def words_that_meet():
    return [given(ba=1, b=1, ab=1, xba=1), given(cd=2, c=2, dcc=2, dc=1)]


@exercise.stage("words that contain merges already")
def merged_already():
    words = [[256, 97, 256, 97], [98, 256], [256, 97, 98], [98, 256, 97]]
    return [(words, [1, 4, 2, 1], 257)]


# What goes wrong ----------------------------------------------------------------------------------


def counted(words, counts) -> Counter:
    pairs = Counter()
    for word, count in zip(words, counts, strict=True):
        for pair in pairwise(word):
            pairs[pair] += count
    return pairs


def lowest(pairs: Counter) -> tuple[int, int]:
    return min(pairs, key=lambda pair: (-pairs[pair], pair))


def replaced(words, pair, new, ends: int = 1, at_most: int = 99) -> list[list[int]]:
    """Write `new` in place of a pair: `ends` of it, at most so often in a word."""
    merged = []
    for word in words:
        left, i, n = [], 0, 0
        while i < len(word):
            if tuple(word[i : i + 2]) == pair and n < at_most:
                left += [new] * ends
                i, n = i + 2, n + 1
            else:
                left.append(word[i])
                i += 1
        merged.append(left)
    return merged


@exercise.mistake(
    "of equally frequent pairs you took the one that was seen first: take the lowest, so that the "
    "order of the words doesn't matter."
)
def first_seen(words, counts, new):
    pairs = counted(words, counts)
    best = max(pairs, key=pairs.get)
    return best, replaced(words, best, new)


@exercise.mistake(
    "of equally frequent pairs you took the highest, as max over (count, pair) does. Which sign "
    "makes the count fall while the pair rises?"
)
def highest(words, counts, new):
    pairs = counted(words, counts)
    best = max(pairs, key=lambda pair: (pairs[pair], pair))
    return best, replaced(words, best, new)


@exercise.mistake("you merge the rarest pair: which one saves the most tokens?")
def rarest(words, counts, new):
    pairs = counted(words, counts)
    best = min(pairs, key=lambda pair: (pairs[pair], pair))
    return best, replaced(words, best, new)


@exercise.mistake(
    "you counted a pair that crosses from the end of one word into the next: no token may."
)
def across_words(words, counts, new):
    pairs = counted([[token for word in words for token in word]], [1])
    pairs = counted(words, [count - 1 for count in counts]) + pairs
    best = lowest(pairs)
    return best, replaced(words, best, new)


@exercise.mistake(
    "you put the distinct words into one row: pairs cross from one into the next, and each word "
    "counts only once."
)
def words_in_one_row(words, counts, new):
    best = lowest(counted([[token for word in words for token in word]], [1]))
    return best, replaced(words, best, new)


@exercise.mistake(
    "you put the whole text into one row: pairs cross from the end of a word into the next."
)
def text_in_one_row(words, counts, new):
    text = [word for word, count in zip(words, counts, strict=True) for _ in range(count)]
    best = lowest(counted([[token for word in text for token in word]], [1]))
    return best, replaced(words, best, new)


@exercise.mistake("each word counts once in yours: it should count as often as it is in the text.")
def each_word_once(words, counts, new):
    best = lowest(counted(words, [1] * len(words)))
    return best, replaced(words, best, new)


@exercise.mistake(
    "you counted the words that contain a pair: if it occurs twice in a word, count it twice."
)
def words_that_hold_it(words, counts, new):
    pairs = Counter()
    for word, count in zip(words, counts, strict=True):
        for pair in set(pairwise(word)):
            pairs[pair] += count
    best = lowest(pairs)
    return best, replaced(words, best, new)


@exercise.mistake(
    "in aaa the pair aa occurs twice, and you counted one: count every adjacent pair, even where "
    "they overlap."
)
def overlaps_counted_once(words, counts, new):
    pairs = counted(words, counts)
    for pair in pairs:
        shorter = replaced(words, pair, new)
        saved = (len(word) - len(less) for word, less in zip(words, shorter, strict=True))
        pairs[pair] = sum(n * count for n, count in zip(saved, counts, strict=True))
    best = lowest(pairs)
    return best, replaced(words, best, new)


@exercise.mistake("you counted ab and ba as one pair: the order counts.")
def without_order(words, counts, new):
    pairs, both = counted(words, counts), Counter()
    for pair, count in pairs.items():
        both[tuple(sorted(pair))] += count
    best = lowest(both)
    return best, replaced(words, best, new)


@exercise.mistake("aaa became aX: replace from left to right, so that it becomes Xa.")
def from_the_right(words, counts, new):
    best = lowest(counted(words, counts))
    turned = replaced([word[::-1] for word in words], best[::-1], new)
    return best, [word[::-1] for word in turned]


@exercise.mistake(
    "aaa became XX: a merged a is gone, and can't be the first half of the next pair."
)
def overlapping_merges(words, counts, new):
    best = lowest(counted(words, counts))
    merged = []
    for word in words:
        left, used = [], False
        for i, token in enumerate(word):
            if tuple(word[i : i + 2]) == best:
                left.append(new)
                used = True
            else:
                left += [] if used else [token]
                used = False
        merged.append(left)
    return best, merged


@exercise.mistake("ab became Xb: the new token replaces both, so both have to go.")
def second_half_stays(words, counts, new):
    best = lowest(counted(words, counts))
    merged = []
    for word in words:
        pairs = [*pairwise(word), None]
        merged.append([new if p == best else t for t, p in zip(word, pairs, strict=True)])
    return best, merged


@exercise.mistake("ab became XX: one new token replaces both.")
def as_long_as_before(words, counts, new):
    best = lowest(counted(words, counts))
    return best, replaced(words, best, new, ends=2)


@exercise.mistake("you replaced the pair once in each word: replace it wherever it occurs.")
def once_in_a_word(words, counts, new):
    best = lowest(counted(words, counts))
    return best, replaced(words, best, new, at_most=1)


@exercise.mistake("the pair is correct, but the words are unchanged: replace it by `new`.")
def nothing_replaced(words, counts, new):
    return lowest(counted(words, counts)), words


@exercise.mistake("you dropped the words in which nothing was merged: keep them in the list.")
def merged_words_alone(words, counts, new):
    best = lowest(counted(words, counts))
    return best, [word for word in replaced(words, best, new) if new in word]


@exercise.mistake(
    "you lose each word's last token: it isn't the first half of a pair, but keep it all the same."
)
def last_token_lost(words, counts, new):
    best = lowest(counted(words, counts))
    merged = []
    for word in words:
        left, i = [], 0
        while i < len(word) - 1:
            left.append(new if tuple(word[i : i + 2]) == best else word[i])
            i += 1 + (left[-1] == new)
        merged.append(left)
    return best, merged


@exercise.mistake("only the words came back: return the pair first, then the words.")
def words_alone(words, counts, new):
    return merge_step(words, counts, new)[1]


@exercise.mistake("return the pair first, then the words: yours come the other way round.")
def exchanged(words, counts, new):
    return merge_step(words, counts, new)[::-1]


@exercise.mistake("your pair still has its count beside it: return the pair alone.")
def with_its_count(words, counts, new):
    pair, merged = merge_step(words, counts, new)
    return (pair, counted(words, counts)[pair]), merged


@exercise.mistake("you overwrite a pair's count when it comes up again: add to it.")
def overwritten(words, counts, new):
    pairs = {}
    for word, count in zip(words, counts, strict=True):
        pairs |= dict.fromkeys(pairwise(word), count)
    best = lowest(pairs)
    return best, replaced(words, best, new)
