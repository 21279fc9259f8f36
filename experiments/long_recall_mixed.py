"""The first of 1024 symbols, if training shows shorter distances too, as in recall_mixed.

The encoder is that of long_recall; the RNN and the LSTM have about as many parameters.
"""

import torch

from utils.recurrent import LSTM, RNN, SequenceClassifier
from utils.tasks.memory import train_recall
from utils.transformer import EncoderOnly, TransformerConfig

PARAMETERS = {"model": ["RNN", "LSTM", "Transformer"], "length": 1024, "seed": [0, 1, 2]}
SHORT = {"length": 8}
LAYERS = {"RNN": (RNN, 112), "LSTM": (LSTM, 53)}


def build(model: str) -> torch.nn.Module:
    if model in LAYERS:
        kind, hidden_size = LAYERS[model]
        return SequenceClassifier(4, 8, kind(8, hidden_size), 4)
    config = TransformerConfig(
        4, d_model=32, n_heads=1, d_ff=144, n_layers=1, norm="pre", dropout=0.0
    )
    return EncoderOnly(config, 4)


def measure(model: str, length: int, seed: int) -> dict:
    torch.manual_seed(seed)
    built = build(model)
    steps, right = train_recall(built, length, mixed_lengths=True, seed=seed)
    parameters = sum(p.numel() for p in built.parameters())
    return {"parameters": parameters, "steps": steps, "test": right}
