"""How far back does attention learn to look, if it only ever sees the full distance?

The task, the training and about as many parameters as in recall_fixed, for an encoder of one block
and one head, which answers from the mean of what it made of each symbol.
"""

import torch

from utils.tasks.memory import train_recall
from utils.transformer import EncoderOnly, TransformerConfig

PARAMETERS = {"length": 512, "rounds": 12, "seed": [0, 1, 2]}  # of 50 steps
SHORT = {"length": 64, "rounds": 1}


def measure(length: int, rounds: int, seed: int) -> dict:
    torch.manual_seed(seed)
    config = TransformerConfig(
        4, d_model=32, n_heads=1, d_ff=144, n_layers=1, norm="pre", dropout=0.0
    )
    model = EncoderOnly(config, 4)
    steps, right = train_recall(model, length, seed=seed, rounds=rounds)
    parameters = sum(p.numel() for p in model.parameters())
    return {"parameters": parameters, "steps": steps, "test": right}
