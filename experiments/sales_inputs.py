"""Do promotions and holidays help a forecast, and what if they say nothing of the series?

A hundred generated series, of which twenty are judged, as in "many_series". "inputs": "given" are
the days on which there was a promotion or a holiday, known two weeks ahead; "hidden" leaves them
both out, "promotions" gives these alone; "false" are those of another series, at another time.
SARIMAX has a model for each series, the others learn from all of them. Settings are chosen for each
kind of inputs by itself. A list has a number for each seed: errors in those of "same as last week"
over the past (MASE).
"""

from utils.data.sales import generate
from utils.tasks import many_sales as task

PARAMETERS = {
    "method": ["SARIMAX", "linear", "LSTM", "Transformer"],
    "inputs": list(task.INPUTS),
    "n": 100,
    "days": 1095,
    "seeds": 2,
    "steps": task.STEPS,
}
SHORT = {"method": ["linear"], "n": 3, "days": 200, "seeds": 1, "steps": 3, "JUDGED": 2}
JUDGED, SEED = 20, 15


def measure(method: str, inputs: str, n: int, days: int, seeds: int, steps: int) -> dict:
    seen = task.field(generate(n, days, seed=SEED), inputs)
    simple = method in task.SIMPLE
    chosen = range(1 if simple else seeds)  # nothing is drawn in a simple method
    group = 1 if simple else n
    found = task.compete(task.method(method, steps), seen, group, JUDGED, chosen)
    return {"error": [task.error(seen.some(slice(JUDGED)), "test", of) for of in found.forecasts]}
