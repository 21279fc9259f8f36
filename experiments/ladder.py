"""Does the loss fall as a power of weights and of tokens? Seven sizes, four amounts of one text.

The text is all that sympy's docstrings say, in 768 byte pairs; a training reads a sixteenth, an
eighth, a quarter or half of its 1.66 million tokens, each once, in pieces of 128. Each training has
the rate of Muon that the validation text prefers to its half and to its double; "rates" has all
that were tried, "by rate" their losses there. Losses are in nats for each token of the test text,
in windows of 128 tokens.

"blocks" counts the weights of the blocks' matrices alone (Kaplan et al., 2020), "operations" what
is multiplied and added, forward and backward, exactly.
"""

from functools import cache

import numpy as np

from utils.data.docstrings import PARTS
from utils.data.manuals import manual
from utils.scaling import operations_of_training, weights_of_blocks
from utils.tasks.ladder import (
    BATCH,
    LADDER,
    WINDOW,
    at_best_rate,
    in_passes,
    n_pieces,
    nats,
)
from utils.tasks.writing import Writing

MERGES = 768
LAST = "3 million"  # is predicted before it is run: experiments/ladder_step.py
PARAMETERS = {
    "share": [1 / 2, 1 / 4, 1 / 8, 1 / 16],
    "size": [name for name in reversed(LADDER) if name != LAST],  # the longest first
}
SHORT = {
    "size": ["9 thousand", "20 thousand"],
    "share": [1 / 2],
    "MERGES": 50,
    "manual": "lambda part, manual=manual: manual(part)[:40_000]",
}


def data() -> list[np.ndarray]:
    return [np.frombuffer(manual(part).encode(), dtype=np.uint8) for part in PARTS]


@cache
def text_in_tokens() -> Writing:
    return Writing(manual, MERGES)


def measure(size: str, share: float) -> dict:
    task, chosen = text_in_tokens(), LADDER[size]
    text = task.ids["train"]
    batches = in_passes(text, int(share * n_pieces(text)), 1, seed=0)
    tuned = at_best_rate(chosen, task, batches)
    config, tokens = tuned.model.model.config, len(batches) * BATCH * WINDOW
    return {
        "parameters": sum(weight.numel() for weight in tuned.model.parameters()),
        "blocks": weights_of_blocks(config.d_model, config.n_layers),
        "operations": operations_of_training(config, WINDOW) / WINDOW * tokens,
        "tokens": tokens,
        "rate": tuned.rate,
        "rates": list(tuned.by_rate),
        "by rate": list(tuned.by_rate.values()),
        "test": nats(tuned.model, task.ids["test"]),
    }
