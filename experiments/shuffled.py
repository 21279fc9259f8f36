"""What one fixed shuffle of the pixels does to a dense network and to a convolutional one."""

import torch
from torch import nn
from torch.nn import functional as F

from utils.convolution import DigitsNet
from utils.data.batches import Batches
from utils.data.pictures import digits
from utils.training.loop import evaluate, fit
from utils.training.metrics import accuracy

PARAMETERS = {"model": ["dense", "DigitsNet"], "shuffled": [False, True], "seed": list(range(8))}
SHORT = {}


def data():
    return list(digits("file order").train)


def measure(model: str, shuffled: bool, seed: int) -> dict:
    held = digits("random", seed)
    torch.manual_seed(seed)
    order = torch.randperm(64) if shuffled else torch.arange(64)
    if model == "dense":
        network = nn.Sequential(
            nn.Flatten(), nn.Linear(64, 256), nn.ReLU(), nn.Dropout(0.3), nn.Linear(256, 10)
        )
    else:
        network = DigitsNet()

    def pictures(images: torch.Tensor) -> torch.Tensor:
        return images.flatten(1)[:, order].view_as(images)

    batches = Batches(*held.train, batch_size=128, shuffle=True, transform=pictures)
    optimiser = torch.optim.AdamW(network.parameters(), lr=3e-3)
    fit(network, batches, F.cross_entropy, optimiser, epochs=15, seed=seed)
    test = [(pictures(held.test.images), held.test.labels)]
    return {"test": evaluate(network, test, F.cross_entropy, {"accuracy": accuracy})["accuracy"]}
