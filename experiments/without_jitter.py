"""What does jitter give a Vision Transformer, and what a convolutional network?

As `vit_and_cnn`, but each picture is seen as it is, each time. A list has a number for each seed.
"""

from utils.data.pictures import digits
from utils.tasks import patches as task

PARAMETERS = {"network": list(task.NETWORKS), "pictures": [50, 200, 1221], "steps": 1000}
SHORT = {
    "pictures": [50],
    "steps": 20,
    "RATES": {"ViT": (1e-9, 3e-2, 3.0), "CNN": (1e-9, 1e-2, 10.0)},  # the middle is best
}


def data():
    return list(digits("file order").train)


def measure(network: str, pictures: int, steps: int) -> dict:
    held = digits("file order")
    found = task.best_readers(network, held, pictures, steps=steps, jittered=False)
    return {
        "rate": found.rate,
        "by rate": found.by_rate,
        "test": [task.reads(model, held.test) for model in found.models],
    }
