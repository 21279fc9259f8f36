"""From English into Chinese: how much is exactly right with attention, and without it?

The decoder is that of Luong et al. (2015). `aer` is the alignment error rate of the largest
weights; "aer, threshold" that of all weights above a threshold, picked on validation data.
"""

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
    "score": ["none", "dot", "scaled dot", "general", "additive"],
    "pairs": 24_000,
    "epochs": 6,
    "seed": [0, 1, 2],
}
SHORT = {"pairs": 200, "epochs": 1}
task = cache(Task)


def measure(score: str, pairs: int, epochs: int, seed: int) -> dict:
    given = task(pairs)
    torch.manual_seed(seed)
    kind = None if score == "none" else score
    config = Seq2SeqConfig(
        len(given.english), len(given.chinese), attention=kind, style="Luong", dropout=0.1
    )
    align = forced_weights if kind else None
    how = {"epochs": epochs, "seed": seed}
    return given.measure(Seq2Seq(config), sequence_loss, greedy_decode, align, **how)
