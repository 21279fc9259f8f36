"""Attention to the means of blocks of keys and values, padding left out."""

import math

import torch
from torch import Tensor

from utils.efficient.blocks import attend
from utils.exercises.checking import Exercise
from utils.exercises.efficient_attention.drawn import heads


def pooled_attention(
    query: Tensor, key: Tensor, value: Tensor, key_mask: Tensor, size: int
) -> Tensor:
    """Attend to the mean of each block of `size` neighbours, which counts as one key.

    Shapes: query (B, h, T, d_k), key (B, h, S, d_k), value (B, h, S, d_v), key_mask (B, S), False
    at padding, to (B, h, T, d_v).
    """
    counts = blocks(key_mask, size).sum(2)  # (B, n): real positions of each block
    divisor = counts.clamp(min=1)[:, None, :, None]
    k, v = (sums_of_blocks(x, key_mask, size) / divisor for x in (key, value))
    return attend(query, k, v, (counts > 0)[:, None, None])


def blocks(key_mask: Tensor, size: int) -> Tensor:
    return key_mask.unflatten(1, (-1, size))  # (B, n, size)


def sums_of_blocks(x: Tensor, key_mask: Tensor, size: int) -> Tensor:
    """Sum (B, h, S, d) to (B, h, n, d), leaving padding out."""
    return (x * key_mask[:, None, :, None]).unflatten(2, (-1, size)).sum(3)


exercise = Exercise(pooled_attention)


# What it is tried on ------------------------------------------------------------------------------


def to_pool(B: int, h: int, T: int, S: int, d_k: int, d_v: int, size: int, *lengths: int) -> tuple:
    key_mask = torch.arange(S) < torch.tensor(lengths)[:, None]
    return *heads(B, h, T, S, d_k, d_v), key_mask, size


@exercise.stage("no padding")
def no_padding():
    return [to_pool(1, 1, 2, 6, 3, 2, 3, 6)]


@exercise.stage("padding within a block")
def padding_within_a_block():
    return [to_pool(1, 2, 3, 6, 3, 4, 3, 5)]


@exercise.stage("blocks of nothing but padding")
def empty_blocks():
    return [to_pool(2, 1, 3, 8, 4, 3, 2, 3, 6)]


@exercise.stage("padding in front")
def padding_in_front():
    *inputs, key_mask, size = to_pool(2, 1, 3, 8, 4, 3, 2, 3, 6)
    return [(*inputs, key_mask.flip(1), size)]


@exercise.stage("several sequences")
def several_sequences():
    return [to_pool(3, 2, 4, 12, 5, 3, 4, 7, 12, 2), to_pool(2, 3, 5, 10, 4, 6, 2, 10, 7)]


# What goes wrong ----------------------------------------------------------------------------------


def means(key_mask: Tensor, size: int, *tensors: Tensor) -> list[Tensor]:
    """Return the means over the real positions of each block, 0 where there are none."""
    divisor = blocks(key_mask, size).sum(2).clamp(min=1)[:, None, :, None]
    return [sums_of_blocks(x, key_mask, size) / divisor for x in tensors]


def plain_means(size: int, *tensors: Tensor) -> list[Tensor]:
    """Return the means of all positions of each block."""
    return [x.unflatten(2, (-1, size)).mean(3) for x in tensors]


@exercise.mistake("your means include padding.")
def padding_in_the_means(query, key, value, key_mask, size):
    real = blocks(key_mask, size).any(2)[:, None, None]
    return attend(query, *plain_means(size, key, value), real)


@exercise.mistake("you leave padding out of the sum, but count it in the divisor.")
def padding_in_the_denominator(query, key, value, key_mask, size):
    real = blocks(key_mask, size).any(2)[:, None, None]
    k, v = (sums_of_blocks(x, key_mask, size) / size for x in (key, value))
    return attend(query, k, v, real)


@exercise.mistake("a block of nothing but padding gets weight: its score is 0 and should be -∞.")
def empty_blocks_seen(query, key, value, key_mask, size):
    return attend(query, *means(key_mask, size, key, value))


@exercise.mistake(
    "a block of nothing but padding has no mean: 0 / 0 is NaN, and so is NaN times a weight of 0."
)
def divided_by_0(query, key, value, key_mask, size):
    counts = blocks(key_mask, size).sum(2)[:, None, :, None]
    k, v = (sums_of_blocks(x, key_mask, size) / counts for x in (key, value))
    real = (counts > 0).mT  # (B, 1, 1, n)
    scores = (query @ k.mT / math.sqrt(query.shape[3])).masked_fill(~real, -math.inf)
    return scores.softmax(-1) @ v


@exercise.mistake(
    "your blocks count by their number of positions: here each mean counts as one key."
)
def by_size_of_block(query, key, value, key_mask, size):
    k, v = means(key_mask, size, key, value)
    counts = blocks(key_mask, size).sum(2)[:, None, None].to(query)
    scores = query @ k.mT / math.sqrt(query.shape[3]) + counts.log()
    return scores.softmax(-1) @ v


@exercise.mistake("you use the mask as a length: padding may come first, too.")
def mask_as_length(query, key, value, key_mask, size):
    key_mask = torch.arange(key_mask.shape[1]) < key_mask.sum(1, keepdim=True)
    return pooled_attention(query, key, value, key_mask, size)


@exercise.mistake("you leave out a whole block for some padding: leave out its padding only.")
def whole_blocks_alone(query, key, value, key_mask, size):
    whole = blocks(key_mask, size).all(2)[:, None, None]
    return attend(query, *plain_means(size, key, value), whole)


@exercise.mistake("your blocks don't hold neighbours: each takes positions from everywhere.")
def interleaved(query, key, value, key_mask, size):
    key, value = (x.unflatten(2, (size, -1)).transpose(2, 3).flatten(2, 3) for x in (key, value))
    key_mask = key_mask.unflatten(1, (size, -1)).mT.flatten(1)
    return pooled_attention(query, key, value, key_mask, size)


@exercise.mistake("the scores are not scaled.")
def not_scaled(query, key, value, key_mask, size):
    return pooled_attention(query * math.sqrt(query.shape[3]), key, value, key_mask, size)


@exercise.mistake("the mask changes nothing: padding is in the means, and forms blocks of its own.")
def mask_ignored(query, key, value, key_mask, size):
    return attend(query, *plain_means(size, key, value))


@exercise.mistake("these are the sums of the blocks: divide by the number of positions.")
def sums_for_means(query, key, value, key_mask, size):
    k, v = (sums_of_blocks(x, key_mask, size) for x in (key, value))
    return attend(query, k, v, blocks(key_mask, size).any(2)[:, None, None])


@exercise.mistake("the keys are means, and the values are sums: both should be means.")
def values_summed(query, key, value, key_mask, size):
    (k,) = means(key_mask, size, key)
    real = blocks(key_mask, size).any(2)[:, None, None]
    return attend(query, k, sums_of_blocks(value, key_mask, size), real)


@exercise.mistake("that is attention to every single key: you don't average anything.")
def nothing_pooled(query, key, value, key_mask, size):
    return attend(query, key, value, key_mask[:, None, None])


@exercise.mistake("you take the largest numbers of each block: take their mean.")
def largest_of_each(query, key, value, key_mask, size):
    k, v = (
        x.masked_fill(~key_mask[:, None, :, None], -1e9).unflatten(2, (-1, size)).amax(3)
        for x in (key, value)
    )
    return attend(query, k, v, (blocks(key_mask, size).sum(2) > 0)[:, None, None])
