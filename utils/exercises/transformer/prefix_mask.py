"""The mask of a prefix model: an encoder and a decoder in one."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise


def prefix_mask(prefixes: Tensor, lengths: Tensor, T: int) -> Tensor:
    """Return True where a query may see a key: a real one, in the prefix or not later.

    Shapes: prefixes (B,) and lengths (B,) to (B, T, T), one row per query.
    """
    causal, key = causal_and_key(T)
    seen = causal | (key < prefixes[:, None, None])
    return seen & (key < lengths[:, None, None])


def causal_and_key(T: int) -> tuple[Tensor, Tensor]:
    at = torch.arange(T)
    return at[None] <= at[:, None], at[None]  # query, key: (T, T), and (1, T)


exercise = Exercise(prefix_mask, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def texts(prefixes: list[int], lengths: list[int], T: int) -> tuple[Tensor, Tensor, int]:
    return torch.tensor(prefixes), torch.tensor(lengths), T


@exercise.stage("one text without padding")
def no_padding():
    return [texts([2], [4], 4)]


@exercise.stage("one text with padding")
def padding():
    return [texts([2], [4], 6)]


@exercise.stage("several texts")
def several_texts():
    return [texts([1, 3, 2], [5, 4, 7], 7), texts([4, 2], [4, 6], 6)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("that is a decoder's mask: the prefix is known from the start, all of it.")
def causal_alone(prefixes, lengths, T):
    return prefix_mask(0 * prefixes, lengths, T)


@exercise.mistake("that is an encoder's mask: what is yet to be written can be seen.")
def nothing_causal(prefixes, lengths, T):
    return prefix_mask(lengths, lengths, T)


@exercise.mistake("the prefix is one longer than it should be: how many positions are in it?")
def one_more(prefixes, lengths, T):
    return prefix_mask(prefixes + 1, lengths, T)


@exercise.mistake("the prefix is one shorter than it should be: how many positions are in it?")
def one_less(prefixes, lengths, T):
    return prefix_mask(prefixes - 1, lengths, T)


@exercise.mistake(
    "you open the rows of the prefix: it would see what is yet to be written. Which axis are the "
    "keys?"
)
def rows_opened(prefixes, lengths, T):
    causal, key = causal_and_key(T)
    seen = causal | (key.T < prefixes[:, None, None])
    return seen & (key < lengths[:, None, None])


@exercise.mistake("behind the prefix, each position sees what comes after it.")
def future(prefixes, lengths, T):
    causal, key = causal_and_key(T)
    seen = causal.T | (key < prefixes[:, None, None])
    return seen & (key < lengths[:, None, None])


@exercise.mistake("the padding can be seen: which keys are real?")
def padding_seen(prefixes, lengths, T):
    return prefix_mask(prefixes, torch.full_like(lengths, T), T)


@exercise.mistake(
    "you took away what padded queries see: padding is hidden as a key; its own rows follow the "
    "rule."
)
def padded_queries_hidden(prefixes, lengths, T):
    _, key = causal_and_key(T)
    return prefix_mask(prefixes, lengths, T) & (key.T < lengths[:, None, None])


@exercise.mistake("behind the prefix, a position should see itself, too.")
def not_itself(prefixes, lengths, T):
    causal, key = causal_and_key(T)
    seen = causal.tril(-1) | (key < prefixes[:, None, None])
    return seen & (key < lengths[:, None, None])


@exercise.mistake("you ask for both: one reason to be seen is enough.")
def both_reasons(prefixes, lengths, T):
    causal, key = causal_and_key(T)
    return causal & (key < prefixes[:, None, None]) & (key < lengths[:, None, None])


@exercise.mistake("your mask says what is hidden; the book's say what may be seen.")
def inverted(prefixes, lengths, T):
    return ~prefix_mask(prefixes, lengths, T)


@exercise.mistake("rows and columns are exchanged: a row belongs to a query.")
def transposed(prefixes, lengths, T):
    return prefix_mask(prefixes, lengths, T).mT


@exercise.mistake("the first position of the padding can be seen: how many positions are real?")
def one_more_real(prefixes, lengths, T):
    return prefix_mask(prefixes, lengths + 1, T)


@exercise.mistake("the last symbol is hidden like padding: how many positions are real?")
def one_less_real(prefixes, lengths, T):
    return prefix_mask(prefixes, lengths - 1, T)


@exercise.mistake("`lengths` counts the prefix already: you add it once more, and padding is seen.")
def prefix_counted_twice(prefixes, lengths, T):
    return prefix_mask(prefixes, prefixes + lengths, T)


@exercise.mistake(
    "behind the prefix, nobody sees the prefix: it was given so that the rest can go on from it."
)
def prefix_apart(prefixes, lengths, T):
    _, key = causal_and_key(T)
    query_behind = key.T >= prefixes[:, None, None]
    return prefix_mask(prefixes, lengths, T) & (~query_behind | (key >= prefixes[:, None, None]))


@exercise.mistake("all texts get the first one's prefix: each has a prefix of its own.")
def one_prefix(prefixes, lengths, T):
    return prefix_mask(prefixes[:1].expand_as(prefixes), lengths, T)
