"""[CLS] or the maximum in place of the mean: a Transformer's pooling is exchanged, nothing else.

The mean itself is among the classifiers, trained and tuned in the same way.
"""

from utils.tasks.reading import (
    POOLINGS,
    Recipe,
    libraries_task,
    reviews_task,
    said_by_libraries,
    share_right,
    tuned,
)

PARAMETERS = {
    "task": ["reviews", "libraries"],
    "model": list(POOLINGS[1:]),
    "n_train": [500, 6000],
    "steps": 500,
}
SHORT = {"steps": 8, "SEEDS": (0, 1)}


def data():
    return said_by_libraries()


def measure(task: str, model: str, n_train: int, steps: int) -> dict:
    held = {"reviews": reviews_task, "libraries": libraries_task}[task](n_train)
    found = tuned(model, held, Recipe(steps))
    parts = {"validation": held.validation, "test": held.test}
    right = {name: [share_right(a, part) for a in found.answers] for name, part in parts.items()}
    return {"setting": found.setting, "by setting": found.by_setting, **right}
