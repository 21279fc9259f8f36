"""How well two classical models read handwritten digits; their penalty is chosen on validation."""

from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from utils.data.pictures import digits

PARAMETERS = {
    "model": ["logistic regression", "support-vector machine"],
    "split": ["random", "file order"],
    "seed": [0, 1, 2],
}
SHORT = {"PENALTIES": [1, 10]}
PENALTIES = [0.1, 1, 10, 100]
WIDTHS = [0.02, 0.05, 0.1, 0.2]  # γ of the radial kernel


def data():
    return list(digits("file order").train)


def measure(model: str, split: str, seed: int) -> dict:
    held = digits(split, seed)
    part = {
        name: (getattr(held, name).images.flatten(1), getattr(held, name).labels)
        for name in ("train", "validation", "test")
    }
    if model == "logistic regression":
        candidates = [LogisticRegression(C=C, max_iter=3000) for C in PENALTIES]
    else:
        candidates = [SVC(C=C, gamma=gamma) for C in PENALTIES for gamma in WIDTHS]
    for candidate in candidates:
        candidate.fit(*part["train"])
    best = max(candidates, key=lambda candidate: candidate.score(*part["validation"]))
    return {name: best.score(*part[name]) for name in ("validation", "test")}
