"""How many symbols does a language model learn to copy within 400 steps: a GRU, and a Transformer?

Both have about 18,000 parameters. `accuracy` is the share of right symbols in new copies, with the
truth so far given; by chance, 0.1. `losses` are the training's in nats, a mean for each 25 steps.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.data.sequences import copying
from utils.recurrent import GRU, LanguageModel
from utils.training.metrics import accuracy
from utils.training.recipes import train_once
from utils.transformer import DecoderOnly, TransformerConfig

PARAMETERS = {"model": ["GRU", "Transformer"], "length": [5, 40], "seed": [0, 1, 2]}
SHORT = {"STEPS": 50}
STEPS = 400


def build(model: str) -> torch.nn.Module:
    if model == "GRU":
        return LanguageModel(11, 32, GRU(32, 62))
    config = TransformerConfig(
        11, tied=False, d_model=32, n_heads=2, d_ff=64, n_layers=2, norm="pre", dropout=0.0
    )
    return DecoderOnly(config)


def loss(outputs: tuple, targets: Tensor) -> Tensor:
    logits, _ = outputs
    return F.cross_entropy(logits.transpose(1, 2), targets)


def measure(model: str, length: int, seed: int) -> dict:
    torch.manual_seed(seed)
    built = build(model)
    ids, targets = copying(32 * STEPS, length, seed)
    batches = list(zip(ids.split(32), targets.split(32), strict=True))
    history = train_once(built, loss, batches, learning_rate=5e-3, seed=seed)
    ids, targets = copying(500, length, seed + 1_000_000)
    with torch.no_grad():
        logits, _ = built.eval()(ids)
    return {
        "parameters": sum(p.numel() for p in built.parameters()),
        "losses": torch.tensor(history.step_loss).view(-1, 25).mean(dim=1).tolist(),
        "accuracy": accuracy(logits[:, length:], targets[:, length:]),
    }
