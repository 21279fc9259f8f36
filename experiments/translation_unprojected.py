"""The models of `translation`, with the sum of tanh(h + s) as a score.

It is an additive score without its projections and its v.
"""

from functools import cache

import torch
from torch import Tensor

from utils.attention import Attention, Score
from utils.seq2seq import (
    Seq2Seq,
    Seq2SeqConfig,
    forced_weights,
    greedy_decode,
    sequence_loss,
)
from utils.tasks.translation import Task

PARAMETERS = {"pairs": 24_000, "epochs": 6, "seed": [0, 1, 2]}
SHORT = {"pairs": 200, "epochs": 1}
task = cache(Task)


class NoWeights(Score):
    """The sum of tanh(h + s) over the width."""

    def compare(self, query: Tensor, prepared: Tensor) -> Tensor:
        return (query[:, :, None] + prepared[:, None]).tanh().sum(dim=-1)


def measure(pairs: int, epochs: int, seed: int) -> dict:
    given = task(pairs)
    torch.manual_seed(seed)
    config = Seq2SeqConfig(
        len(given.english), len(given.chinese), attention="dot", style="Luong", dropout=0.1
    )
    model = Seq2Seq(config)
    model.decoder.attention = Attention(NoWeights())
    how = {"epochs": epochs, "seed": seed}
    return given.measure(model, sequence_loss, greedy_decode, forced_weights, **how)
