"""Does a model know how sure it may be? Before and after temperature scaling.

Models that tell five libraries apart are judged by their expected calibration error on the test
part; the temperature is fitted on the validation part.
"""

from torch.nn import functional as F

from utils.classification import expected_calibration_error, fit_temperature, reliability
from utils.tasks.reading import (
    MODELS,
    SEEDS,
    Recipe,
    learn,
    libraries_task,
    said_by_libraries,
    tune,
)
from utils.training.metrics import accuracy

PARAMETERS = {"model": list(MODELS[1:]), "steps": 500, "n_bins": 15}


def data():
    return said_by_libraries()


def measure(model: str, steps: int, n_bins: int) -> dict:
    task = libraries_task()
    recipe = Recipe(steps)
    setting = tune(model, task, recipe).setting
    rows = []
    for seed in SEEDS:
        answer = learn(model, task, setting, recipe, seed)
        tau = fit_temperature(answer(task.validation), task.validation.labels)
        logits, labels = answer(task.test), task.test.labels
        row = {"temperature": tau, "accuracy": float(accuracy(logits, labels))}
        for name, z in (("before", logits), ("after", logits / tau)):
            row[f"error {name}"] = expected_calibration_error(z, labels, n_bins)
            row[f"confidence {name}"] = z.softmax(dim=1).max(dim=1).values.mean().item()
            row[f"loss {name}"] = F.cross_entropy(z, labels).item()
        rows.append(row)
    found = {name: [row[name] for row in rows] for name in rows[0]}
    for name, z in (("before", logits), ("after", logits / tau)):  # of the last seed
        bins = reliability(z, labels, n_bins)
        found |= {f"{of} in bins, {name}": getattr(bins, of).tolist() for of in bins._fields}
    return {"setting": setting, **found}
