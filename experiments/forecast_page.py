"""The page's forecasters: a linear one, an LSTM and a Transformer, one each for all series.

They learn from generated series of many markets, and are judged on the last two weeks of series of
other markets, of which they see the eight weeks before, as the page does of what a reader draws.
Rates were chosen by such errors of the first seed, on other markets still; how many were tried for
each kind is not recorded.

"error" is the mean absolute error of the median, and "loss" the pinball loss, both in deviations
of a series' past; "coverage" is the share of days in the interval of 80%. Naive and seasonal naive
have conformal intervals from each series' own past. "in int8": with the weights as they are stored
for the page. "parameters" are those of linear, LSTM and Transformer.
"""

from utils.show.views.models import store
from utils.tasks.drawn_series import (
    KINDS,
    N_MARKETS,
    RATES,
    STEPS,
    all_five,
    facts_for_page,
    forecasters,
    judge,
    many_markets,
    restored_forecasters,
)
from utils.tasks.many_sales import S, T, train
from utils.tasks.rounded import in_int8

PARAMETERS = {"seed": [0, 1, 2], "steps": STEPS, "n_markets": N_MARKETS}
SHORT = {"seed": [0], "steps": 2, "n_markets": 3, "STORED": None}
STORED = 0  # this seed
LEARNED, JUDGED = 1, 3  # seeds of the markets; rates were chosen with 2


def measure(seed: int, steps: int, n_markets: int) -> dict:
    models, learned = forecasters(seed), many_markets(n_markets, LEARNED)
    for kind in KINDS:
        train(models[kind], learned, RATES[kind], False, seed, steps)
    weights = in_int8(models)
    if seed == STORED:
        made_by = "experiments/forecast_page.py"
        store("forecasters", weights, made_by=made_by, **facts_for_page())
    unseen = many_markets(n_markets, JUDGED).values[:, -S - T :]
    past, target = unseen.split((S, T), dim=1)
    row = {"parameters": [sum(w.numel() for w in models[kind].parameters()) for kind in KINDS]}
    rounded = all_five(restored_forecasters(weights), past)
    forecasts = all_five(models, past) | {f"{kind} in int8": rounded[kind] for kind in KINDS}
    for name, forecast in forecasts.items():
        for what, found in judge(past, target, forecast)._asdict().items():
            row[f"{what} of {name}"] = found
    return row
