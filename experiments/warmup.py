"""Which Transformers need a learning rate that warms up (Xiong et al., 2020)?

Encoders learn to sort 16 digits within 150 steps of the paper's Adam. `rate` is the highest rate;
after step 50 it falls as 1/√step. Until there it rises in a line (`warmup`), or is the highest from
the first step on. Of new sequences, `accuracy` is the share of digits in their place (0.1 by
chance), `loss` the cross-entropy in nats (2.3 by chance). `losses` are the training's, a mean for
each ten steps. `gradients` are norms before the first step, of the loss by each block's W_2, from
the first block to the last.
"""

import torch

from utils.data.sequences import sorting
from utils.tasks.sorting import train_sorter
from utils.training.recipes import tag_loss
from utils.transformer import Tagger, TransformerConfig

PARAMETERS = {
    "norm": ["post", "pre"],
    "blocks": [2, 6, 12],
    "rate": [0.003, 0.01, 0.03],
    "warmup": [True, False],
    "seed": [0, 1, 2],
}
SHORT = {}


def first_gradients(model: Tagger, seed: int) -> list[float]:
    ids, ordered = sorting(128, 16, seed)
    weights = [block.feed_forward.W_2.weight for block in model.encoder.blocks]
    gradients = torch.autograd.grad(tag_loss(model(ids), ordered), weights)
    return [gradient.norm().item() for gradient in gradients]


def measure(norm: str, blocks: int, rate: float, warmup: bool, seed: int) -> dict:
    torch.manual_seed(seed)
    sizes = {"d_model": 32, "n_heads": 2, "d_ff": 64, "n_layers": blocks}
    model = Tagger(TransformerConfig(10, **sizes, norm=norm, dropout=0.0), 10)
    gradients = first_gradients(model, seed)
    return train_sorter(model, rate, warm_up=warmup, seed=seed) | {"gradients": gradients}
