"""Does plain gradient descent learn to recall the first of ten symbols, with clipping and without?

The weights of the state begin large enough to hold a symbol, and to explode. The networks are then
asked for the first of nine and of eleven symbols, too.
"""

import torch
from torch import nn
from torch.nn import functional as F

from utils.data.batches import Batches
from utils.recurrent import RNN, SequenceClassifier
from utils.tasks.memory import recall_ids
from utils.training.loop import fit
from utils.training.metrics import accuracy
from utils.training.recipes import clip_gradients

PARAMETERS = {"clipped": [True, False], "learning_rate": [0.1, 2.0], "seed": list(range(10))}
SHORT = {"EPOCHS": 1}
EPOCHS = 6


def measure(clipped: bool, learning_rate: float, seed: int) -> dict:
    torch.manual_seed(seed)
    network = SequenceClassifier(4, 8, RNN(8, 32), 4)
    nn.init.normal_(network.layer.W_h, std=1.5 / 32**0.5)
    optimiser = torch.optim.SGD(network.parameters(), lr=learning_rate)
    if clipped:
        clip_gradients(optimiser, 1.0)
    batches = Batches(*recall_ids(2000, 10, seed), batch_size=50, shuffle=True)
    fit(network, batches, F.cross_entropy, optimiser, epochs=EPOCHS, seed=seed)
    found = {}
    for length in (9, 10, 11):
        ids, first = recall_ids(1000, length, 1_000_000 + seed)
        with torch.no_grad():
            found[f"test, {length} symbols"] = accuracy(network(ids), first)
    return found
