"""How far back can a recurrent network learn to remember, if it only ever sees the full distance?

All networks have about as many parameters as the RNN. A network that keeps begins with gates that
hold its memory for about as long as the sequence: a bias of log(length) (Tallec & Ollivier, 2018).
"""

import math

import torch

from utils.recurrent import GRU, LSTM, RNN, SequenceClassifier
from utils.tasks.memory import train_recall

PARAMETERS = {
    "layer": ["RNN", "GRU", "GRU, keeping", "LSTM, bias 0", "LSTM, bias 1", "LSTM, keeping"],
    "length": [10, 20, 50, 100],
    "rounds": 12,  # of 50 steps
    "seed": [0, 1, 2],
}
SHORT = {"rounds": 1}


def build(layer: str, length: int) -> torch.nn.Module:
    if layer == "RNN":
        return RNN(8, 112)
    if layer.startswith("GRU"):
        gru = GRU(8, 62)
        if layer == "GRU, keeping":
            with torch.no_grad():
                gru.b[62:124] += math.log(length)  # of z: h_t = (1 - z) n + z h_{t-1}
        return gru
    bias = math.log(length) if layer == "LSTM, keeping" else float(layer[-1])
    return LSTM(8, 53, forget_bias=bias)


def measure(layer: str, length: int, rounds: int, seed: int) -> dict:
    torch.manual_seed(seed)
    model = SequenceClassifier(4, 8, build(layer, length), 4)
    steps, right = train_recall(model, length, seed=seed, rounds=rounds)
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "steps": steps,
        "test": right,
    }
