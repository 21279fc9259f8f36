"""Day 3's LSTM that writes in a page: half a million weights, trained for minutes, then rounded.

It reads the documentation of seven libraries four times. "float" and "int8" are its perplexities on
scikit-learn's test text: as it was trained, and with its matrices in whole numbers of 8 bits.
"after each word" and "after each letter" are those of the latter if its state is emptied there: a
word begins with the space before it. The LSTM of the first seed is stored for the page, in int8.
"""

import math

import numpy as np
import torch
from torch.nn import functional as F

from utils.data.prose import long_prose
from utils.data.text import SPECIAL, stream
from utils.pretraining.rounded import with_rounded_weights
from utils.recurrent import LSTM, LanguageModel, Streaming
from utils.show.views.models import store
from utils.tasks.characters import perplexity_if_emptied, train_characters
from utils.tasks.rounded import in_int8
from utils.tasks.writer import ids, long_ids, vocabulary
from utils.training.loop import evaluate

STORED = 0  # the seed
PARAMETERS = {"seed": [STORED], "hidden_size": 320, "epochs": 4, "learning_rate": 2e-2}
SHORT = {
    "hidden_size": 16,
    "epochs": 1,
    "long_ids": "lambda whole=long_ids: whole()[:60_000]",
    "STORED": None,
}


def data() -> list[np.ndarray]:
    return [np.frombuffer(long_prose().encode(), dtype=np.uint8)]


def measure(seed: int, hidden_size: int, epochs: int, learning_rate: float) -> dict:
    known, test = vocabulary(), ids("test")
    torch.manual_seed(seed)
    model = LanguageModel(len(known), 48, LSTM(48, hidden_size))
    how = {"epochs": epochs, "batch_size": 64, "length": 128, "learning_rate": learning_rate}
    history = train_characters(Streaming(model), long_ids(), ids("validation"), **how, seed=seed)
    model.eval()
    rounded = with_rounded_weights(model)
    if seed == STORED:
        store(
            "lstm",
            in_int8(model),
            made_by="experiments/lstm_page.py",
            characters="".join(known.symbols[len(SPECIAL) :]),
        )
    spaces = torch.tensor([k for k, symbol in enumerate(known.symbols) if symbol.isspace()])
    after = {"word": torch.isin(test, spaces), "letter": torch.ones(len(test), dtype=torch.bool)}
    return {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "validation": history.validation["loss"],
        "float": in_streams(model, test),
        "int8": in_streams(rounded, test),
        **{f"after each {n}": perplexity_if_emptied(rounded, test, of) for n, of in after.items()},
        "losses": history.step_loss[:: max(1, len(history.step_loss) // 30)],
    }


def in_streams(model: LanguageModel, text: torch.Tensor) -> float:
    """Perplexity of a text (n,), read in 16 pieces side by side, as in the lesson."""
    pieces = stream(text, 16, len(text))
    return math.exp(evaluate(Streaming(model), pieces, F.cross_entropy)["loss"])
