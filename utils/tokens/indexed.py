"""The same merges, learned with an index: which words hold a pair, and how often it stands there.

A merge changes only the words that hold its pair, and those are few: all others keep their counts.
"""

from collections import Counter, defaultdict
from heapq import heapify, heappop, heappush
from itertools import pairwise

from utils.tokens.merges import Pair, byte_words, check_merges, check_pair_left, replace_pair


def learn_merges_indexed(text: str, n_merges: int) -> list[Pair]:
    """Learn what `learn_merges` does, and count only where something was merged.

    Pairs wait in a heap, the most frequent and then the lowest first. A count that has changed
    is put in anew; the old one is thrown away when it comes to the top.
    Raises: ValueError if there is no text, or it has fewer merges than that.
    """
    check_merges(n_merges)
    words, counts = byte_words(text)
    pairs: Counter[Pair] = Counter()
    places: defaultdict[Pair, set[int]] = defaultdict(set)  # words that hold a pair, or have held
    for i, word in enumerate(words):
        for pair in pairwise(word):
            pairs[pair] += counts[i]
            places[pair].add(i)
    heap = [(-count, pair) for pair, count in pairs.items()]
    heapify(heap)
    merges: list[Pair] = []
    while len(merges) < n_merges:
        check_pair_left(heap)
        count, best = heappop(heap)
        if -count != pairs[best]:
            continue
        changes: Counter[Pair] = Counter()
        for i in places.pop(best):
            for pair in pairwise(words[i]):
                changes[pair] -= counts[i]
            words[i] = replace_pair(words[i], best, 256 + len(merges))
            for pair in pairwise(words[i]):
                changes[pair] += counts[i]
                places[pair].add(i)
        for pair, change in changes.items():
            pairs[pair] += change
            if change and pairs[pair]:
                heappush(heap, (-pairs[pair], pair))
        merges.append(best)
    return merges
