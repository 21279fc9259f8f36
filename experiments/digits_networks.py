"""How well five networks read handwritten digits, all trained by the lesson's recipe."""

import time

import torch
from torch import nn
from torch.nn import functional as F

from utils.convolution import DigitsNet, LeNet, SmallAlexNet, SmallGoogLeNet
from utils.data.pictures import digits
from utils.tasks.digits import train_digits
from utils.training.loop import evaluate
from utils.training.metrics import accuracy

PARAMETERS = {
    "model": ["dense network", "LeNet", "small AlexNet", "small GoogLeNet", "DigitsNet"],
    "learning_rate": [0.003, 0.01, 0.03, 0.1],
    "split": ["random", "file order"],
    "seed": [0, 1, 2],
}
SHORT = {}
SECONDS = ("seconds",)


def dense_network() -> nn.Module:
    """Return a dense network with about as many parameters as DigitsNet."""
    return nn.Sequential(
        *[nn.Flatten(), nn.Linear(64, 128), nn.ReLU()],
        *[nn.Linear(128, 112), nn.ReLU(), nn.Dropout(0.3), nn.Linear(112, 10)],
    )


def enlarged_lenet() -> nn.Module:
    """Return LeNet for digits enlarged to the 32×32 pixels that it was made for."""
    return nn.Sequential(nn.Upsample(scale_factor=4, mode="bilinear"), LeNet())


NETWORKS = {
    "dense network": dense_network,
    "LeNet": enlarged_lenet,
    "small AlexNet": SmallAlexNet,
    "small GoogLeNet": SmallGoogLeNet,
    "DigitsNet": DigitsNet,
}


def data():
    return list(digits("file order").train)


def measure(model: str, learning_rate: float, split: str, seed: int) -> dict:
    held = digits(split, seed)
    torch.manual_seed(seed)
    network = NETWORKS[model]()
    start = time.perf_counter()
    train_digits(network, held.train, learning_rate=learning_rate, seed=seed)
    numbers = {
        "seconds": round(time.perf_counter() - start, 1),
        "parameters": sum(p.numel() for p in network.parameters()),
    }
    for part in ("validation", "test"):
        means = evaluate(network, [getattr(held, part)], F.cross_entropy, {"accuracy": accuracy})
        numbers[part] = means["accuracy"]
    return numbers
