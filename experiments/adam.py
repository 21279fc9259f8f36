"""Does a Transformer need its paper's Adam: β₂ of 0.98, not 0.999, and ε of 1e-9, not 1e-8?

The sorters of the experiment warmup, with 6 blocks and post-norm as in the paper, and its columns.
"""

import torch

from utils.lab.recipes import Sorter, train_sorter
from utils.transformer import Encoder, TransformerConfig, warmup_rate

ADAM = {"paper": (0.98, 1e-9), "library": (0.999, 1e-8), "short memory": (0.9, 1e-9)}
PARAMETERS = {
    "adam": list(ADAM),
    "rate": [0.003, 0.01, 0.03],
    "warmup": [True, False],
    "seed": [0, 1, 2],
}
D, WARMUP = 32, 50


def measure(adam: str, rate: float, warmup: bool, seed: int) -> dict:
    torch.manual_seed(seed)
    config = TransformerConfig(
        10, d_model=D, n_heads=2, d_ff=64, n_layers=6, norm="post", dropout=0.0
    )
    model = Sorter(Encoder(config), D)

    def at(step: int) -> float:
        reached = step if warmup else max(step, WARMUP)
        return rate * warmup_rate(reached, D, WARMUP) / warmup_rate(WARMUP, D, WARMUP)

    beta_2, epsilon = ADAM[adam]
    return train_sorter(model, at, beta_2=beta_2, epsilon=epsilon, seed=seed)
