"""Trained on at most 20 symbols, does a language model find its way in longer sequences?

Decoder-only Transformers, with different positions, learn to echo (which symbol stood three steps
before?) or to copy (symbols, a sign, the same symbols again) in sequences of 4 to 20 symbols in
all. Copying takes longer to learn, and gets more steps. `accuracy` is that of the last five
answers, in new sequences of each `length`; by chance, 0.1. Of the learned positions, 80 have a
place in the table, of which training shows 20.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.data.sequences import copying, echo
from utils.training.recipes import train_once
from utils.transformer import DecoderOnly, TransformerConfig

PARAMETERS = {
    "task": ["echo", "copy"],
    "positions": ["none", "sinusoidal", "learned", "rotary"],
    "seed": [0, 1, 2],
}
SHORT = {"STEPS": {"echo": 10, "copy": 10}}
LENGTHS = [10, 20, 24, 30, 40, 60, 80]
STEPS = {"echo": 800, "copy": 2400}


def draw(task: str, n: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
    return echo(n, length, seed) if task == "echo" else copying(n, length // 2, seed)


def loss(outputs: tuple, targets: Tensor) -> Tensor:
    logits, _ = outputs
    return F.cross_entropy(logits.transpose(1, 2), targets)


@torch.no_grad()
def last_five(model: DecoderOnly, task: str, length: int, seed: int) -> float:
    ids, targets = draw(task, 500, length, seed + 1_000_000)
    logits, _ = model.eval()(ids)
    return (logits.argmax(-1) == targets)[:, -5:].double().mean().item()


def measure(task: str, positions: str, seed: int) -> dict:
    torch.manual_seed(seed)
    config = TransformerConfig(
        11,
        tied=False,
        d_model=32,
        n_heads=2,
        d_ff=64,
        n_layers=2,
        norm="pre",
        positions=None if positions == "none" else positions,
        max_len=max(LENGTHS),
        dropout=0.0,
    )
    model = DecoderOnly(config)
    generator = torch.Generator().manual_seed(seed)
    steps = (STEPS[task],)
    lengths = torch.randint(4, 21, steps, generator=generator).tolist()
    seeds = torch.randint(1_000_000, steps, generator=generator).tolist()
    batches = [draw(task, 32, *drawn) for drawn in zip(lengths, seeds, strict=True)]
    train_once(model, loss, batches, learning_rate=5e-3, seed=seed)
    accuracies = [last_five(model, task, length, seed) for length in LENGTHS]
    return {"length": LENGTHS, "accuracy": accuracies}
