"""Does attention look back by the length of the season?

A Transformer learns from a hundred generated series whose week has seven days of its own ("weekly")
or none ("no season"); year, promotions and holidays are left out, so the past is all there is. It
has the best of four settings, "rate" and "log", by its error at four earlier origins.
"lags": how much the forecasts look 1 to 56 days back, the mean over the heads of the one layer,
series and origins of the test part, divided by the mean over all lags: 1 is no preference. "at
weeks": the mean of that at lags of 7, 14, …, 56 days. "best head": the same for the head in which
it is largest, and "best head, lags" for each lag. "error" and "naive": of the forecasts, and of "as
a week ago" (MASE).
"""

import torch

from utils.data.sales import Market, generate
from utils.forecasting import PastScaler, weights_by_lag
from utils.tasks import many_sales as task

PARAMETERS = {
    "market": ["weekly", "no season"],
    "seed": [0, 1, 2],
    "n": 100,
    "days": 730,
    "steps": task.STEPS,
}
SHORT = {"market": ["weekly"], "seed": [0], "n": 3, "days": 240, "steps": 3}
QUIET = {"year": 0.0, "promotion": 0.0, "holiday": 0.0, "empty": 0.0, "shifts": 0.0}


def measure(market: str, seed: int, n: int, days: int, steps: int) -> dict:
    week = {"weekly": 0.3, "no season": 0.0}[market]
    sales = generate(n, days, seed=20 + seed, market=Market(week=week, **QUIET))
    seen = task.field(sales, "hidden")
    known = task.origins(days, "test")
    rate, log = task.best_setting(task.method("Transformer", steps), seen, seed, n)
    model = task.network("Transformer", 0, seed)
    task.train(model, seen.until(known[0]), rate, log, seed, steps)
    pasts = torch.cat([seen.values[:, origin - task.S : origin] for origin in known])
    pasts = pasts.log1p() if log else pasts
    with torch.no_grad():
        scaled = PastScaler.of(pasts).scale(pasts).float()
        _, weights = model(scaled, None, need_weights=True)  # (n · O, L, h, S + T, S + T)
    by_head = weights_by_lag(weights, task.S).mean(dim=0)[0]  # (h, S)
    by_head = by_head / by_head.mean(dim=1, keepdim=True)
    lags, weekly = by_head.mean(dim=0), by_head[:, 6::7].mean(dim=1)
    row = {"rate": rate, "log": float(log), "lags": lags.tolist()}
    row |= {"at weeks": weekly.mean().item(), "best head": weekly.max().item()}
    row["best head, lags"] = by_head[weekly.argmax()].tolist()
    rivals = {
        "error": task.ready(model, log),
        "naive": task.method("seasonal naive").learn(seen, (), 0),
    }
    for name, forecast in rivals.items():
        made = torch.stack([forecast(seen.until(origin, task.T)) for origin in known], dim=1)
        row[name] = task.error(seen, "test", made)
    return row
