"""Can a convolutional network remember the first of many symbols, with and without dilation?"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from utils.convolution import RecallNet
from utils.data.batches import Batches
from utils.data.sequences import delayed_recall
from utils.training.loop import evaluate, fit
from utils.training.metrics import accuracy

PARAMETERS = {"doubling": [True, False], "length": [16, 64, 256], "seed": [0, 1, 2]}
SHORT = {}


def measure(doubling: bool, length: int, seed: int) -> dict:
    torch.manual_seed(seed)
    layers = int(math.log2(length))
    model = RecallNet(layers, doubling)
    batches = Batches(*delayed_recall(2000, length, seed), batch_size=100, shuffle=True)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    fit(model, batches, nn.CrossEntropyLoss(), optimiser, epochs=6, seed=seed)
    test = [delayed_recall(1000, length, 1000 + seed)]
    means = evaluate(model, test, F.cross_entropy, {"accuracy": accuracy})
    return {"layers": layers, "test": means["accuracy"]}
