"""The models of `translation`, with three scores that are products."""

from functools import cache

import torch

from utils.seq2seq import (
    Seq2Seq,
    Seq2SeqConfig,
    forced_weights,
    greedy_decode,
    sequence_loss,
)
from utils.tasks.translation import Task

PARAMETERS = {
    "score": ["dot", "scaled dot", "general"],
    "pairs": 24_000,
    "epochs": 6,
    "seed": [0, 1, 2],
}
task = cache(Task)


def measure(score: str, pairs: int, epochs: int, seed: int) -> dict:
    given = task(pairs)
    torch.manual_seed(seed)
    config = Seq2SeqConfig(
        len(given.english), len(given.chinese), attention=score, style="Luong", dropout=0.1
    )
    how = {"epochs": epochs, "seed": seed}
    return given.measure(Seq2Seq(config), sequence_loss, greedy_decode, forced_weights, **how)
