"""GPT's forward pass: a table, blocks, a norm, and the table once more."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def gpt(ids: Tensor, table: Tensor, blocks: Sequence[Callable], norm: Callable) -> Tensor:
    """Return the logits of what follows each token.

    Shapes: ids (B, T), table (V, D); blocks and norm take (B, T, D) to the same; to (B, T, V).
    """
    x = math.sqrt(table.shape[1]) * table[ids]
    for block in blocks:
        x = block(x)
    return norm(x) @ table.T


exercise = Exercise(gpt, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def back(gain: float) -> Callable:
    """A block that adds to each position something of those before it, and of its size."""

    def block(x: Tensor) -> Tensor:
        return x + gain * torch.tanh(x.cumsum(1)) + 0.1 * x.square()

    return block


def norm(x: Tensor) -> Tensor:
    return 1.3 * torch.nn.functional.layer_norm(x, x.shape[-1:]) + 0.2


BLOCKS = [back(0.5), back(-0.8), back(1.2)]


def given(B: int, T: int, V: int, D: int, n_blocks: int) -> tuple:
    return torch.randint(V, (B, T)), random(V, D), BLOCKS[:n_blocks], norm


@exercise.stage("one block")
def one_block():
    return [given(1, 2, 3, 5, 1), given(1, 3, 6, 4, 1)]


@exercise.stage("several blocks and texts")
def several_blocks():
    return [given(2, 5, 7, 3, 2), given(3, 4, 6, 5, 3)]


@exercise.stage("as many tokens as there are numbers in a vector")
def square():
    return [given(2, 4, 4, 4, 2)]


@exercise.stage("one token, no block")
def no_block():
    return [given(1, 1, 3, 4, 0)]


# What goes wrong ----------------------------------------------------------------------------------


def through(x: Tensor, blocks: Sequence[Callable]) -> Tensor:
    for block in blocks:
        x = block(x)
    return x


def wrapped(blocks: Sequence[Callable], how: Callable) -> list[Callable]:
    """Blocks x -> how(block, x)."""
    return [partial(how, block) for block in blocks]


def embedded(ids: Tensor, table: Tensor) -> Tensor:
    return math.sqrt(table.shape[1]) * table[ids]


@exercise.mistake("the vectors enter as the table has them, √D times too small.")
def not_scaled(ids, table, blocks, norm):
    return norm(through(table[ids], blocks)) @ table.T


@exercise.mistake("divided by √D: the table's numbers are small, and made larger when read.")
def scaled_down(ids, table, blocks, norm):
    return norm(through(table[ids] / math.sqrt(table.shape[1]), blocks)) @ table.T


@exercise.mistake("the factor is the root of D, not D itself.")
def scaled_by_the_width(ids, table, blocks, norm):
    return norm(through(table.shape[1] * table[ids], blocks)) @ table.T


@exercise.mistake("the root is that of the vocabulary's size: the factor is √D, of the width.")
def scaled_by_the_vocabulary(ids, table, blocks, norm):
    return norm(through(math.sqrt(len(table)) * table[ids], blocks)) @ table.T


@exercise.mistake("the root is that of the number of tokens: the factor is √D, of the width.")
def scaled_by_the_length(ids, table, blocks, norm):
    return norm(through(math.sqrt(ids.shape[1]) * table[ids], blocks)) @ table.T


@exercise.mistake("the last norm is missing: nothing has brought the stream to size.")
def no_norm(ids, table, blocks, norm):
    return through(embedded(ids, table), blocks) @ table.T


@exercise.mistake("the norm stands in front of the blocks: it belongs behind the last one.")
def norm_first(ids, table, blocks, norm):
    return through(norm(embedded(ids, table)), blocks) @ table.T


@exercise.mistake(
    "a norm after each block: they have their own, and only the last is followed by one more."
)
def norm_after_each(ids, table, blocks, norm):
    blocks = wrapped(blocks, lambda block, x: norm(block(x)))
    return through(embedded(ids, table), blocks) @ table.T


@exercise.mistake(
    "a norm after each block and one at the end: only the one at the end belongs here."
)
def norm_after_each_and_at_the_end(ids, table, blocks, norm):
    return gpt(ids, table, wrapped(blocks, lambda block, x: norm(block(x))), norm)


@exercise.mistake("each block reads the embedding: it should read what the block before has left.")
def blocks_side_by_side(ids, table, blocks, norm):
    x = y = embedded(ids, table)
    for block in blocks:
        y = block(x)
    return norm(y) @ table.T


@exercise.mistake("blocks add to the stream by themselves: x = block(x), not x + block(x).")
def added_twice(ids, table, blocks, norm):
    return gpt(ids, table, wrapped(blocks, lambda block, x: x + block(x)), norm)


@exercise.mistake("the blocks run from the last to the first.")
def reversed_blocks(ids, table, blocks, norm):
    return norm(through(embedded(ids, table), blocks[::-1])) @ table.T


@exercise.mistake("these are chances: logits come before the softmax, which the loss takes.")
def softmax(ids, table, blocks, norm):
    return gpt(ids, table, blocks, norm).softmax(-1)


@exercise.mistake("only the last position speaks: each one has something to say.")
def last_position(ids, table, blocks, norm):
    return gpt(ids, table, blocks, norm)[:, -1]


@exercise.mistake("what comes out is still D wide: the table turns it into V logits.")
def no_output(ids, table, blocks, norm):
    return norm(through(embedded(ids, table), blocks))


@exercise.mistake("the factor √D is for what enters; the table scores as it is.")
def scaled_at_the_output_too(ids, table, blocks, norm):
    return math.sqrt(table.shape[1]) * gpt(ids, table, blocks, norm)


@exercise.mistake("only the first block ran: is `return` inside the loop?")
def returned_in_the_loop(ids, table, blocks, norm):
    return gpt(ids, table, blocks[:1], norm)


@exercise.mistake("the blocks run, but what they return is thrown away: x = block(x).")
def thrown_away(ids, table, blocks, norm):
    return gpt(ids, table, [], norm)


@exercise.mistake(
    "you divide the logits by √D, as attention does with its scores; here nothing is."
)
def logits_scaled_down(ids, table, blocks, norm):
    return gpt(ids, table, blocks, norm) / math.sqrt(table.shape[1])


@exercise.mistake(
    "these are log-probabilities: logits come before the softmax, which the loss takes."
)
def log_softmax(ids, table, blocks, norm):
    return gpt(ids, table, blocks, norm).log_softmax(-1)


@exercise.mistake("a norm before the first block, too: only the last block is followed by one.")
def norm_at_both_ends(ids, table, blocks, norm):
    return norm(through(norm(embedded(ids, table)), blocks)) @ table.T


@exercise.mistake(
    "a norm in front of each block: they have norms of their own, and only the last is followed by "
    "one more."
)
def norm_before_each(ids, table, blocks, norm):
    blocks = wrapped(blocks, lambda block, x: block(norm(x)))
    return through(embedded(ids, table), blocks) @ table.T


@exercise.mistake(
    "a norm in front of each block and one at the end: only the one at the end belongs here."
)
def norm_before_each_and_at_the_end(ids, table, blocks, norm):
    return gpt(ids, table, wrapped(blocks, lambda block, x: block(norm(x))), norm)


@exercise.mistake(
    "x + block(norm(x)) happens inside a block, for each of its two layers: here it is x = "
    "block(x)."
)
def pre_norm_around_blocks(ids, table, blocks, norm):
    return gpt(ids, table, wrapped(blocks, lambda block, x: x + block(norm(x))), norm)


@exercise.mistake("the norm comes after the output: it belongs between the blocks and the table.")
def norm_of_logits(ids, table, blocks, norm):
    return norm(through(embedded(ids, table), blocks) @ table.T)


@exercise.mistake("the factor √D is applied again in front of each block: once, at the embedding.")
def scaled_before_each(ids, table, blocks, norm):
    factor = math.sqrt(table.shape[1])
    return gpt(ids, table, wrapped(blocks, lambda block, x: block(factor * x)), norm)


@exercise.mistake("`blocks` is a list, not a function: go through it, x = block(x) for each block.")
def list_called(ids, table, blocks, norm):
    return norm(blocks(embedded(ids, table))) @ table.T


@exercise.mistake("inside the loop you call `blocks`, the list: call the one block of this round.")
def list_called_in_the_loop(ids, table, blocks, norm):
    return gpt(ids, table, [blocks] * len(blocks), norm)


@exercise.mistake(
    "√D stands in the loop, in front of each block: it is applied once, as the vectors enter."
)
def scaled_in_the_loop(ids, table, blocks, norm):
    factor = math.sqrt(table.shape[1])
    blocks = wrapped(blocks, lambda block, x: block(factor * x))
    return norm(through(table[ids], blocks)) @ table.T


@exercise.mistake(
    "√D stands in the loop, behind each block: it is applied once, as the vectors enter."
)
def scaled_after_each(ids, table, blocks, norm):
    factor = math.sqrt(table.shape[1])
    blocks = wrapped(blocks, lambda block, x: factor * block(x))
    return norm(through(table[ids], blocks)) @ table.T


@exercise.mistake(
    "the factor √D is applied again behind each block: once, as the vectors enter, is enough."
)
def scaled_after_each_too(ids, table, blocks, norm):
    factor = math.sqrt(table.shape[1])
    return gpt(ids, table, wrapped(blocks, lambda block, x: factor * block(x)), norm)


@exercise.mistake(
    "√D comes behind the blocks, where the norm undoes it: it belongs in front of the first."
)
def scaled_behind_the_blocks(ids, table, blocks, norm):
    return norm(math.sqrt(table.shape[1]) * through(table[ids], blocks)) @ table.T


@exercise.mistake(
    "√D multiplies what comes out: it belongs at the entrance, and the table scores as it is."
)
def scaled_at_the_output_alone(ids, table, blocks, norm):
    return math.sqrt(table.shape[1]) * norm(through(table[ids], blocks)) @ table.T


@exercise.mistake(
    "you look up positions, `arange(T)`: the vectors that enter are the tokens', table[ids]."
)
def positions_looked_up(ids, table, blocks, norm):
    return gpt(torch.arange(ids.shape[1]), table, blocks, norm)


@exercise.mistake(
    "each text gets the vectors of 0, 1, 2, …, its positions: look up its tokens, table[ids]."
)
def positions_of_each_text(ids, table, blocks, norm):
    return gpt(torch.arange(ids.shape[1]).expand_as(ids), table, blocks, norm)


@exercise.mistake(
    "the table has rows for tokens, none for positions: leave these to the blocks, which bring "
    "their own."
)
def positions_added(ids, table, blocks, norm):
    x = embedded(ids, table) + table[torch.arange(ids.shape[1])]
    return norm(through(x, blocks)) @ table.T
