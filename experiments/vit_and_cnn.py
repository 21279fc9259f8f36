"""How many pictures does a Vision Transformer need, beside a convolutional network?

Both read handwritten digits after training on some of them, with the same jitter, for equally many
steps, each at the best of its rates by the validation part, found with the first seed. While the
lowest or the highest is best, one further out is tried, so that the best is inside; "by rate" has
the share read correctly at each of `RATES`, and then at those. The ViT's matrices learn by Muon and
the rest by AdamW, the CNN by AdamW alone. Training pictures are drawn anew for each seed, out of
the first part of the file; the test's forms are others.
"""

from utils.data.pictures import digits
from utils.tasks import patches as task

PARAMETERS = {"network": list(task.NETWORKS), "pictures": [50, 100, 200, 500, 1221], "steps": 1000}
SHORT = {
    "pictures": [50],
    "steps": 20,
    "RATES": {"ViT": (1e-9, 3e-2, 3.0), "CNN": (1e-9, 1e-2, 10.0)},  # the middle is best
}


def data():
    return list(digits("file order").train)


def measure(network: str, pictures: int, steps: int) -> dict:
    held = digits("file order")
    found = task.best_readers(network, held, pictures, steps=steps)
    return task.row_of(found, held)
