"""How the book trains the models of a lesson that are compared with each other."""

import torch
from torch import nn

from utils.lab.augmentation import jitter
from utils.lab.datasets import Split
from utils.lab.metrics import accuracy
from utils.lab.training import Batches, History, fit


def train_reader(
    model: nn.Module,
    train: Split,
    *,
    validation: Split | None = None,
    epochs: int = 20,
    learning_rate: float = 1e-2,
    seed: int = 0,
) -> History:
    """Train a model to read digits, from pictures that differ a little in each epoch.

    AdamW (Loshchilov and Hutter, 2019) with a learning rate that rises and falls (Smith and Topin,
    2018), and a tenth of each label spread over all classes (Szegedy et al., 2016).
    """
    batches = Batches(*train, batch_size=128, shuffle=True, transform=jitter)
    optimiser = torch.optim.AdamW(model.parameters(), lr=learning_rate)
    steps = epochs * len(batches)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, learning_rate, total_steps=steps)
    return fit(
        model,
        batches,
        nn.CrossEntropyLoss(label_smoothing=0.1),
        optimiser,
        epochs=epochs,
        seed=seed,
        schedule=schedule,
        metrics={"accuracy": accuracy},
        validation=validation and Batches(*validation, batch_size=256),
    )
