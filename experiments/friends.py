"""Two relations at once: how many heads does a look need, and how fast?

Eight children in each group (`utils.tasks.friends`), and three kinds of networks: one head, two,
and two whose keys are their values. Each is trained at four learning rates: what is hard to learn
at one may be easy at another.
"""

import torch
from torch import Tensor

from utils.data.batches import Batches
from utils.tasks.friends import NETWORKS, Children, draw, loss
from utils.training.loop import evaluate, fit
from utils.training.metrics import accuracy
from utils.training.recipes import rise_and_fall

PARAMETERS = {
    "network": list(NETWORKS),
    "width": [12, 24, 48],
    "learning_rate": [1e-2, 3e-2, 1e-1, 3e-1],
    "epochs": 4,
    "seed": [0, 1, 2],
}
SHORT = {"epochs": 1}
T = 8  # children, and games


def measure(network: str, width: int, learning_rate: float, epochs: int, seed: int) -> dict:
    torch.manual_seed(seed)
    model = Children(T, network, width)
    batches = Batches(*draw(4000, T, seed), batch_size=50, shuffle=True)
    optimiser, schedule = rise_and_fall(model, learning_rate, epochs * len(batches))
    fit(model, batches, loss, optimiser, epochs=epochs, seed=seed, schedule=schedule)
    test = draw(1000, T, seed + 1000)
    found = evaluate(model, [test], loss, {"accuracy": accuracy})
    attention = sum(p.numel() for name, p in model.named_parameters() if "output" not in name)
    return {"parameters": attention, "right": found["accuracy"], **weights_on(model, test[0])}


@torch.no_grad()
def weights_on(model: Children, x: Tensor) -> dict[str, list[float]]:
    """Mean weight of each head on the friend and on the rival."""
    _, weights = model.look(x, need_weights=True)
    names, _, friend, rival = x.split(T, dim=-1)
    places = {"on friend": friend @ names.mT, "on rival": rival @ names.mT}  # (B, T, T)
    return {
        name: (weights * place[:, None]).sum(-1).mean((0, 2)).tolist()
        for name, place in places.items()
    }
