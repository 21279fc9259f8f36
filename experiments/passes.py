"""What are tokens worth that come again? A fortieth of a text, read 1 to 40 times, and new text.

A GPT of 39 thousand weights reads a fortieth of sympy's docstrings in 1, 2, 4, 8, 16 or 40 passes,
or new text as long as 2, 4, 8, 16 or 20 such parts, which is half of the text. The validation
text chooses a rate of Muon for each by the first seed, better than its half and its double; "rates"
has all that were tried, "by rate" their losses there. Losses are in nats for each token of the test
text.
"""

from functools import cache

import numpy as np

from utils.data.docstrings import PARTS
from utils.data.manuals import manual
from utils.tasks.ladder import (
    BATCH,
    LADDER,
    WINDOW,
    at_best_rate,
    in_passes,
    n_pieces,
    nats,
    train_on,
)
from utils.tasks.writing import Writing

MERGES = 768
SIZE = "39 thousand"
SHARE = 1 / 40
SEEDS = (0, 1, 2)
AGAIN, NEW = (40, 16, 8, 4, 2, 1), (20, 16, 8, 4, 2)
PARAMETERS = {"reading": [*(f"{n} again" for n in AGAIN), *(f"{n} new" for n in NEW)]}
SHORT = {
    "reading": ["2 again", "2 new"],
    "MERGES": 50,
    "SIZE": "'9 thousand'",
    "SEEDS": (0, 1),
    "manual": "lambda part, manual=manual: manual(part)[:300_000]",
}


def data() -> list[np.ndarray]:
    return [np.frombuffer(manual(part).encode(), dtype=np.uint8) for part in PARTS]


@cache
def text_in_tokens() -> Writing:
    return Writing(manual, MERGES)


def measure(reading: str) -> dict:
    task, size = text_in_tokens(), LADDER[SIZE]
    text, times = task.ids["train"], int(reading.split()[0])
    part = int(SHARE * n_pieces(text)) // BATCH * BATCH
    unique, passes = (part, times) if reading.endswith("again") else (part * times, 1)

    def read(seed: int) -> list:
        return in_passes(text, unique, passes, seed)

    first = at_best_rate(size, task, read(SEEDS[0]), SEEDS[0])
    models = [train_on(read(seed), size, len(task.tokens), first.rate, seed) for seed in SEEDS[1:]]
    return {
        "unique": unique * WINDOW,
        "passes": passes,
        "rate": first.rate,
        "rates": list(first.by_rate),
        "by rate": list(first.by_rate.values()),
        "test": [nats(model, task.ids["test"]) for model in (first.model, *models)],
    }
