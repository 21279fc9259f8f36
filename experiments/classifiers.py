"""Which model reads best? Six of them, on invented reviews and on real sentences.

Each is at its best learning rate, or its best penalty, of four that are tried on validation data
with the first seed; then it is trained with three seeds. All networks take equally many steps,
however many examples there are.
"""

from utils.data.reviews import KINDS, reviews
from utils.tasks.reading import (
    MODELS,
    Labelled,
    Recipe,
    as_labelled,
    compared,
    libraries_task,
    reviews_task,
    said_by_libraries,
)

PARAMETERS = {
    "task": ["reviews", "libraries"],
    "model": list(MODELS),
    "n_train": [500, 1700, 6000],
    "steps": 500,
}


def data():
    return said_by_libraries()


def measure(task: str, model: str, n_train: int, steps: int) -> dict:
    held = {"reviews": reviews_task, "libraries": libraries_task}[task](n_train)
    parts = {"validation": held.validation, "test": held.test}
    if task == "reviews":
        parts |= kinds_of_reviews()
    return compared(model, held, parts, Recipe(steps))


def kinds_of_reviews() -> dict[str, Labelled]:
    """The test reviews of each kind, and those with two negations, which no model was shown."""
    held = reviews()
    found = {kind: [review for review in held.test if review.kind == kind] for kind in KINDS}
    found["two negations"] = held.unseen
    return {kind: as_labelled(part) for kind, part in found.items()}
