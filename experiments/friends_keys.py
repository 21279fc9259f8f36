"""Are keys and values better apart? How soon networks with two matrices, or one, answer well.

The groups of `friends`, with sixteen children, drawn anew for each batch: so nothing is learned by
heart. Counted are the steps of Adam, 1,200 at most, until 95% of the answers about a thousand
groups are correct, at each of six learning rates and at equal parameters.
"""

import torch

from utils.tasks.friends import Children, steps_until

PARAMETERS = {
    "network": ["two heads", "two heads, shared"],
    "width": [12, 24],
    "learning_rate": [5e-3, 1e-2, 2e-2, 3e-2, 5e-2, 1e-1],
    "seed": list(range(10)),
}
SHORT = {"ROUNDS": 1}
T = 16  # children, and games


def measure(network: str, width: int, learning_rate: float, seed: int) -> dict:
    torch.manual_seed(seed)
    return {"steps": steps_until(0.95, Children(T, network, width), learning_rate, seed)}
