"""Day 7's writer: half a million weights that continue documentation, trained, rounded and stored.

It learns from the documentation of seven libraries, in pieces of 256 and 512 characters. "float"
and "int8" are its perplexities on scikit-learn's validation text, in pieces of 512: as it was
trained, and with its matrices in whole numbers of 8 bits. The writer of the first seed is stored
for the page, in int8.
"""

import numpy as np
import torch
from torch.nn import functional as F

from utils.data.prose import long_prose
from utils.data.text import SPECIAL
from utils.show.views.models import store
from utils.tasks.rounded import in_int8
from utils.tasks.writer import Writer, perplexity, take_weights, train_well, vocabulary

PARAMETERS = {"seed": [0], "steps": 1600, "per_step": 8192, "learning_rate": 5e-3}
SHORT = {
    "steps": 2,
    "perplexity": "lambda model, judge=perplexity: judge(model, n_pieces=2)",
    "STORED": None,
}
STORED = 0  # the seed


def data() -> list[np.ndarray]:
    return [np.frombuffer(long_prose().encode(), dtype=np.uint8)]


def measure(seed: int, steps: int, per_step: int, learning_rate: float) -> dict:
    torch.manual_seed(seed)
    model, rounded = Writer(all_pairs), Writer(all_pairs)
    history = train_well(model, steps, per_step, learning_rate, seed)
    weights = in_int8(model)
    take_weights(rounded, weights)
    if seed == STORED:
        store(
            "documentation",
            weights,
            made_by="experiments/documentation_writer.py",
            heads=model.blocks[0].h,
            characters="".join(vocabulary().symbols[len(SPECIAL) :]),
        )
    return {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "float": perplexity(model),
        "int8": perplexity(rounded),
        "losses": history.step_loss[:: max(1, steps // 30)],
    }


def all_pairs(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)
