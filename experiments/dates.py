"""How well does an encoder and decoder with attention read dates in twelve languages?

The days of the test are new; `unseen` has formats that training never showed. CLDR changes a little
with each release of Babel, and the numbers with it.
"""

import numpy as np
import torch

from utils.seq2seq import Seq2Seq, Seq2SeqConfig, greedy_decode, sequence_loss
from utils.tasks.dates import DateTask, sample

PARAMETERS = {"locale": [True, False], "pairs": 24_000, "epochs": 3, "seed": [0, 1, 2]}
SHORT = {"pairs": 500, "epochs": 1}


def data() -> list[np.ndarray]:
    return sample()


def measure(locale: bool, pairs: int, epochs: int, seed: int) -> dict:
    task = DateTask(pairs, locale=locale, seed=seed)
    torch.manual_seed(seed)
    config = Seq2SeqConfig(
        len(task.texts), len(task.dates), 48, 96, attention="general", style="Luong"
    )
    how = {"epochs": epochs, "seed": seed}
    return task.measure(Seq2Seq(config), sequence_loss, greedy_decode, **how)
