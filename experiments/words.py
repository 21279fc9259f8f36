"""RNN, GRU and LSTM with about as many parameters tell the language of a word, among twelve.

The words are CLDR's, so they change a little with each release of Babel, and the numbers with them.
"""

import numpy as np
import torch
from torch import nn

from utils.data.dates import language_words
from utils.data.text import BucketedBatches, Vocabulary
from utils.recurrent import GRU, LSTM, RNN, SequenceClassifier
from utils.training.loop import evaluate, fit
from utils.training.metrics import accuracy
from utils.training.recipes import rise_and_fall

PARAMETERS = {"layer": ["RNN", "GRU", "LSTM"], "seed": [0, 1, 2]}
SHORT = {"EPOCHS": 1}
LAYERS = {"RNN": (RNN, 128), "GRU": (GRU, 68), "LSTM": (LSTM, 58)}
EPOCHS = 12


def parts() -> tuple[int, int, list[tuple[list[list[int]], torch.Tensor]]]:
    """Size of the vocabulary, number of languages, and (ids, languages) of the three parts."""
    words = language_words()
    vocabulary = Vocabulary(letter for word in words[0] for letter in word.text)
    languages = sorted({word.language for word in words[0]})
    encoded = [
        (
            [vocabulary.encode(word.text) for word in part],
            torch.tensor([languages.index(word.language) for word in part]),
        )
        for part in words
    ]
    return len(vocabulary), len(languages), encoded


def data() -> list[np.ndarray]:
    _, _, encoded = parts()
    return [np.array(sum(ids, [])) for ids, _ in encoded] + [y.numpy() for _, y in encoded]


def measure(layer: str, seed: int) -> dict:
    vocab_size, n_languages, (train, validation, test) = parts()
    torch.manual_seed(seed)
    kind, hidden_size = LAYERS[layer]
    model = SequenceClassifier(vocab_size, 32, kind(32, hidden_size), n_languages)
    batches = BucketedBatches(*train, batch_size=64, shuffle=True)
    optimiser, schedule = rise_and_fall(model, 4e-3, EPOCHS * len(batches))
    history = fit(
        model,
        batches,
        nn.CrossEntropyLoss(),
        optimiser,
        epochs=EPOCHS,
        seed=seed,
        schedule=schedule,
        metrics={"accuracy": accuracy},
        validation=BucketedBatches(*validation, batch_size=256),
    )
    held_out = BucketedBatches(*test, batch_size=256)
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "validation": history.validation["accuracy"],
        "test": evaluate(model, held_out, nn.CrossEntropyLoss(), {"accuracy": accuracy})[
            "accuracy"
        ],
    }
