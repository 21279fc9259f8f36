"""Day 8: tokens, the symbols that a model reads, in order: `splitting`, `merges`, `indexed`,
`byte_pairs`, `tables`, `published`."""

from utils.tokens.byte_pairs import BytePairs
from utils.tokens.indexed import learn_merges_indexed
from utils.tokens.merges import byte_words, learn_merges, merge_step, replace_pair
from utils.tokens.published import read_byte_pairs
from utils.tokens.splitting import characters, pre_tokens, words

__all__ = [
    "BytePairs",
    "byte_words",
    "characters",
    "learn_merges",
    "learn_merges_indexed",
    "merge_step",
    "pre_tokens",
    "read_byte_pairs",
    "replace_pair",
    "words",
]
