"""Models that are a table, log p (V, V) of the next symbol given the last, to decode from."""

from torch import Tensor

from utils.exercises.checking import random
from utils.seq2seq import BOS, EOS


def chain(vocab_size: int, *symbols: int) -> Tensor:
    """Draw a table in which `symbols` follow each other if the likeliest is always taken."""
    logits = random(vocab_size, vocab_size)
    logits[:, :EOS] -= 20
    for last, following in zip((BOS, *symbols), symbols, strict=False):
        logits[last, following] += 8
    return logits.log_softmax(-1)


def language(vocab_size: int, ending: float) -> Tensor:
    """Draw a table in which any symbol may be followed by EOS, often if `ending` is large."""
    logits = 1.5 * random(vocab_size, vocab_size)
    logits[:, :EOS] -= 20
    logits[:, EOS] += ending
    return logits.log_softmax(-1)
