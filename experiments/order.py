"""How far apart may two marks be, so that a convolutional network knows which came first?"""

import torch
from torch import nn
from torch.nn import functional as F

from utils.data.batches import Batches
from utils.data.sequences import two_marks
from utils.training.loop import evaluate, fit
from utils.training.metrics import accuracy

PARAMETERS = {"layers": [1, 2, 3], "distance": [1, 2, 3, 4, 5, 6, 7, 8, 12], "seed": [0, 1, 2]}
SHORT = {}
LENGTH = 48


def looks_nearby(layers: int) -> nn.Module:
    """Return a network that sees 2 · layers + 1 steps and then takes the strongest answer."""
    convolutions, channels = [], 2
    for _ in range(layers):
        convolutions += [nn.Conv1d(channels, 24, 3, padding=1), nn.ReLU()]
        channels = 24
    return nn.Sequential(
        *convolutions, nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(channels, 2)
    )


def measure(layers: int, distance: int, seed: int) -> dict:
    torch.manual_seed(seed)
    model = looks_nearby(layers)
    batches = Batches(*two_marks(1500, LENGTH, distance, seed), batch_size=100, shuffle=True)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    fit(model, batches, F.cross_entropy, optimiser, epochs=8, seed=seed)
    test = [two_marks(1000, LENGTH, distance, 1000 + seed)]
    return {"test": evaluate(model, test, F.cross_entropy, {"accuracy": accuracy})["accuracy"]}
