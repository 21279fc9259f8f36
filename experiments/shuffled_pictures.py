"""Do networks need the plane? Patches or pixels are shuffled in the same way in all pictures.

Both networks read all digits of the training part, tuned as in `vit_and_cnn`, but jittered pictures
are shuffled before they are read; so are those of the test. Each seed has another order, and a list
has a number for each seed.
"""

from utils.data.pictures import digits
from utils.tasks import patches as task

PARAMETERS = {"network": list(task.NETWORKS), "shuffled": ["patches", "pixels"], "steps": 1000}
SHORT = {
    "steps": 20,
    "RATES": {"ViT": (1e-9, 3e-2, 3.0), "CNN": (1e-9, 1e-2, 10.0)},  # the middle is best
}


def data():
    return list(digits("file order").train)


def measure(network: str, shuffled: str, steps: int) -> dict:
    held = digits("file order")
    n = len(held.train.labels)
    found = task.best_readers(network, held, n, steps=steps, shuffle=shuffled)
    return {
        "rate": found.rate,
        "by rate": found.by_rate,
        "test": [
            task.reads(model, held.test, shuffled, seed)
            for seed, model in zip(task.SEEDS, found.models, strict=True)
        ],
    }
