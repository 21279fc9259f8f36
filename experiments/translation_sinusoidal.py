"""The model of `translation_transformer`, with sines and cosines added in place of rotations."""

from functools import cache

import torch

from utils.lab.translation.task import Task
from utils.seq2seq import forced_weights, greedy_decode
from utils.transformer import Transformer, TransformerConfig, label_smoothing_loss

PARAMETERS = {"pairs": 24_000, "epochs": 5, "seed": [0, 1, 2]}
task = cache(Task)


def measure(pairs: int, epochs: int, seed: int) -> dict:
    given = task(pairs)
    torch.manual_seed(seed)
    config = TransformerConfig(
        len(given.english),
        len(given.chinese),
        d_model=64,
        n_heads=4,
        d_ff=256,
        n_layers=2,
        norm="pre",
        positions="sinusoidal",
        dropout=0.0,
    )
    how = {"epochs": epochs, "seed": seed}
    model = Transformer(config)
    return given.measure(model, label_smoothing_loss, greedy_decode, forced_weights, **how)
