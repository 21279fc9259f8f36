"""Day 14's task: a shop's weekly sales, by the protocol of a published table, and beside it others.

The table's networks saw windows of 60 weeks, which don't fit into its 54; here they see 4, 8 or 12.
Each forecasts the next week, from the weeks before it as they were.
"""

import math
from collections.abc import Callable
from statistics import fmean
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.arguments import check_choice
from utils.data.batches import Batches
from utils.data.sales import daily_sales, weekly
from utils.forecasting import (
    Forecaster,
    LinearForecaster,
    LSTMForecaster,
    PastScaler,
    TransformerForecaster,
    mae,
    mape,
    mean_forecast,
    naive,
    seasonal_naive,
    smape,
    split,
    weighted_mae,
    windows,
)
from utils.tasks.classical import ets
from utils.training.loop import fit
from utils.training.recipes import rise_and_fall
from utils.transformer import TransformerConfig

WINDOWS = 4, 8, 12  # weeks
YEAR = 52
RATES = 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1
CHOOSING = 5  # seeds that choose the rate
STEPS = 300
CONFIG = TransformerConfig(
    1, d_model=16, n_heads=2, d_ff=32, n_layers=2, norm="pre", positions="learned", dropout=0.1
)


class Measured(NamedTuple):
    """The table's four measures; MAPE and sMAPE are shares."""

    mae: float
    mape: float
    smape: float
    wmae: float


PUBLISHED = {  # "From RNN to Transformer", §7.3
    "LSTM": Measured(170_133, 0.5469, 0.7693, 201_047),
    "Transformer": Measured(162_398, 0.5182, 0.7191, 192_370),
}


class Weeks(NamedTuple):
    """Weekly sales in pounds, and which of them are to learn from, to choose with, to test on."""

    values: Tensor  # (n,)
    train: range
    validation: range
    test: range


def weeks(start: str = "2010-12-01", *, first: bool = True, last: bool = True) -> Weeks:
    """Return the shop's weeks from a day on, the last 15% of them to test on.

    first, last: whether a week counts some of whose days are missing; in the table both do.
    """
    values = weekly(daily_sales(start), first=first, last=last).values
    return Weeks(values, *split(len(values)))


def measured(held: Weeks, part: range, forecast: Tensor) -> Measured:
    """Measure a forecast (n,) of a part's weeks. The weights' median is the training weeks'."""
    target = held.values[part.start : part.stop]
    median = float(held.values[: held.train.stop].quantile(0.5))
    found = mae(target, forecast), mape(target, forecast), smape(target, forecast)
    return Measured(*(x.item() for x in (*found, weighted_mae(target, forecast, median))))


def unbalanced_wmae(held: Weeks, forecast: Tensor) -> float:
    """Return the mean of the test weeks' weighted errors, by the test weeks' own median.

    It isn't divided by the weights, and each weight depends on what the other test weeks brought:
    of the ways to read the table's definition, this one comes nearest to its figures.
    """
    target = held.values[held.test.start : held.test.stop]
    weights = (target / target.quantile(0.5)).clamp(1, 5)
    return (weights * (target - forecast).abs()).mean().item()


# Forecasts that need no training ------------------------------------------------------------------


def one_ahead(held: Weeks, part: range, forecast: Callable[[Tensor], Tensor]) -> Tensor:
    """Forecast each week of a part from all weeks before it.

    forecast: makes (1,) of a past (n,). Shapes: returns (len(part),).
    """
    return torch.cat([forecast(held.values[:week]) for week in part])


def simple_forecasts(held: Weeks, part: range) -> dict[str, Tensor]:
    """Return what needs no training: {name: (len(part),)}. A season needs a year before the part.

    "training mean" is that of the training weeks, the same for all; "mean" goes on with each week.
    """
    constant = held.values[: held.train.stop].mean()
    found = {
        "last week": one_ahead(held, part, lambda past: naive(past, 1)),
        "mean of four": one_ahead(held, part, lambda past: mean_forecast(past[-4:], 1)),
        "mean": one_ahead(held, part, lambda past: mean_forecast(past, 1)),
        "training mean": constant.expand(len(part)),
    }
    if part.start >= YEAR:
        found["last year"] = one_ahead(held, part, lambda past: seasonal_naive(past, 1, YEAR))
    return found


ETS_SETTINGS = [(trend, log) for trend in (False, True) for log in (False, True)]


def ets_forecast(held: Weeks) -> Tensor:
    """Forecast the test weeks by the one of four ETS models that is best on the validation weeks.

    Shapes: returns (n_test,).
    """

    def made(part: range, trend: bool, log: bool) -> Tensor:
        return one_ahead(held, part, lambda past: ets(past, 1, trend=trend, log=log))

    def error(setting: tuple[bool, bool]) -> float:
        return measured(held, held.validation, made(held.validation, *setting)).mae

    return made(held.test, *min(ETS_SETTINGS, key=error))


def constant_with(held: Weeks, error: float) -> float:
    """Return the constant below all test weeks whose mean absolute error there is the given one.

    Raises: ValueError if no such constant lies below them.
    """
    target = held.values[held.test.start : held.test.stop]
    constant = float(target.mean()) - error
    if constant > target.min():
        raise ValueError(f"An error of {error:,.0f} is too small for a constant below all weeks.")
    return constant


# Networks -----------------------------------------------------------------------------------------

KINDS = {
    "linear": lambda window: LinearForecaster(window, 1),
    "LSTM": lambda window: LSTMForecaster(window, 1, hidden_size=32),
    "Transformer": lambda window: TransformerForecaster(CONFIG, window, 1),
}


def network(kind: str, window: int, seed: int = 0) -> Forecaster:
    """Return one of `KINDS`, untrained, that reads so many weeks.

    Raises: ValueError if there is no such kind.
    """
    check_choice("kind", kind, KINDS)
    torch.manual_seed(seed)
    return KINDS[kind](window)


def train(
    model: Forecaster, held: Weeks, *, rate: float, steps: int = STEPS, seed: int = 0
) -> list[float]:
    """Train a network on the windows of the training weeks; return the loss of each step.

    As in the table, weeks are scaled, the loss is Huber's, and a batch has 64 windows at most,
    which here is all of them.
    """
    past, future = windows(_scaled(held)[: held.train.stop], model.S, 1)
    batches = Batches(past, future, batch_size=64, shuffle=True)
    epochs = math.ceil(steps / len(batches))
    optimiser, schedule = rise_and_fall(model, rate, epochs * len(batches))
    history = fit(
        model,
        batches,
        lambda outputs, target: F.huber_loss(outputs[:, :, 0], target),
        optimiser,
        epochs=epochs,
        seed=seed,
        schedule=schedule,
    )
    model.eval()
    return history.step_loss


@torch.no_grad()
def network_forecast(model: Forecaster, held: Weeks, part: range) -> Tensor:
    """Forecast each week of a part from the window before it: (len(part),), in pounds."""
    past, _ = windows(_scaled(held)[part.start - model.S : part.stop], model.S, 1)
    scaled = model(past)[:, :, 0]  # (len(part), 1)
    return _scaler(held).unscale(scaled.double())[:, 0]


def _scaler(held: Weeks) -> PastScaler:
    """The scaler of the training weeks."""
    return PastScaler.of(held.values[: held.train.stop])


def _scaled(held: Weeks) -> Tensor:
    return _scaler(held).scale(held.values).float()


class Trained(NamedTuple):
    """Networks at the rate that is best by the validation weeks, one for each seed."""

    rate: float
    by_rate: list[float]  # mean absolute error on the validation weeks
    models: list[Forecaster]


def best_networks(
    kind: str, window: int, held: Weeks, seeds: range, *, steps: int = STEPS
) -> Trained:
    """Choose one of `RATES` by the first `CHOOSING` seeds, and train all seeds with it."""

    def trained(rate: float, seeds: range) -> list[Forecaster]:
        models = [network(kind, window, seed) for seed in seeds]
        for seed, model in zip(seeds, models, strict=True):
            train(model, held, rate=rate, steps=steps, seed=seed)
        return models

    def error(models: list[Forecaster]) -> float:
        part = held.validation
        return fmean(
            measured(held, part, network_forecast(model, held, part)).mae for model in models
        )

    by_rate = {rate: trained(rate, seeds[:CHOOSING]) for rate in RATES}
    errors = {rate: error(models) for rate, models in by_rate.items()}
    rate = min(errors, key=errors.get)
    models = by_rate[rate] + trained(rate, seeds[CHOOSING:])
    return Trained(rate, list(errors.values()), models)
