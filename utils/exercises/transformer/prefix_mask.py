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


@exercise.mistake("that is a decoder's mask: here the whole prefix is known from the start.")
def causal_alone(prefixes, lengths, T):
    return prefix_mask(0 * prefixes, lengths, T)


@exercise.mistake("that is an encoder's mask: it shows words that are yet to be written.")
def nothing_causal(prefixes, lengths, T):
    return prefix_mask(lengths, lengths, T)


@exercise.mistake("your prefix is one position too long: how many are in it?")
def one_more(prefixes, lengths, T):
    return prefix_mask(prefixes + 1, lengths, T)


@exercise.mistake("your prefix is one position too short: how many are in it?")
def one_less(prefixes, lengths, T):
    return prefix_mask(prefixes - 1, lengths, T)


@exercise.mistake(
    "you open the rows of the prefix, so it sees words that are yet to be written. Which axis are "
    "the keys?"
)
def rows_opened(prefixes, lengths, T):
    causal, key = causal_and_key(T)
    seen = causal | (key.T < prefixes[:, None, None])
    return seen & (key < lengths[:, None, None])


@exercise.mistake("after the prefix, each of your positions sees the ones after it.")
def future(prefixes, lengths, T):
    causal, key = causal_and_key(T)
    seen = causal.T | (key < prefixes[:, None, None])
    return seen & (key < lengths[:, None, None])


@exercise.mistake("the padding can be seen: which keys are real?")
def padding_seen(prefixes, lengths, T):
    return prefix_mask(prefixes, torch.full_like(lengths, T), T)


@exercise.mistake(
    "you emptied the rows of padded queries: padding is hidden as a key, but its own rows follow "
    "the rule."
)
def padded_queries_hidden(prefixes, lengths, T):
    _, key = causal_and_key(T)
    return prefix_mask(prefixes, lengths, T) & (key.T < lengths[:, None, None])


@exercise.mistake("after the prefix, a position should see itself, too.")
def not_itself(prefixes, lengths, T):
    causal, key = causal_and_key(T)
    seen = causal.tril(-1) | (key < prefixes[:, None, None])
    return seen & (key < lengths[:, None, None])


@exercise.mistake("you require both conditions: one of them is enough for a key to be seen.")
def both_reasons(prefixes, lengths, T):
    causal, key = causal_and_key(T)
    return causal & (key < prefixes[:, None, None]) & (key < lengths[:, None, None])


@exercise.mistake(
    "your mask is True where a key is hidden; it should be True where a key may be seen."
)
def inverted(prefixes, lengths, T):
    return ~prefix_mask(prefixes, lengths, T)


@exercise.mistake("you exchanged rows and columns: each row belongs to a query.")
def transposed(prefixes, lengths, T):
    return prefix_mask(prefixes, lengths, T).mT


@exercise.mistake("the first padded position can be seen: how many positions are real?")
def one_more_real(prefixes, lengths, T):
    return prefix_mask(prefixes, lengths + 1, T)


@exercise.mistake("the last symbol is hidden as if it were padding: how many positions are real?")
def one_less_real(prefixes, lengths, T):
    return prefix_mask(prefixes, lengths - 1, T)


@exercise.mistake("`lengths` includes the prefix already: you add it again, so padding is seen.")
def prefix_counted_twice(prefixes, lengths, T):
    return prefix_mask(prefixes, prefixes + lengths, T)


@exercise.mistake(
    "after the prefix, your positions don't see the prefix: they should continue from it."
)
def prefix_apart(prefixes, lengths, T):
    _, key = causal_and_key(T)
    query_behind = key.T >= prefixes[:, None, None]
    return prefix_mask(prefixes, lengths, T) & (~query_behind | (key >= prefixes[:, None, None]))


@exercise.mistake("all texts get the first one's prefix: each has its own.")
def one_prefix(prefixes, lengths, T):
    return prefix_mask(prefixes[:1].expand_as(prefixes), lengths, T)


@exercise.mistake("all texts are as long as the longest in yours: each has its own length.")
def longest_for_all(prefixes, lengths, T):
    return prefix_mask(prefixes, lengths.max().expand_as(lengths), T)


@exercise.mistake("padding is hidden in any case: join that condition with &, not with |.")
def padding_joined_by_or(prefixes, lengths, T):
    causal, key = causal_and_key(T)
    return causal | (key < prefixes[:, None, None]) | (key < lengths[:, None, None])


@exercise.mistake(
    "your mask says which keys are real: each query needs a row of its own, (B, T, T)."
)
def keys_alone(prefixes, lengths, T):
    return torch.arange(T) < lengths[:, None]
