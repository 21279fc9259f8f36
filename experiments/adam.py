"""Does the Transformer need its paper's Adam: β₂ of 0.98, not 0.999, and ε of 1e-9, not 1e-8?

The sorters of the experiment warmup, with 6 blocks and post-norm as in the paper, and its columns.
There, all rows have the paper's setting; here, each differs from it in one number.
"""

import torch

from utils.tasks.sorting import train_sorter
from utils.transformer import Tagger, TransformerConfig

ADAM = {"library's β₂": (0.999, 1e-9), "library's ε": (0.98, 1e-8), "short memory": (0.9, 1e-9)}
PARAMETERS = {
    "adam": list(ADAM),
    "rate": [0.01, 0.03],
    "warmup": [True, False],
    "seed": [0, 1, 2],
}
SHORT = {"adam": "short memory"}


def measure(adam: str, rate: float, warmup: bool, seed: int) -> dict:
    torch.manual_seed(seed)
    config = TransformerConfig(10, d_model=32, n_heads=2, d_ff=64, n_layers=6, dropout=0.0)
    beta_2, epsilon = ADAM[adam]
    how = {"beta_2": beta_2, "epsilon": epsilon, "seed": seed}
    return train_sorter(Tagger(config, 10), rate, warm_up=warmup, **how)
