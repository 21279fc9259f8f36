"""What is more context worth? The loss of a small GPT on characters, by position.

It learns Day 7's text in pieces of 128 and 512 characters. Each validation piece of 256 begins 8
characters behind the one before it, so that all positions are asked about nearly the same text.
"""

import torch

from utils.tasks.copying import said_next, surprises
from utils.tasks.writer import RATE, ids, pieces, vocabulary
from utils.training.recipes import train_once
from utils.transformer import DecoderOnly, TransformerConfig

PARAMETERS = {"steps": 900, "seed": [0, 1, 2]}
SHORT = {"steps": 10, "STRIDE": 400}
T, STRIDE = 256, 8
EDGES = [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256]


def measure(steps: int, seed: int) -> dict:
    torch.manual_seed(seed)
    sizes = {"d_model": 64, "n_heads": 4, "d_ff": 256, "n_layers": 2, "dropout": 0.0}
    model = DecoderOnly(
        TransformerConfig(
            len(vocabulary()), **sizes, norm="pre", activation="gelu", positions="rotary"
        )
    )
    train_once(model, said_next, pieces(steps, seed), learning_rate=RATE, seed=seed)
    text = ids("validation")
    starts = torch.arange(0, len(text) - T, STRIDE)
    rows = text[starts[:, None] + torch.arange(T + 1)]
    losses = torch.cat([surprises(model, some) for some in rows.split(64)]).mean(dim=0)  # (T,)
    parts = [losses[begin:end].mean().item() for begin, end in zip(EDGES, EDGES[1:], strict=False)]
    return {"losses": parts, "begins": EDGES[:-1], "mean": losses.mean().item()}
