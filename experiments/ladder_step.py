"""Is the next size where the law says? Predicted from the ladder's trainings, and then run.

The law and its 90 % interval come from the stored trainings of seven sizes on four amounts of text
(experiments/ladder.py). Only then a model more than twice as large reads half of the text, once, at
the rate that the largest size before it chose for as much.
"predicted", "low" and "high" are the forecast, "test" is what came, in nats for each token;
"straight" is the forecast of a power law of weights alone without a floor, through the sizes that
read that much.
"""

from typing import NamedTuple

import numpy as np

from utils.data.docstrings import PARTS
from utils.data.manuals import manual
from utils.measure.experiments import load
from utils.scaling import extrapolate, fit_scaling_law
from utils.tasks.ladder import BATCH, LADDER, WINDOW, in_passes, n_pieces, nats, train_on
from utils.tasks.rivals import gpt
from utils.tasks.writing import Writing

MERGES = 768
SHARE = 1 / 2
DRAWS = 200
PARAMETERS = {"size": "3 million"}
SHORT = {
    "size": "9 thousand",
    "MERGES": 50,
    "DRAWS": 3,
    "manual": "lambda part, manual=manual: manual(part)[:40_000]",
    "before": "lambda: Before(np.array(3 * [9e3, 4e4, 2e5]), np.repeat([1e4, 8e4, 4e5], 3), "
    "np.array([4.0, 3.8, 3.7, 3.7, 3.4, 3.2, 3.5, 3.1, 2.9]), 0.1)",
}


class Before(NamedTuple):
    """The trainings from which the next one is predicted, three arrays (n,)."""

    N: np.ndarray
    D: np.ndarray
    losses: np.ndarray
    rate: float  # of the largest, on most text


def before() -> Before:
    rows = load("ladder").rows
    N, D, losses = (
        np.array([row[name] for row in rows], dtype=float)
        for name in ("parameters", "tokens", "test")
    )
    largest = max(rows, key=lambda row: (row["parameters"], row["tokens"]))
    return Before(N, D, losses, largest["rate"])


def data() -> list[np.ndarray]:
    text = [np.frombuffer(manual(part).encode(), dtype=np.uint8) for part in PARTS]
    return [*text, *map(np.array, before())]


def measure(size: str) -> dict:
    N, D, losses, rate = before()
    task, chosen = Writing(manual, MERGES), LADDER[size]
    text, V = task.ids["train"], len(task.tokens)
    batches = in_passes(text, int(SHARE * n_pieces(text)), 1, seed=0)
    model = gpt(V, chosen.d_model, chosen.n_layers, chosen.n_heads)
    at = sum(weight.numel() for weight in model.parameters()), len(batches) * BATCH * WINDOW
    told = extrapolate(fit_scaling_law, N, D, losses, at=at, draws=DRAWS)
    whole = D == D.max()
    slope, height = np.polyfit(np.log(N[whole]), np.log(losses[whole]), 1)
    model = train_on(batches, chosen, V, rate, seed=0)
    return {
        "parameters": at[0],
        "tokens": at[1],
        "rate": rate,
        "predicted": told.loss,
        "low": told.interval.low,
        "high": told.interval.high,
        "straight": float(np.exp(height + slope * np.log(at[0]))),
        "test": nats(model, task.ids["test"]),
    }
