"""Do tied embeddings help? By vocabulary: bytes, and byte pairs of twice and four times as many.

Two blocks of width 64 with rotary positions read a library's docstrings, 8 pieces of 64 tokens per
step. Tied, the output shares the embedding's table. Each has the same rates. "bits" are for each
byte of the validation text, read in windows of 64 tokens.
"""

import numpy as np

from utils.data.docstrings import docstring_text
from utils.tasks.letters import pieces
from utils.tasks.todays_block import T, build, train
from utils.tasks.writing import Writing

PARAMETERS = {
    "seed": [0, 1, 2],
    "rate": [1.25e-3, 2.5e-3, 5e-3, 1e-2, 2e-2, 4e-2],
    "merges": [1, 256, 768],
    "tied": [False, True],
}
SHORT = {"STEPS": 5, "merges": 256}
STEPS, B = 300, 8


def data() -> list[np.ndarray]:
    return [np.frombuffer(docstring_text().encode(), dtype=np.uint8)]


def measure(seed: int, rate: float, merges: int, tied: bool) -> dict:
    task = Writing(n_merges=merges)
    model = build("rotary, tied" if tied else "rotary", len(task.tokens), seed)
    train("rotary", model, pieces(task.ids["train"], STEPS, B, T, seed), rate)
    return {
        "vocabulary": len(task.tokens),
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "bits": task.per_byte(task.judged(model)),
    }
