"""When do networks beat simple methods? Generated series, of which each method sees more or fewer.

Five series are judged, each at four origins, two weeks ahead, with promotions and holidays known.
"group": a method learns from so many series together: with 1 each of the five has a model of its
own; with 100 the five are among them. ETS and SARIMAX always have one each, and no error for other
groups. "days" is the length of the history. Each method but the naive one has four settings, chosen
at four earlier origins with the first seed. A list has a number for each seed: errors in those of
"as a week ago" over the past (MASE). "best possible" is the error of the true median.
"""

import torch

from utils.data.sales import Sales, generate
from utils.tasks import many_sales as task

PARAMETERS = {
    "method": list(task.METHODS),
    "group": [1, 5, 100],
    "days": 1095,
    "seeds": 2,
    "steps": task.STEPS,
}
SHORT = {
    "method": ["seasonal naive", "ETS", "linear", "Transformer"],
    "group": [1, 2],
    "days": 200,
    "seeds": 1,
    "steps": 3,
    "JUDGED": 2,
}
JUDGED = 5


def measure(method: str, group: int, days: int, seeds: int, steps: int) -> dict:
    sales = generate(max(group, JUDGED), days, seed=0)
    row = {"best possible": best_possible(sales)}
    if method in task.SIMPLE and group > 1:
        return row | {"error": None}
    seen = task.field(sales)
    if method in task.SIMPLE:
        seeds = 1  # nothing in them is drawn
    found = task.compete(task.method(method, steps), seen, group, JUDGED, range(seeds))
    judged = seen.some(slice(JUDGED))
    return row | {"error": [task.error(judged, "test", made) for made in found.forecasts]}


def best_possible(sales: Sales) -> float:
    """The error of the median that only the generator knows."""
    median, known = sales.quantile(0.5)[:JUDGED], task.origins(sales.values.shape[1], "test")
    made = torch.stack([median[:, origin : origin + task.T] for origin in known], dim=1)
    return task.error(task.field(sales), "test", made[..., None])
