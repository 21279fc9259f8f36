"""[CLS], the mean or the maximum? A Transformer's pooling is exchanged, and nothing else.

Each is at its best learning rate of four, chosen on validation data with the first seed.
"""

from utils.tasks.reading import (
    POOLINGS,
    Recipe,
    compared,
    libraries_task,
    reviews_task,
    said_by_libraries,
)

PARAMETERS = {
    "task": ["reviews", "libraries"],
    "model": list(POOLINGS),
    "n_train": 6000,
    "steps": 500,
}


def data():
    return said_by_libraries()


def measure(task: str, model: str, n_train: int, steps: int) -> dict:
    held = {"reviews": reviews_task, "libraries": libraries_task}[task](n_train)
    parts = {"validation": held.validation, "test": held.test}
    return compared(model, held, parts, Recipe(steps))
