"""The dates of `dates`, with the locale told, read by Day 6's Transformer."""

import numpy as np
import torch

from utils.seq2seq import greedy_decode
from utils.tasks.dates import DateTask, sample
from utils.transformer import Transformer, TransformerConfig, label_smoothing_loss

PARAMETERS = {"locale": True, "pairs": 24_000, "epochs": 3, "seed": [0, 1, 2]}
SHORT = {"pairs": 500, "epochs": 1}


def data() -> list[np.ndarray]:
    return sample()


def measure(locale: bool, pairs: int, epochs: int, seed: int) -> dict:
    task = DateTask(pairs, locale=locale, seed=seed)
    torch.manual_seed(seed)
    config = TransformerConfig(
        len(task.texts),
        len(task.dates),
        d_model=64,
        n_heads=4,
        d_ff=128,
        n_layers=2,
        norm="pre",
        positions="rotary",
        dropout=0.0,
    )
    how = {"epochs": epochs, "seed": seed}
    return task.measure(Transformer(config), label_smoothing_loss, greedy_decode, **how)
