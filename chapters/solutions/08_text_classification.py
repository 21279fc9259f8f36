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
# First come the solutions for [Text classification](../08_text_classification.ipynb), then those for its [deeper page](../deeper/08_text_classification.ipynb). There is more than one correct way. What counts is that the check passes and that you can say why.

# %%
import convolution_to_attention  # is `utils` this book's?

from collections import Counter
from itertools import pairwise

import torch

from utils.exercises.text_classification import check
from utils.tokens import replace_pair

# %% [markdown]
# (solution-merge-step)=
# ## Byte-pair merge
#
# Each pair counts as often as its word is in the text; `pairwise` looks into one word at
# a time, so no pair crosses from one word to the next. `min` over `(-count, pair)` takes the largest count and, if several are equal, the lowest
# pair, whatever the order of the words. The replacement compares with the token that it wrote last, so a merged token is never half of the
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


merge_step = check("merge_step", merge_step)

# %% [markdown]
# (solution-encode-word)=
# ## Byte-pair encoding
#
# A later merge may be built from an earlier one, never the other way round. So one walk through all merges in
# their order does what learning would have done, had the word been there.


# %%
def encode_word(word: list[int], merges: list[tuple[int, int]]) -> list[int]:
    for new, pair in enumerate(merges, start=256):
        word = replace_pair(word, pair, new)
    return word


encode_word = check("encode_word", encode_word)

# %% [markdown]
# (solution-masked-mean)=
# ## Masked mean pooling
#
# `real` is 1 at words and 0 at padding. So padding adds nothing to the sum, whatever it holds, and the sum is divided by the number of words, not of positions.


# %%
def masked_mean(x, lengths):
    real = torch.arange(x.shape[1]) < lengths[:, None]  # (B, T)
    return (x * real[..., None]).sum(dim=1) / lengths[:, None]


masked_mean = check("masked_mean", masked_mean)

# %% [markdown]
# (solution-left-out-words)=
# ## Leave one out
#
# All shorter texts have the same length, so they form one batch, and the model is called twice. The difference is between logarithms: a word that raises the probability from 0.5 to 0.98 and one that raises it from 0.255 to 0.5 get the same score.


# %%
@torch.no_grad()
def leave_one_out(model, text, label):
    shorter = torch.stack([torch.cat([text[:t], text[t + 1 :]]) for t in range(len(text))])
    whole, without = (model(ids).log_softmax(dim=-1)[:, label] for ids in (text[None], shorter))
    return whole - without


leave_one_out = check("left_out_words", leave_one_out)

# %% [markdown]
# (solution-weighed-words)=
# ## Predict: what a sum of words gets right
#
# Let $g$, $b$ and $n$ be the numbers of *good*, *bad* and *not*. To classify all four short texts correctly, you would need $g > 0$ and $b \le 0$, but also $g + n \le 0$, so that $n \le -g < 0$, and $b + n > 0$, so that $n > -b \ge 0$. Both can't be true, so one of the four is lost. *Good but bad* and *bad but good* have the same sum, and so the same verdict, and one of them is lost, too. That leaves four of six. A judge who memorises whole bags would get five.

# %%
my_share = 4 / 6
check("weighed_words", my_share)

# %% [markdown]
# (solution-tf-idf)=
# ## TF-IDF by hand
#
# $n_i$ counts texts, not occurrences, hence `counts > 0`. Only a text without words has length 0. Divided by 1, it keeps its zeros.


# %%
def tf_idf(counts):
    n, n_i = len(counts), (counts > 0).sum(dim=0)
    weights = counts * (1 + ((1 + n) / (1 + n_i)).log())
    length = weights.norm(dim=1, keepdim=True)
    return weights / length.masked_fill(length == 0, 1)


check("tf_idf", tf_idf)

# %% [markdown]
# (solution-calibration-error)=
# ## Expected calibration error
#
# Each bin's gap is weighted by its share of the answers. An empty bin has no mean, so skip it.


# %%
def calibration_error(confidence, right, n_bins: int) -> float:
    error = 0.0
    for m in range(1, n_bins + 1):
        inside = (confidence > (m - 1) / n_bins) & (confidence <= m / n_bins)
        if inside.any():
            gap = right[inside].double().mean() - confidence[inside].mean()
            error += inside.double().mean().item() * abs(gap.item())
    return error


check("calibration_error", calibration_error)

# %% [markdown]
# (solution-changed-counts)=
# ## Byte pairs: what a merge changes
#
# Subtract the old pairs of a word and add its new ones: where nothing was merged, both are the same and the change is 0. That
# needs no thought about which tokens are next to each other, and it is correct where two merges meet. With an index of the words that contain a
# pair, this is all that a merge costs.


# %%
def changed_counts(words, counts, pair, new):
    changes = Counter()
    for word, count in zip(words, counts):
        for before in pairwise(word):
            changes[before] -= count
        for after in pairwise(replace_pair(word, pair, new)):
            changes[after] += count
    return sorted((changed, change) for changed, change in changes.items() if change)


check("changed_counts", changed_counts)

# %% [markdown]
# (solution-cls-pooling)=
# ## A [CLS] vector
#
# The new position is the first, so the words and their padding move up by one, and each length grows by one. The new position is not padding: the mask has to let the others see it, and it has to see them.


# %%
def cls_pool(attend, x, lengths, cls):
    x = torch.cat([cls.expand(len(x), 1, -1), x], dim=1)  # (B, T + 1, D)
    real = torch.arange(x.shape[1]) < lengths[:, None] + 1
    return attend(x, real[:, None])[:, 0]


check("cls_pooling", cls_pool)

# %% [markdown]
# (solution-split-by-group)=
# ## Split by group
#
# With a space at either end, a phrase is found only where its words begin and end. `max` keeps the first of equally long phrases. Every phrase contains itself, so each has a group.


# %%
def goes_to_test(phrases: list[str], n_test: int) -> list[bool]:
    homes = []
    for phrase in phrases:
        around = [i for i, other in enumerate(phrases) if f" {phrase} " in f" {other} "]
        homes.append(max(around, key=lambda i: len(phrases[i].split())))
    test = set()
    for group in sorted(set(homes)):
        if sum(home in test for home in homes) < n_test:
            test.add(group)
    return [home in test for home in homes]


check("split_by_group", goes_to_test)

# %% [markdown]
# (solution-gradient-times-input)=
# ## Gradient times input
#
# For a linear model $z = \sum_t w^\top x_t$ the gradient with respect to $x_t$ is $w$, and $x_t \cdot w$ is exactly the amount by which the logit falls if $x_t$ becomes 0. For any other model it is the amount by which one step along the slope would lower it.


# %%
def gradient_times_input(model, x, label):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(model(x)[label], x)
    return (x * gradient).sum(dim=-1).detach()


check("gradient_times_input", gradient_times_input)
