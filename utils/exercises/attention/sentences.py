"""Padded sentences, on which several exercises of the day are tried."""

import torch
from torch import Tensor

from utils.seq2seq import EOS, PAD


def sentences(vocab_size: int, width: int, *lengths: int) -> Tensor:
    """Draw ids (B, width) of symbols, with PAD behind each sentence's length."""
    ids = torch.randint(EOS + 1, vocab_size, (len(lengths), width))
    return ids.masked_fill(torch.arange(width) >= torch.tensor(lengths)[:, None], PAD)
