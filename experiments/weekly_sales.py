"""A shop's weekly sales: does a Transformer beat an LSTM there, and do both beat no model at all?

The protocol of a published table ("From RNN to Transformer", §7.3) as far as it is described:
Huber's loss, batches of 64, sales scaled by the training weeks', the last 15% of the weeks to test
on. Windows of 60 don't fit into its 54 weeks: here they are of 4, 8 or 12, and Adam's rate rises
and falls. "weeks": "all" are those of the table, from December 2010 on, with a first and a last
week that lack days; "whole" are those without these two; "two years" begin in December 2009. Each
network has seven rates, of which the one counts that is best on the validation weeks, on average
over the first five of ten seeds. A list has a number for each seed; what needs no training has one
number.

"mae" in pounds, "mape" and "smape" as shares, "wmae" with weights by the training weeks' median;
"wmae of the test" is the mean of the weighted errors, with weights by the test weeks' median, which
comes nearest to the table's. "spread" is the standard deviation of a network's forecasts of the
test weeks, in pounds. "constant": said of each test week, it is as far off as the table's network
("table"), and the measures beside it are that constant's.
"""

from statistics import fmean

import torch

from utils.data.sales import daily_sales
from utils.tasks import sales as task

PARAMETERS = {
    "weeks": ["all", "whole", "two years"],
    "method": ["simple", "table", "linear", "LSTM", "Transformer"],
    "seeds": 10,
    "steps": task.STEPS,
}
SHORT = {"weeks": ["all"], "method": ["simple", "linear", "LSTM"], "seeds": 2, "steps": 3}
WEEKS = {
    "all": {},
    "whole": {"first": False, "last": False},
    "two years": {"start": "2009-12-01"},
}


def data():
    return [daily_sales().values.numpy()]


def measure(weeks: str, method: str, seeds: int, steps: int) -> dict:
    held = task.weeks(**WEEKS[weeks])
    if method == "simple":
        simple = task.simple_forecasts(held, held.test) | {"ETS": task.ets_forecast(held)}
        return {
            f"{name}, {of}": value
            for name, forecast in simple.items()
            for of, value in measures(held, forecast).items()
        }
    if method == "table":
        return constants(held)
    row = {}
    for window in task.WINDOWS:
        found = task.best_networks(method, window, held, range(seeds), steps=steps)
        made = [task.network_forecast(model, held, held.test) for model in found.models]
        row |= {f"{window}, rate": found.rate, f"{window}, by rate": found.by_rate}
        each = [measures(held, forecast) for forecast in made]
        row |= {f"{window}, {of}": [of_seed[of] for of_seed in each] for of in each[0]}
        row[f"{window}, spread"] = fmean(float(forecast.std()) for forecast in made)
    return row


def measures(held: task.Weeks, forecast: torch.Tensor) -> dict[str, float]:
    """The four measures of the test weeks, and the weighted one as the table's may have been."""
    found = task.measured(held, held.test, forecast)._asdict()
    return found | {"wmae of the test": task.unbalanced_wmae(held, forecast)}


def constants(held: task.Weeks) -> dict[str, float]:
    """Constants that are as far off as the table's networks, and all their measures."""
    row = {}
    for network, published in task.PUBLISHED.items():
        constant = task.constant_with(held, published.mae)
        forecast = torch.full((len(held.test),), constant, dtype=torch.float64)
        row[f"{network}, constant"] = constant
        row |= {f"{network}, {of}": value for of, value in measures(held, forecast).items()}
    return row
