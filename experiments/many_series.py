"""When do networks beat simple methods? Generated series, of which each method sees more or fewer.

Twenty series are judged, each at four origins, two weeks ahead; promotions and holidays are known.
"group": a method learns from so many series together: with 1 each of the twenty has a model of its
own, trained for 200 steps (seven hundred were no better on the validation origins of other series);
with 100 the twenty are among them. ETS and SARIMAX always have one each, and no error for other
groups. "days" is the length of the history. Each method but the naive one has four settings, chosen
at four earlier origins with the first seed, and with a group of 1 there is no second one. A list
has a number for each seed: errors in those of "same as last week" over the past (MASE), also on
each series' best tenth of the days ("peaks") and the others; "by series" and "by day" are means
over the seeds. "best possible" is the error of the true median.
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
JUDGED, SEED = 20, 14
ALONE = 200  # steps with a single series


def measure(method: str, group: int, days: int, seeds: int, steps: int) -> dict:
    sales = generate(max(group, JUDGED), days, seed=SEED)
    judged = task.field(sales).some(slice(JUDGED))
    row = named("best possible, ", errors(judged, best_possible(sales)))
    if method in task.SIMPLE and group > 1:
        return row | {"error": None}
    if group == 1:
        seeds, steps = 1, min(steps, ALONE)
    how = task.method(method, steps)
    found = task.compete(how, task.field(sales), group, JUDGED, range(seeds))
    each = [errors(judged, made) for made in found.forecasts]
    row |= {of: [of_seed[of] for of_seed in each] for of in each[0]}
    by_day = torch.tensor([task.errors_by_day(judged, "test", made) for made in found.forecasts])
    by_series = torch.tensor([errors_by_series(judged, made) for made in found.forecasts])
    return row | {
        "by day": by_day.mean(dim=0).tolist(),
        "by series": by_series.mean(dim=0).tolist(),
    }


def errors_by_series(judged: task.Field, made: torch.Tensor) -> list[float]:
    """The error of each series by itself."""
    rows = [slice(i, i + 1) for i in range(JUDGED)]
    return [task.error(judged.some(row), "test", made[row]) for row in rows]


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
