"""Steps that ReLU and tanh need to bring the training loss of a convolutional network down.

As in Krizhevsky et al. (2012, figure 1): a network of four convolutions, no regularisation, plain
stochastic gradient descent, and each activation with the learning rate that suits it best.
"""

import torch
from torch import nn
from torch.nn import functional as F

from utils.data.batches import Batches
from utils.data.pictures import digits
from utils.training.loop import fit

PARAMETERS = {
    "activation": ["ReLU", "tanh"],
    "learning_rate": [0.03, 0.06, 0.1, 0.15, 0.2, 0.3],
    "seed": [0, 1, 2],
}
SHORT = {"EPOCHS": 2}
GOAL = 0.1  # training loss, mean over the last 20 steps
EPOCHS = 30


def data():
    return list(digits("file order").train)


def four_convolutions(activation: str) -> nn.Module:
    """Return the network, each layer started as its activation wants it."""
    act, start = (nn.ReLU, "relu") if activation == "ReLU" else (nn.Tanh, "tanh")
    layers = [
        *[nn.Conv2d(1, 16, 3, padding=1), act(), nn.Conv2d(16, 16, 3, padding=1), act()],
        *[nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), act()],
        *[nn.Conv2d(32, 32, 3, padding=1), act(), nn.Flatten(), nn.Linear(32 * 4 * 4, 10)],
    ]
    for layer in layers:
        if isinstance(layer, nn.Conv2d):
            gain = nn.init.calculate_gain(start)
            fan_in = layer.weight[0].numel()
            nn.init.normal_(layer.weight, std=gain / fan_in**0.5)
            nn.init.zeros_(layer.bias)
    return nn.Sequential(*layers)


def measure(activation: str, learning_rate: float, seed: int) -> dict:
    torch.manual_seed(seed)
    network = four_convolutions(activation)
    batches = Batches(*digits("random", seed).train, batch_size=64, shuffle=True)
    optimiser = torch.optim.SGD(network.parameters(), lr=learning_rate)
    losses = torch.tensor(
        fit(network, batches, F.cross_entropy, optimiser, epochs=EPOCHS, seed=seed).step_loss
    )
    smooth = losses.unfold(0, 20, 1).mean(1)  # entry i is the mean of steps i … i + 19
    there = (smooth < GOAL).nonzero()
    return {"steps": int(there[0]) + 20 if len(there) else None, "losses": smooth[::10].tolist()}
