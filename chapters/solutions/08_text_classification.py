# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Solutions of Day 8
#
# To the exercises of [Day 8](../08_text_classification.ipynb).

# %%
import convolution_to_attention  # is `utils` this book's?

from collections import Counter
from itertools import pairwise

from utils.exercises.text_classification import check
from utils.tokens import replace_pair

# %% [markdown]
# (solution-8-1)=
# ## 8.1 One merge
#
# A pair is counted wherever two neighbours are it, and as often as its word is in the text; `pairwise` looks into one word at
# a time, so no pair reaches across two. `min` over `(-count, pair)` takes the largest count and, of equal ones, the lowest
# pair, whatever the order of the words. The replacement looks at what it has written last: what was merged is no half of the
# next pair.


# %%
def merge_step(words: list[list[int]], counts: list[int], new: int):
    pairs = Counter()
    for word, count in zip(words, counts):
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


check("8.1", merge_step)

# %% [markdown]
# (solution-8-2)=
# ## 8.2 A new word
#
# A merge that was learned later may be made of an earlier one, never the other way round. So one walk through all merges in
# their order does what learning would have done, had the word been there.


# %%
def encode_word(word: list[int], merges: list[tuple[int, int]]) -> list[int]:
    for new, pair in enumerate(merges, start=256):
        word = replace_pair(word, pair, new)
    return word


check("8.2", encode_word)

# %% [markdown]
# (solution-8-5)=
# ## 8.5 Predict: what a sum of words gets right
#
# Let $g$, $b$ and $n$ be the numbers of *good*, *bad* and *not*. To read all four short texts, one would need $g > 0$ and $b \le 0$, but also $g + n \le 0$, so that $n \le -g < 0$, and $b + n > 0$, so that $n > -b \ge 0$. Both can't be, so one of the four is lost. *Good but bad* and *bad but good* have the same sum, and so the same verdict, and one of them is lost, too. That leaves four of six. A judge who remembers whole bags would get five.

# %%
my_share = 4 / 6
check("8.5", my_share)

# %% [markdown]
# (solution-8-8)=
# ## 8.8 What a merge changes
#
# Take the old pairs of a word away and add its new ones: where nothing was merged, both are the same and the change is 0. That
# needs no thought about what stands beside what, and is right where two merges meet. With an index of the words that hold a
# pair, it is all that a merge costs.


# %%
def changed_counts(words, counts, pair, new):
    changes = Counter()
    for word, count in zip(words, counts):
        for before in pairwise(word):
            changes[before] -= count
        for after in pairwise(replace_pair(word, pair, new)):
            changes[after] += count
    return sorted((changed, change) for changed, change in changes.items() if change)


check("8.8", changed_counts)
