"""Is more context always better? Models that learn to look back 4 to 256 letters, at equal tokens.

Two blocks of width 64 with rotary positions read a library's docstrings, 1,024 letters per step, in
pieces of "context" letters. Each context has the same rates. "loss" is in nats a letter on the
validation text, in windows of the same length; "last" is that of each window's last eighth, or its
last letter, for which a model has read nearly its whole context.
"""

import numpy as np

from utils.data.docstrings import docstring_text
from utils.tasks.letters import ids, pieces, vocabulary
from utils.tasks.todays_block import build, train
from utils.training.metrics import surprises

PARAMETERS = {
    "seed": [0, 1, 2],
    "rate": [2.5e-3, 5e-3, 1e-2, 2e-2, 4e-2],
    "context": [4, 8, 16, 32, 64, 128, 256],
}
SHORT = {"STEPS": 10, "context": 64}
STEPS, LETTERS = 300, 1024


def data() -> list[np.ndarray]:
    return [np.frombuffer(docstring_text().encode(), dtype=np.uint8)]


def measure(seed: int, rate: float, context: int) -> dict:
    known = vocabulary("docstrings")
    text, held_out = (ids("docstrings", part, known) for part in ("train", "validation"))
    model = build("rotary", len(known), seed)
    train("rotary", model, pieces(text, STEPS, LETTERS // context, context, seed), rate)
    nats = surprises(model, held_out, context).double()
    windows = nats[: len(nats) // context * context].view(-1, context)
    return {
        "loss": nats.mean().item(),
        "last": windows[:, -max(1, context // 8) :].mean().item(),
    }
