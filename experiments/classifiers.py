"""Which of six models reads best, invented reviews and real sentences, and knows how sure it is?

Each is at its best learning rate, or its best penalty, of four that are tried on validation data
with the first seed; then it is trained with three seeds. All networks take equally many steps,
however many examples there are. Of those that tell the libraries apart, the temperature is fitted
on the validation part too; their calibration is that of the test part.
"""

from torch.nn import functional as F

from utils.classification import expected_calibration_error, fit_temperature, reliability
from utils.data.reviews import KINDS, reviews
from utils.tasks.reading import (
    MODELS,
    Answer,
    Labelled,
    Recipe,
    Task,
    as_labelled,
    libraries_task,
    reviews_task,
    said_by_libraries,
    share_right,
    tuned,
)

PARAMETERS = {
    "task": ["reviews", "libraries"],
    "model": list(MODELS),
    "n_train": [500, 1700, 6000],
    "steps": 500,
}
SHORT = {"steps": 8, "SEEDS": (0, 1)}


def data():
    return said_by_libraries()


def measure(task: str, model: str, n_train: int, steps: int) -> dict:
    held = {"reviews": reviews_task, "libraries": libraries_task}[task](n_train)
    found = tuned(model, held, Recipe(steps))
    parts = {"validation": held.validation, "test": held.test}
    if task == "reviews":
        parts |= kinds_of_reviews()
    right = {name: [share_right(a, part) for a in found.answers] for name, part in parts.items()}
    row = {"setting": found.setting, "by setting": found.by_setting, **right}
    if task == "libraries" and model != "majority":
        row |= calibration(found.answers, held)
    return row


def kinds_of_reviews() -> dict[str, Labelled]:
    """The test reviews of each kind, and those with two negations, which no model was shown."""
    held = reviews()
    found = {kind: [review for review in held.test if review.kind == kind] for kind in KINDS}
    found["two negations"] = held.unseen
    return {kind: as_labelled(part) for kind, part in found.items()}


def calibration(answers: list[Answer], task: Task) -> dict[str, list]:
    """Errors before and after temperature scaling, seed by seed, and the first seed's bins."""
    rows, labels = [], task.test.labels
    for answer in answers:
        tau, logits = (
            fit_temperature(answer(task.validation), task.validation.labels),
            answer(task.test),
        )
        row = {"temperature": tau}
        for name, z in (("before", logits), ("after", logits / tau)):
            row[f"calibration error {name}"] = expected_calibration_error(z, labels)
            row[f"confidence {name}"] = z.softmax(dim=1).max(dim=1).values.mean().item()
            row[f"loss {name}"] = F.cross_entropy(z, labels).item()
        rows.append(row)
    found = {name: [row[name] for row in rows] for name in rows[0]}
    logits, tau = answers[0](task.test), rows[0]["temperature"]
    for name, z in (("before", logits), ("after", logits / tau)):
        bins = reliability(z, labels)
        found |= {f"{of} in bins {name}": getattr(bins, of).tolist() for of in bins._fields}
    return found
