"""Day 2's reader that lives in the page: it names a word's language after each letter.

A plain recurrent network, trained on twice as many words as the lesson's, with currencies, scripts
and time zones among them. "test" and "test in int8" are the shares of the lesson's test words that
it names after the last letter, as it was trained and with its matrices in whole numbers of 8 bits;
no test word was in its training. The reader of the first seed is stored for the page, in int8.
"""

import numpy as np
import torch

from utils.data.text import SPECIAL
from utils.pretraining.rounded import with_rounded_weights
from utils.show.views.models import store
from utils.tasks.languages import (
    NAMES,
    LetterReader,
    as_ids,
    letters_of_more_words,
    named,
    train_letter_reader,
)
from utils.tasks.rounded import in_int8

STORED = 0  # the seed
PARAMETERS = {"seed": [0, 1, 2], "hidden_size": 192, "epochs": 16}
SHORT = {"epochs": 1, "STORED": None}


def data() -> list[np.ndarray]:
    return [np.array(sum(as_ids(part)[0], [])) for part in ("train", "validation", "test")]


def measure(seed: int, hidden_size: int, epochs: int) -> dict:
    known = letters_of_more_words()
    torch.manual_seed(seed)
    model = LetterReader(len(known), 32, hidden_size, dropout=0.2)
    train_letter_reader(model, known, epochs, seed)
    if seed == STORED:
        store(
            "languages",
            in_int8(model),
            made_by="experiments/language_page.py",
            letters="".join(known.symbols[len(SPECIAL) :]),
            answers=NAMES,
        )
    return {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "validation": named(model, known, "validation"),
        "test": named(model, known, "test"),
        "test in int8": named(with_rounded_weights(model), known, "test"),
    }
