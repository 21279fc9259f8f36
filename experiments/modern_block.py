"""GPT's block with each of today's changes alone, and with all, at equal steps and at equal time.

Two blocks of width 64 read a library's docstrings, 8 pieces of 64 letters per step. Each change has
the same three learning rates. "loss" is in nats a letter, on the first 40,000 letters of the
validation text, after `STEPS` steps. "milliseconds" are of processor time, of a step; "as long" is
how many steps then fit into the time of the plain block's, whose own were measured in turn with
them, and "loss in equal time" that of another run of so many.
"""

from statistics import median

import numpy as np

from utils.data.docstrings import docstring_text
from utils.tasks.letters import ids, judged, pieces, vocabulary
from utils.tasks.todays_block import ALL, CHANGES, PLAIN, T, build, train

LLAMA = "RMSNorm, SwiGLU, rotary"  # at once, as Touvron et al. (2023) have them
PARAMETERS = {
    "seed": [0, 1, 2],
    "rate": [3e-3, 1e-2, 2e-2],
    "change": [PLAIN, *CHANGES, LLAMA, ALL],
}
SHORT = {"STEPS": 5, "JUDGED": 2000, "train": "lambda *given, train=train: train(*given) * 0 + 1.0"}
SECONDS = ("milliseconds", "as long", "loss in equal time")
STEPS, B, JUDGED = 800, 8, 40_000


def data() -> list[np.ndarray]:
    return [np.frombuffer(docstring_text().encode(), dtype=np.uint8)]


def measure(seed: int, rate: float, change: str) -> dict:
    known = vocabulary("docstrings")
    text, held_out = (ids("docstrings", part, known) for part in ("train", "validation"))

    def loss(steps: int) -> float:
        model = build(change, len(known), seed)
        train(change, model, pieces(text, steps, B, T, seed), rate)
        return judged(model, held_out[:JUDGED], T)

    def step_time(which: str, k: int) -> float:
        model = build(which, len(known), seed)
        return train(which, model, pieces(text, 10, B, T, k), rate)

    rounds = [[step_time(which, k) for which in (PLAIN, change)] for k in range(5)]
    plain, changed = (1000 * median(times) for times in zip(*rounds, strict=True))
    as_long = STEPS if change == PLAIN else round(STEPS * plain / changed)
    return {
        "parameters": sum(w.numel() for w in build(change, len(known), seed).parameters()),
        "loss": loss(STEPS),
        "milliseconds": changed,
        "as long": as_long,
        "loss in equal time": loss(as_long),
    }
