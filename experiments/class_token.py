"""Who answers for a picture: a class token, or the mean of the patches' outputs?

A Vision Transformer reads all digits of the training part, as in `vit_and_cnn`, with either of them
before its head. A list has a number for each seed.
"""

from utils.data.pictures import digits
from utils.tasks import patches as task

PARAMETERS = {"pool": ["class", "mean"], "rate": [1e-2, 2e-2, 4e-2], "steps": 1000}
SHORT = {"pool": ["mean"], "rate": [2e-2], "steps": 3}


def data():
    return list(digits("file order").train)


def measure(pool: str, rate: float, steps: int) -> dict:
    held = digits("file order")
    models = [task.network("ViT", seed, pool=pool) for seed in task.SEEDS]
    for seed, model in zip(task.SEEDS, models, strict=True):
        task.train(model, held.train, steps=steps, rate=rate, seed=seed)
    return {
        "validation": [task.reads(model, held.validation) for model in models],
        "test": [task.reads(model, held.test) for model in models],
    }
