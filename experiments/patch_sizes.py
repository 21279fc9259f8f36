"""How well does a Vision Transformer read, by the side of its patches, in pixels?

It reads all digits of the training part, tuned as in `vit_and_cnn`, which has patches of 2 by 2. A
list has a number for each seed; "by rate" is as there.
"""

from utils.data.pictures import digits
from utils.tasks import patches as task

PARAMETERS = {"patch_size": [1, 4], "steps": 1000}
SHORT = {"patch_size": [4], "steps": 3}


def data():
    return list(digits("file order").train)


def measure(patch_size: int, steps: int) -> dict:
    held = digits("file order")
    found = task.best_readers(
        "ViT", held, len(held.train.labels), patch_size=patch_size, steps=steps
    )
    return task.row_of(found, held)
