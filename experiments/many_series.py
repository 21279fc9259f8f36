"""When do networks beat simple methods? Generated series, of which each method sees more or fewer.

Five series are judged, each at four origins, two weeks ahead, with promotions and holidays known.
"group": a method learns from so many series together: with 1 each of the five has a model of its
own; with 100 the five are among them. ETS and SARIMAX always have one each, and no error for other
groups. "days" is the length of the history. Each method but the naive one has four settings, chosen
at four earlier origins with the first seed. A list has a number for each seed: errors in those of
"as a week ago" over the past (MASE), also for each day ahead, and on each series' best tenth of the
days ("peaks") and the others. "best possible" is the error of the true median.
"""

import torch

from utils.data.sales import Sales, generate
from utils.tasks import many_sales as task

PARAMETERS = {
    "method": list(task.METHODS),
    "group": [1, 10, 100],
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
JUDGED, SEED = 5, 14  # series that nobody looked at while the settings were chosen


def measure(method: str, group: int, days: int, seeds: int, steps: int) -> dict:
    sales = generate(max(group, JUDGED), days, seed=SEED)
    judged = task.field(sales).some(slice(JUDGED))
    row = named("best possible, ", errors(judged, best_possible(sales)))
    if method in task.SIMPLE and group > 1:
        return row | {"error": None}
    if method in task.SIMPLE:
        seeds = 1  # nothing in them is drawn
    how = task.method(method, steps)
    found = task.compete(how, task.field(sales), group, JUDGED, range(seeds))
    each = [errors(judged, made) for made in found.forecasts]
    by_day = torch.tensor([task.errors_by_day(judged, "test", made) for made in found.forecasts])
    row |= {of: [of_seed[of] for of_seed in each] for of in each[0]}
    return row | {"by day": by_day.mean(dim=0).tolist()}


def errors(judged: task.Field, made: torch.Tensor) -> dict[str, float]:
    """The error on all days, on the peaks, and on the others."""
    peaks, others = task.errors_at_peaks(judged, "test", made)
    return {"error": task.error(judged, "test", made), "peaks": peaks, "others": others}


def named(prefix: str, row: dict) -> dict:
    """The row with a prefix before each name."""
    return {f"{prefix}{name}": value for name, value in row.items()}


def best_possible(sales: Sales) -> torch.Tensor:
    """The median that only the generator knows: (judged, O, T, 1)."""
    median, known = sales.quantile(0.5)[:JUDGED], task.origins(sales.values.shape[1], "test")
    return torch.stack([median[:, o : o + task.T] for o in known], dim=1)[..., None]
