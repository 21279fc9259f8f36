"""How many heads of a tuned encoder can go: the least important first, at random, the most first?

Importance is that of Michel et al. (2019), on the training part; gates of 0 silence a head; nothing
is tuned afterwards. Accuracies are those of the test part, with 0, 1, 2 … of all heads silenced;
by block, with all of its heads silenced, or all but its most important one.
"""

import torch
from torch import Tensor

from utils.data.text import BucketedBatches
from utils.pretraining.heads import gated, head_importance
from utils.tasks import pretraining
from utils.tasks.reading import as_ids
from utils.tasks.shrinking import fully_tuned, pretrained, right

PARAMETERS = {"seed": [0, 1, 2], "n_layers": 4, "steps": 1000, "n_train": 1000, "draws": 4}
SHORT = {
    "n_layers": 2,
    "steps": 4,
    "n_train": 100,
    "draws": 1,
    "RATES": (3e-3,),
    "TUNING": "Recipe(steps=4, batch_size=50)",
}


def data():
    return pretraining.data()


def measure(seed: int, n_layers: int, steps: int, n_train: int, draws: int) -> dict:
    model, task = fully_tuned(pretrained(seed, n_layers, steps), n_train, seed)
    learned = BucketedBatches(*as_ids(task.train, task.vocabulary), batch_size=256)
    importance = head_importance(model, learned)

    def without(heads: Tensor) -> float:
        gates = torch.ones(importance.numel())
        gates[heads] = 0
        with gated(model.encoder, gates.view_as(importance)):
            return right(model, task, task.test)

    def one_by_one(order: Tensor) -> list[float]:
        return [without(order[:n]) for n in range(len(order) + 1)]

    least_first = importance.flatten().argsort()
    generator = torch.Generator().manual_seed(seed)
    at_random = [torch.randperm(len(least_first), generator=generator) for _ in range(draws)]
    blocks = torch.arange(len(least_first)).view_as(importance)
    most = importance.argmax(dim=1)
    return {
        "importance": importance.flatten().tolist(),
        "least first": one_by_one(least_first),
        "most first": one_by_one(least_first.flip(0)),
        **{f"at random, {i}": one_by_one(order) for i, order in enumerate(at_random)},
        "without a block's": [without(of_block) for of_block in blocks],
        "but the most important": [
            without(of_block[of_block != of_block[i]])
            for of_block, i in zip(blocks, most, strict=True)
        ],
    }
