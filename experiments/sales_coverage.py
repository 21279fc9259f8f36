"""Does an interval of 80% hold 80% of what comes later?

Networks learn the quantiles 0.1, 0.5 and 0.9 from a hundred generated series. Between the outer two
should lie 80% of the days. Each has the best of four settings, "rate" and "log", by the median's
error at four origins of what is learned from. They are calibrated on four origins that come after
that (conformal quantiles, with one width for each day ahead, in deviations of the series), and
judged at four later ones. "before" and "after": the share inside, without and with calibration.
"width before", "width after": the mean width, in deviations. "before, by day" and "after, by day"
have a share for each day ahead.
"""

import torch

from utils.data.sales import generate
from utils.forecasting import Interval, PastScaler, conformal_quantiles, coverage
from utils.tasks import many_sales as task

PARAMETERS = {
    "method": ["linear", "LSTM", "Transformer"],
    "seed": [0, 1, 2],
    "n": 100,
    "days": 1095,
    "steps": task.STEPS,
}
SHORT = {"method": ["linear"], "seed": [0], "n": 4, "days": 300, "steps": 3}
ALPHA = 0.2


def measure(method: str, seed: int, n: int, days: int, steps: int) -> dict:
    seen = task.field(generate(n, days, seed=17 + seed))
    how, learned = task.method(method, steps), seen.until(task.origins(days, "validation")[0])
    rate, log = task.best_setting(how, learned, seed, n)
    forecast = how.learn(learned, (rate, log), seed)
    (held, interval), (target, later) = (at_origins(seen, forecast, part) for part in task.PARTS)
    after = conformal_quantiles(later, held, interval, ALPHA)
    row = {"rate": rate, "log": float(log)}
    for name, found in (("before", later), ("after", after)):
        row[name] = coverage(target, found).item()
        row[f"width {name}"] = (found.high - found.low).mean().item()
        row[f"{name}, by day"] = [
            coverage(target[:, t], Interval(found.low[:, t], found.high[:, t])).item()
            for t in range(task.T)
        ]
    return row


def at_origins(seen: task.Field, forecast: task.Ready, part: str) -> tuple[torch.Tensor, Interval]:
    """Targets and intervals (n · O, T), in deviations of the 56 days before each origin."""
    targets, lows, highs = [], [], []
    for origin in task.origins(seen.values.shape[1], part):
        past = seen.until(origin, task.T)
        scaler = PastScaler.of(past.values[:, -task.S :])
        made = forecast(past)
        lows.append(scaler.scale(made[:, :, 0]))
        highs.append(scaler.scale(made[:, :, -1]))
        targets.append(scaler.scale(seen.values[:, origin : origin + task.T]))
    return torch.cat(targets), Interval(torch.cat(lows), torch.cat(highs))
