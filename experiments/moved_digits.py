"""How a dense and four convolutional networks read digits, in place and moved to the right."""

import torch

from utils.data.pictures import digits
from utils.tasks import digits as task

PARAMETERS = {
    "network": list(task.NETWORKS),
    "jittered": [False, True],
    "learning_rate": [0.003, 0.01, 0.03, 0.1],
    "seed": [0, 1, 2],
}
SHORT = {}


def data():
    return list(digits("file order").train)


def measure(network: str, jittered: bool, learning_rate: float, seed: int) -> dict:
    held = digits("file order")
    torch.manual_seed(seed)
    model = task.network(network)
    task.train_reader(model, held.train, jittered=jittered, learning_rate=learning_rate, seed=seed)
    numbers = {"parameters": sum(p.numel() for p in model.parameters())}
    for by in (0, 1, 2):
        for part in ("validation", "test"):
            numbers[f"{part}, moved by {by}"] = task.reads(model, getattr(held, part), by)
    return numbers
