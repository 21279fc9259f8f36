"""What are tokens worth that come again? One fortieth of a text, read 1 to 40 times, and new text.

A GPT of 81 thousand weights reads a fortieth of sympy's docstrings in 1, 2, 4, 8, 16 or 40 passes,
or as many tokens that are all new. The validation text chooses one of three rates of Muon for each
by the first seed; "by rate" has its losses. Losses are in nats for each token of the test text.
"""

import numpy as np

from utils.data.docstrings import PARTS
from utils.data.manuals import manual
from utils.tasks.ladder import (
    BATCH,
    LADDER,
    WIDE,
    WINDOW,
    at_best_rate,
    in_passes,
    n_pieces,
    nats,
    train_on,
)
from utils.tasks.writing import Writing

MERGES = 768
SIZE = "81 thousand"
SHARE = 1 / 40
SEEDS = (0, 1, 2)
PARAMETERS = {"passes": [40, 16, 8, 4, 2, 1], "tokens": ["again", "new"]}
SHORT = {
    "passes": [2],
    "MERGES": 50,
    "SIZE": "9 thousand",
    "SEEDS": (0, 1),
    "manual": "lambda part, manual=manual: manual(part)[:150_000]",
}


def data() -> list[np.ndarray]:
    return [np.frombuffer(manual(part).encode(), dtype=np.uint8) for part in PARTS]


def measure(passes: int, tokens: str) -> dict:
    task, size = Writing(manual, MERGES), LADDER[SIZE]
    text = task.ids["train"]
    unique = int(SHARE * n_pieces(text)) // BATCH * BATCH

    def read(seed: int) -> list:
        several = (unique, passes) if tokens == "again" else (unique * passes, 1)
        return in_passes(text, *several, seed)

    first = at_best_rate(size, task, read(SEEDS[0]), SEEDS[0], WIDE)
    models = [train_on(read(seed), size, len(task.tokens), first.rate, seed) for seed in SEEDS[1:]]
    return {
        "unique": unique * WINDOW * (1 if tokens == "again" else passes),
        "read": unique * WINDOW * passes,
        "rate": first.rate,
        "by rate": first.by_rate,
        "test": [nats(model, task, "test") for model in (first.model, *models)],
    }
