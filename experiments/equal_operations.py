"""How is a budget of operations best split? Three budgets, five to seven sizes for each.

C = 6 · N · D: each size reads as much of sympy's docstrings as its budget allows, each token once;
sizes for which the text is too short, or that would see less than 20 steps, are not in the grid.
Every training has the rate of Muon that the validation text prefers to its half and to its double;
"rates" has all that were tried, "by rate" their losses there. Losses are in nats for each token of
the test text.
"""

from functools import cache

import numpy as np

from utils.data.docstrings import PARTS
from utils.data.manuals import manual
from utils.scaling import tokens_for
from utils.tasks.ladder import BATCH, BETWEEN, LADDER, WINDOW, at_best_rate, in_passes, nats
from utils.tasks.rivals import gpt
from utils.tasks.writing import Writing

MERGES = 768
BUDGETS = {
    "8e11": (
        "725 thousand",
        "434 thousand",
        "237 thousand",
        "166 thousand",
        "106 thousand",
        "81 thousand",
    ),
    "2e11": (
        "434 thousand",
        "237 thousand",
        "166 thousand",
        "106 thousand",
        "58 thousand",
        "39 thousand",
    ),
    "5e10": (
        "106 thousand",
        "81 thousand",
        "58 thousand",
        "39 thousand",
        "20 thousand",
        "14 thousand",
        "9 thousand",
    ),
}
PARAMETERS = {"training": [f"{C}, {size}" for C, sizes in BUDGETS.items() for size in sizes]}
SHORT = {
    "training": ["1e9, 9 thousand", "1e9, 14 thousand"],
    "MERGES": 50,
    "manual": "lambda part, manual=manual: manual(part)[:120_000]",
}


def data() -> list[np.ndarray]:
    return [np.frombuffer(manual(part).encode(), dtype=np.uint8) for part in PARTS]


@cache
def text_in_tokens() -> Writing:
    return Writing(manual, MERGES)


def measure(training: str) -> dict:
    C, _, name = training.partition(", ")
    task, size = text_in_tokens(), (LADDER | BETWEEN)[name]
    model = gpt(len(task.tokens), size.d_model, size.n_layers, size.n_heads)
    N = sum(weight.numel() for weight in model.parameters())
    batches = in_passes(task.ids["train"], round(tokens_for(float(C), N) / WINDOW), 1, seed=0)
    tuned = at_best_rate(size, task, batches)
    return {
        "budget": float(C),
        "parameters": N,
        "tokens": len(batches) * BATCH * WINDOW,
        "rate": tuned.rate,
        "rates": list(tuned.by_rate),
        "by rate": list(tuned.by_rate.values()),
        "test": nats(tuned.model, task.ids["test"]),
    }
