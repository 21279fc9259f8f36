"""Which Transformers need a learning rate that warms up (Xiong et al., 2020)?

Encoders learn to sort 16 digits within 150 steps of the paper's Adam. `rate` is the highest rate;
after step 50 it falls as 1/√step. Until there it rises in a line (`warmup`), or is the highest from
the first step on. Of new sequences, `accuracy` is the share of digits in their place (0.1 by
chance), `loss` the cross-entropy in nats (2.3 by chance). `losses` are the training's, a mean for
each ten steps. `gradients` are norms before the first step, of the loss by each block's W_2, from
the first block to the last.
"""

import torch
from torch.nn import functional as F

from utils.lab.recipes import Sorter, train_sorter
from utils.lab.sequences import sorting
from utils.transformer import Encoder, TransformerConfig, warmup_rate

PARAMETERS = {
    "norm": ["post", "pre"],
    "blocks": [2, 6, 12],
    "rate": [0.003, 0.01, 0.03],
    "warmup": [True, False],
    "seed": [0, 1, 2],
}
D, WARMUP = 32, 50


def first_gradients(model: Sorter, seed: int) -> list[float]:
    ids, ordered = sorting(128, 16, seed)
    weights = [block.feed_forward.W_2.weight for block in model.encoder.blocks]
    gradients = torch.autograd.grad(F.cross_entropy(model(ids), ordered), weights)
    return [gradient.norm().item() for gradient in gradients]


def measure(norm: str, blocks: int, rate: float, warmup: bool, seed: int) -> dict:
    torch.manual_seed(seed)
    config = TransformerConfig(
        10, d_model=D, n_heads=2, d_ff=64, n_layers=blocks, norm=norm, dropout=0.0
    )
    model = Sorter(Encoder(config), D)
    gradients = first_gradients(model, seed)

    def at(step: int) -> float:
        reached = step if warmup else max(step, WARMUP)
        return rate * warmup_rate(reached, D, WARMUP) / warmup_rate(WARMUP, D, WARMUP)

    return train_sorter(model, at, seed=seed) | {"gradients": gradients}
