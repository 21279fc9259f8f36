"""RNN, GRU and LSTM with about as many parameters learn to write Python's manual.

Losses in nats a character. The text differs a little between releases of Python, and so do they.
"""

import numpy as np
import torch
from torch.nn import functional as F

from utils.lab.recipes import stream, train_characters
from utils.lab.text import Vocabulary, manual_text
from utils.lab.training import evaluate
from utils.recurrent import GRU, LSTM, RNN, LanguageModel, Streaming

VARIES_WITH_PYTHON = True  # the manual
PARAMETERS = {"layer": ["RNN", "GRU", "LSTM"], "epochs": 6, "seed": [0, 1, 2]}
LAYERS = {"RNN": (RNN, 256), "GRU": (GRU, 140), "LSTM": (LSTM, 120)}


def texts() -> list[torch.Tensor]:
    """Ids of the three parts."""
    parts = [manual_text(part) for part in ("train", "validation", "test")]
    vocabulary = Vocabulary(parts[0])
    return [torch.tensor(vocabulary.encode(part)) for part in parts]


def data() -> list[np.ndarray]:
    return [ids.numpy() for ids in texts()]


def measure(layer: str, epochs: int, seed: int) -> dict:
    train, validation, test = texts()
    torch.manual_seed(seed)
    kind, hidden_size = LAYERS[layer]
    model = Streaming(LanguageModel(int(train.max()) + 1, 32, kind(32, hidden_size)))
    history = train_characters(model, train, validation, epochs=epochs, seed=seed)
    nats = evaluate(model, stream(test, 16, len(test)), F.cross_entropy)["loss"]
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "seconds": history.seconds,
        "validation": history.validation["loss"],
        "test": nats,
    }
