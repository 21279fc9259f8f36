"""The model of `translation` without attention: does a wider vector hold longer sentences?"""

from functools import cache

import torch

from utils.seq2seq import (
    Seq2Seq,
    Seq2SeqConfig,
    greedy_decode,
    sequence_loss,
)
from utils.tasks.translation import Task

PARAMETERS = {"hidden_size": 256, "pairs": 24_000, "epochs": 6, "seed": [0, 1, 2]}
SHORT = {"pairs": 200, "epochs": 1}
task = cache(Task)


def measure(hidden_size: int, pairs: int, epochs: int, seed: int) -> dict:
    given = task(pairs)
    torch.manual_seed(seed)
    config = Seq2SeqConfig(
        len(given.english),
        len(given.chinese),
        hidden_size=hidden_size,
        attention=None,
        dropout=0.1,
    )
    how = {"epochs": epochs, "seed": seed}
    return given.measure(Seq2Seq(config), sequence_loss, greedy_decode, **how)
