"""How long a history does each method need?

The last days of a hundred generated series, of which twenty are judged, as in "many_series". The
weeks to forecast are the same for all, and so is the scale of the errors. SARIMAX isn't among the
methods: of the first fits to 210 days, to the 98 before the first origin, nearly half don't
converge. A list has a number for each seed: errors in those of "same as last week" over the whole
past (MASE).
"""

from utils.data.sales import generate
from utils.tasks import many_sales as task

PARAMETERS = {
    "method": ["seasonal naive", "ETS", "linear", "LSTM", "Transformer"],
    "days": [210, 420, 1095],
    "n": 100,
    "seeds": 2,
    "steps": task.STEPS,
}
SHORT = {"method": ["linear"], "days": [210], "n": 3, "seeds": 1, "steps": 3, "JUDGED": 2}
LONGEST, JUDGED, SEED = 1095, 20, 16


def measure(method: str, days: int, n: int, seeds: int, steps: int) -> dict:
    whole = task.field(generate(n, LONGEST, seed=SEED))
    seen = task.Field(whole.values[:, -days:], whole.known[:, -days:])
    simple = method in task.SIMPLE
    chosen = range(1 if simple else seeds)  # nothing is drawn in a simple method
    group = 1 if simple else n
    found = task.compete(task.method(method, steps), seen, group, JUDGED, chosen)
    return {"error": [task.error(whole.some(slice(JUDGED)), "test", of) for of in found.forecasts]}
