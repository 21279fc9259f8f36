"""The same question as recall_fixed, where training also shows shorter distances.

Each batch has a length of its own, up to the full one, the short ones being as frequent as the long
ones. All networks have about as many parameters as the RNN.
"""

import torch

from utils.recurrent import GRU, LSTM, RNN, SequenceClassifier
from utils.tasks.memory import train_recall

PARAMETERS = {
    "layer": ["RNN", "GRU", "LSTM"],
    "length": [50, 100, 200, 400],
    "seed": [0, 1, 2],
}
SHORT = {"length": 8}

LAYERS = {"RNN": (RNN, 112), "GRU": (GRU, 62), "LSTM": (LSTM, 53)}


def measure(layer: str, length: int, seed: int) -> dict:
    torch.manual_seed(seed)
    kind, hidden_size = LAYERS[layer]
    model = SequenceClassifier(4, 8, kind(8, hidden_size), 4)
    steps, right = train_recall(model, length, mixed_lengths=True, seed=seed)
    parameters = sum(p.numel() for p in model.parameters())
    return {"parameters": parameters, "steps": steps, "test": right}
