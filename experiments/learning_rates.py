"""RNN, GRU and LSTM with equally many parameters learn text, each at five learning rates.

The best rate for one kind of layer is not the best for another. With one rate for all, a comparison
tells more about the rate. Losses in nats a character; seconds of one core's work. The text differs
a little between releases of Python, and so do they.
"""

import time

import numpy as np
import torch
from torch.nn import functional as F

from utils.data.docstrings import docstring_text
from utils.data.text import Vocabulary, stream
from utils.recurrent import GRU, LSTM, RNN, LanguageModel, Streaming
from utils.tasks.characters import train_characters
from utils.training.loop import evaluate

PARAMETERS = {
    "layer": ["RNN", "GRU", "LSTM"],
    "learning_rate": [0.003, 0.01, 0.03, 0.1, 0.3],
    "epochs": 3,
    "seed": [0, 1, 2],
}
SHORT = {"epochs": 1}
SECONDS = ("seconds",)
LAYERS = {"RNN": (RNN, 256), "GRU": (GRU, 152), "LSTM": (LSTM, 131)}


def data() -> list[np.ndarray]:
    return [np.frombuffer(docstring_text().encode(), dtype=np.uint8)]


def measure(layer: str, learning_rate: float, epochs: int, seed: int) -> dict:
    parts = [docstring_text(part) for part in ("train", "validation", "test")]
    vocabulary = Vocabulary(parts[0])
    train, validation, test = (torch.tensor(vocabulary.encode(part)) for part in parts)
    kind, hidden_size = LAYERS[layer]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    try:
        model = Streaming(LanguageModel(len(vocabulary), 32, kind(32, hidden_size)))
        start = time.process_time()
        history = train_characters(
            model, train, validation, epochs=epochs, learning_rate=learning_rate, seed=seed
        )
        seconds = time.process_time() - start
        nats = evaluate(model, stream(test, 16, len(test)), F.cross_entropy)["loss"]
    finally:
        torch.set_num_threads(threads)
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "seconds": seconds,
        "validation": history.validation["loss"][-1],
        "test": nats,
    }
