"""Does dropout help a dense network that has seen few digits? Twenty draws of the digits.

Fifty digits are learned for 400 steps, with dropout after each of two hidden layers, at three
learning rates. The same seed gives the same digits and the same first weights, with dropout and
without: the test parts can be compared seed by seed. The rate is chosen by the validation part.
"""

import torch
from torch import nn
from torch.nn import functional as F

from utils.data.batches import Batches
from utils.data.pictures import digits
from utils.training.loop import evaluate, fit
from utils.training.metrics import accuracy

PARAMETERS = {
    "dropout": [0.0, 0.2, 0.5],
    "learning_rate": [1e-4, 3e-4, 1e-3, 3e-3],
    "seed": list(range(20)),
}
SHORT = {"STEPS": 10}
EXAMPLES, STEPS = 50, 400


def data():
    return list(digits("file order").train)


def measure(dropout: float, learning_rate: float, seed: int) -> dict:
    held = digits("random", seed)
    torch.manual_seed(seed)
    model = nn.Sequential(
        *[nn.Flatten(), nn.Linear(64, 512), nn.ReLU(), nn.Dropout(dropout)],
        *[nn.Linear(512, 512), nn.ReLU(), nn.Dropout(dropout), nn.Linear(512, 10)],
    )
    few = tuple(tensor[:EXAMPLES] for tensor in held.train)
    optimiser = torch.optim.AdamW(model.parameters(), lr=learning_rate)
    whole = Batches(*few, batch_size=EXAMPLES)
    fit(model, whole, F.cross_entropy, optimiser, epochs=STEPS, seed=seed)
    parts = {"train": few, "validation": held.validation, "test": held.test}
    return {
        name: evaluate(model, [tuple(part)], F.cross_entropy, {"accuracy": accuracy})["accuracy"]
        for name, part in parts.items()
    }
