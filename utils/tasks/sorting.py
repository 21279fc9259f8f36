"""Sorting as a task: how a Transformer's learning rate and its Adam are compared."""

import torch
from torch import nn

from utils.data.batches import Batches
from utils.data.sequences import sorting
from utils.training.loop import evaluate, fit
from utils.training.metrics import accuracy
from utils.training.recipes import tag_loss


def train_sorter(
    model: nn.Module,
    rate: float,
    *,
    warm_up: bool,
    beta_2: float = 0.98,
    epsilon: float = 1e-9,
    length: int = 16,
    n_symbols: int = 10,
    steps: int = 150,
    seed: int = 0,
) -> dict[str, float | list[float]]:
    """Train a model to sort symbols, at a rate that falls as 1/√step after a third of the steps.

    Adam as the Transformer's paper has it (Vaswani et al., 2017, §5.3), gradients not clipped, 32
    new sequences at each step.

    model: of ids (B, T) to logits (B, T, n_symbols).
    warm_up: let the learning rate rise to `rate` in a line; otherwise it begins with it.
    Returns: cross-entropy in nats and accuracy on 500 new sequences, and the mean training loss of
        each ten steps.
    """
    peak = steps // 3

    def factor(done: int) -> float:
        rising = (done + 1) / peak if warm_up else 1.0
        return min(rising, (peak / (done + 1)) ** 0.5)

    optimiser = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, beta_2), eps=epsilon)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, factor)
    ids, ordered = sorting(32 * steps, length, seed, n_symbols)
    batches = Batches(ids, ordered, batch_size=32)
    history = fit(model, batches, tag_loss, optimiser, epochs=1, seed=seed, schedule=schedule)
    test = [sorting(500, length, seed + 1_000_000, n_symbols)]
    means = evaluate(model, test, tag_loss, {"accuracy": accuracy})
    return means | {"losses": torch.tensor(history.step_loss).view(-1, 10).mean(dim=1).tolist()}
