"""Day 14's page: forecasters for whatever series a reader draws.

Linear, LSTM and Transformer are those of `many_sales`. They learn from series of many markets, in
which a season, a trend or the noise may be missing, since nobody knows what will be drawn. Pasts
are (n, S), forecasts (n, T, 3): the ends of an interval of 80%, and the median between them.
"""

from dataclasses import fields, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from utils.arguments import check_sizes
from utils.data.sales import Market, daily_sales, generate
from utils.forecasting import (
    Interval,
    PastScaler,
    conformal_width,
    coverage,
    mae,
    pinball_loss,
    seasonal_naive,
)
from utils.tasks.many_sales import CONFIG, QUANTILES, SEASON, Field, S, T, network, ready
from utils.tasks.two_bytes import Weights, restored

KINDS = "linear", "LSTM", "Transformer"
ALPHA = 0.2  # the share of days that an interval may miss
N_MARKETS, N_SERIES, DAYS = 240, 5, 365
RATES = {"linear": 3e-3, "LSTM": 1e-2, "Transformer": 1e-2}
STEPS = 5000


# What is learned from -----------------------------------------------------------------------------


def varied(chance: np.random.Generator) -> Market:
    """Return a market each of whose parts is missing, once in three, or up to twice as strong."""
    names = [field.name for field in fields(Market)]
    strength = chance.choice([0, 1, 1], size=len(names)) * chance.uniform(0, 2, size=len(names))
    own = {name: getattr(Market, name) * by for name, by in zip(names, strength, strict=True)}
    return replace(Market(), **own)


def many_markets(n: int, seed: int) -> Field:
    """Return the series of n markets, (n · N_SERIES, DAYS), each market with a week of its own."""
    check_sizes(n=n)
    markets = [varied(np.random.default_rng([seed, i])) for i in range(n)]
    found = [
        generate(N_SERIES, DAYS, seed=1000 * seed + i, market=market).values
        for i, market in enumerate(markets)
    ]
    return Field(torch.cat(found), None)


def to_take() -> dict[str, Tensor]:
    """Return four series to begin with, (S + T,) each, the largest value of each 90.

    Three are generated, of markets with little noise; the shop's days are real.
    """
    bare = {name: 0 for name in ("year", "promotion", "promoted", "holiday", "empty")}
    markets = {  # each with the seed of its series
        "a weekly season": (Market(**bare, week=0.6, noise=0.15, trend=0, shifts=0), 5),
        "growth": (Market(**bare, noise=0.1, trend=6, shifts=0), 1),
        "another level": (Market(**bare, noise=0.1, shift=0.8, shifts=6), 5),
    }
    found = {
        name: generate(1, S + T, seed=seed, market=market).values[0]
        for name, (market, seed) in markets.items()
    }
    found["a shop in 2011"] = daily_sales("2011-06-06").values[: S + T]
    return {name: 90 * values / values.max() for name, values in found.items()}


# What forecasts -----------------------------------------------------------------------------------


def forecasters(seed: int = 0) -> nn.ModuleDict:
    """Return the three networks, untrained."""
    return nn.ModuleDict({kind: network(kind, 0, seed, "learned") for kind in KINDS})


def facts_for_page() -> dict[str, object]:
    """Return what the page needs to know besides the weights."""
    return {"heads": CONFIG.n_heads, "season": SEASON, "alpha": ALPHA}


def restored_forecasters(weights: Weights) -> nn.ModuleDict:
    """Return stored forecasters, in evaluation mode.

    Raises: ValueError if the weights are of another model.
    """
    return restored(forecasters(), weights)


def as_before(past: Tensor, season: int) -> Tensor:
    """Forecast as a season before, with an interval from how far off that was in the past.

    With a season of 1 it is naive. Step t repeats what was so many days before, the lag of a whole
    number of seasons; its interval is conformal, by the same lag within the past.
    Shapes: past (n, S) to (n, T, 3).
    """
    middle = seasonal_naive(past, T, season)
    lags = [season * -(-t // season) for t in range(1, T + 1)]
    scores = ((past[:, lag:] - past[:, :-lag]).abs().T for lag in lags)  # (S - lag, n)
    width = torch.stack([conformal_width(off, ALPHA) for off in scores], dim=1)
    return torch.stack([middle - width, middle, middle + width], dim=2)


def all_five(models: nn.ModuleDict, past: Tensor) -> dict[str, Tensor]:
    """Return what all methods of the page forecast, by their names."""
    simple = {"naive": as_before(past, 1), "seasonal naive": as_before(past, SEASON)}
    return simple | {kind: ready(models[kind], False)(Field(past, None)) for kind in KINDS}


class Judged(NamedTuple):
    """How good forecasts are, in deviations of each series' past."""

    error: float  # mean absolute error of the median
    loss: float  # pinball loss
    coverage: float  # share of days inside the interval


def judge(past: Tensor, target: Tensor, forecast: Tensor) -> Judged:
    """Judge forecasts (n, T, 3) of targets (n, T) that follow pasts (n, S)."""
    scaler = PastScaler.of(past)
    target, scaled = scaler.scale(target), scaler.scale(forecast.flatten(1)).view_as(forecast)
    low, middle, high = scaled.unbind(dim=2)
    return Judged(
        mae(target, middle).item(),
        pinball_loss(scaled, target, QUANTILES).item(),
        coverage(target, Interval(low, high)).item(),
    )
