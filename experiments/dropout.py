"""Test accuracy of DigitsNet with and without dropout, over the size of the training set."""

import torch
from torch import nn
from torch.nn import functional as F

from utils.convolution import DigitsNet
from utils.data.batches import Batches
from utils.data.pictures import digits
from utils.training.loop import evaluate, fit
from utils.training.metrics import accuracy

PARAMETERS = {
    "network": ["dense", "DigitsNet"],
    "examples": [50, 200, 1000],
    "dropout": [0.0, 0.5],
    "seed": [0, 1, 2],
}
SHORT = {"examples": 10_000, "dropout": [0.5, 0.0]}


def data():
    return list(digits("file order").train)


def measure(network: str, examples: int, dropout: float, seed: int) -> dict:
    held = digits("random", seed)
    torch.manual_seed(seed)
    if network == "dense":
        model = nn.Sequential(
            *[nn.Flatten(), nn.Linear(64, 512), nn.ReLU(), nn.Dropout(dropout)],
            *[nn.Linear(512, 512), nn.ReLU(), nn.Dropout(dropout), nn.Linear(512, 10)],
        )
    else:
        model = DigitsNet()
        for layer in model:
            if isinstance(layer, nn.Dropout):
                layer.p = dropout
    small = [tensor[:examples] for tensor in held.train]
    batches = Batches(*small, batch_size=50, shuffle=True)
    epochs = 400 * 50 // examples  # 400 steps, whatever the size
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    fit(model, batches, F.cross_entropy, optimiser, epochs=epochs, seed=seed)
    test = evaluate(model, [held.test], F.cross_entropy, {"accuracy": accuracy})
    train = evaluate(model, [tuple(small)], F.cross_entropy, {"accuracy": accuracy})
    return {"train": train["accuracy"], "test": test["accuracy"], "test loss": test["loss"]}
