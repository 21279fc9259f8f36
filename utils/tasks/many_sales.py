"""Day 14's fair field: many series whose truth is known, and each method at its best of four tries.

Series are (n, length) of days; a method sees S days, or all that came before, and forecasts the T
that follow, at origins that roll on. It is chosen by the origins of the validation part, then it
learns anew from all that comes before the test part's first origin. Forecasts are (n, O, T, Q), for
O origins and Q quantiles, or Q = 1; the middle one is judged.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from utils.arguments import check_choice, check_sizes
from utils.data.sales import Sales
from utils.forecasting import (
    DLinear,
    Forecaster,
    LinearForecaster,
    LSTMForecaster,
    PastScaler,
    PatchForecaster,
    TransformerForecaster,
    mase,
    pinball_loss,
    rolling_origin,
    seasonal_naive,
)
from utils.forecasting.origins import check_length
from utils.tasks.classical import ets, sarimax
from utils.training.loop import fit
from utils.training.recipes import rise_and_fall
from utils.transformer import TransformerConfig

S, T, SEASON = 56, 14, 7  # days
ORIGINS = 4  # of each part
QUANTILES = 0.1, 0.5, 0.9
STEPS, B = 700, 64
PARTS = "validation", "test"
INPUTS = "given", "promotions", "hidden", "false"
CONFIG = TransformerConfig(1, d_model=32, n_heads=4, d_ff=64, n_layers=1, norm="pre", dropout=0.0)


class Field(NamedTuple):
    """What a method may see: series (n, length) and known inputs (n, length, K), or None."""

    values: Tensor
    known: Tensor | None

    def until(self, step: int, ahead: int = 0) -> "Field":
        """Return the series until a step, and what is known as far ahead."""
        known = None if self.known is None else self.known[:, : step + ahead]
        return Field(self.values[:, :step], known)

    def some(self, rows: slice) -> "Field":
        """Return some of the series."""
        return Field(self.values[rows], None if self.known is None else self.known[rows])


def field(sales: Sales, inputs: str = "given") -> Field:
    """Return generated series with promotions and holidays given, hidden, or false.

    "promotions" gives these alone. False ones are those of the next series, shifted by half of the
    length, so that they say nothing of this one.
    Raises: ValueError for other inputs.
    """
    check_choice("inputs", inputs, INPUTS)
    known = sales.known
    if inputs == "promotions":
        known = known[:, :, :1]
    elif inputs == "false":
        known = known.roll((1, known.shape[1] // 2), dims=(0, 1))
    return Field(sales.values, None if inputs == "hidden" else known)


def origins(length: int, part: str) -> list[int]:
    """Return the steps that are known at each origin of a part; the test part is the last one.

    Raises: ValueError if there is no such part, or no room for both and what is seen before.
    """
    check_choice("part", part, PARTS)
    first = length - 2 * ORIGINS * T
    if first < S + T:
        raise ValueError(
            f"Series of {length} days are too short: {S + T + 2 * ORIGINS * T} or more are needed."
        )
    known = [before.stop for before, _ in rolling_origin(length, first, T, T)]
    return known[:ORIGINS] if part == "validation" else known[ORIGINS:]


# Methods ------------------------------------------------------------------------------------------

Ready = Callable[[Field], Tensor]  # the past of n series, known T steps ahead, to (n, T, Q)


class Method(NamedTuple):
    """A way to forecast: what it can be set to, and how it learns from a field."""

    settings: Sequence[tuple]
    learn: Callable[[Field, tuple, int], Ready]  # of a field, with a setting and a seed


def _naive(past: Field, setting: tuple, seed: int) -> Ready:
    return lambda past: seasonal_naive(past.values, T, SEASON)[:, :, None]


def _ets(past: Field, setting: tuple, seed: int) -> Ready:
    trend, log = setting

    def forecast(past: Field) -> Tensor:
        found = [ets(row, T, season=SEASON, trend=trend, log=log) for row in past.values]
        return torch.stack(found)[:, :, None]

    return forecast


def _sarimax(past: Field, setting: tuple, seed: int) -> Ready:
    orders, log = setting

    def forecast(past: Field) -> Tensor:
        known = [None] * len(past.values) if past.known is None else past.known
        found = [
            sarimax(row, T, of_row, order=orders[0], seasonal=orders[1], season=SEASON, log=log)
            for row, of_row in zip(past.values, known, strict=True)
        ]
        return torch.stack(found)[:, :, None]

    return forecast


NETWORKS: dict[str, Callable[..., Forecaster]] = {  # of a config, which some need
    "linear": lambda _, *sizes, **more: LinearForecaster(*sizes, **more),
    "DLinear": lambda _, *sizes, **more: DLinear(*sizes, **more),
    "LSTM": lambda _, *sizes, **more: LSTMForecaster(*sizes, hidden_size=48, **more),
    "Transformer": TransformerForecaster,
    "patches": PatchForecaster,
}


def network(kind: str, n_known: int, seed: int, positions: str = "rotary") -> Forecaster:
    """Return one of `NETWORKS`, untrained, with an output for each of `QUANTILES`.

    positions: of the Transformer; with learned ones it takes longer to find the week.
    """
    check_choice("kind", kind, NETWORKS)
    torch.manual_seed(seed)
    config = replace(CONFIG, positions=positions)
    return NETWORKS[kind](config, S, T, n_known=n_known, n_outputs=len(QUANTILES))


class Windows:
    """Batches (past, known, target) for `fit`, drawn from all series and days, each on its scale.

    The scale is that of the window's own past, (B, S); without known inputs, there are two tensors.
    Raises: ValueError if the series are shorter than a window, or lack a number.
    """

    def __init__(self, learned: Field, log: bool, steps: int, batch_size: int = B):
        check_sizes(steps=steps, batch_size=batch_size)
        check_length(learned.values, S + T)
        self.values = _transformed(learned.values, log)
        self.known, self.steps, self.batch_size = learned.known, steps, batch_size

    def __len__(self) -> int:
        return self.steps

    def __iter__(self):
        n, length = self.values.shape
        for _ in range(self.steps):
            rows = torch.randint(n, (self.batch_size, 1))
            days = torch.randint(length - S - T + 1, (self.batch_size, 1)) + torch.arange(S + T)
            window = self.values[rows, days]  # (B, S + T)
            scaled = PastScaler.of(window[:, :S]).scale(window).float()
            known = () if self.known is None else (self.known[rows, days].float(),)
            yield scaled[:, :S], *known, scaled[:, S:]


def train(model: Forecaster, learned: Field, rate: float, log: bool, seed: int, steps: int) -> None:
    """Train a network on windows of a field by the pinball loss, at its quantiles."""
    batches = Windows(learned, log, steps)
    optimiser, schedule = rise_and_fall(model, rate, steps)
    loss = partial(pinball_loss, quantiles=QUANTILES)
    fit(model, batches, loss, optimiser, epochs=1, seed=seed, schedule=schedule)
    model.eval()


def ready(model: Forecaster, log: bool) -> Ready:
    """Return what forecasts with a trained network; quantiles that cross are sorted."""

    @torch.no_grad()
    def forecast(past: Field) -> Tensor:
        values = _transformed(past.values[:, -S:], log)
        known = None if past.known is None else past.known[:, -S - T :].float()
        scaler = PastScaler.of(values)
        scaled = model(scaler.scale(values).float(), known).sort(dim=2).values  # (n, T, Q)
        found = scaler.unscale(scaled.double().transpose(1, 2).flatten(1))
        return (found.expm1() if log else found).unflatten(1, (-1, T)).transpose(1, 2)

    return forecast


def _transformed(values: Tensor, log: bool) -> Tensor:
    return values.log1p() if log else values


def _network(kind: str, steps: int) -> Callable[[Field, tuple, int], Ready]:
    def learn(learned: Field, setting: tuple, seed: int) -> Ready:
        rate, log = setting
        model = network(kind, 0 if learned.known is None else learned.known.shape[2], seed)
        train(model, learned, rate, log, seed, steps)
        return ready(model, log)

    return learn


RATES = {"linear": (3e-3, 3e-2), "DLinear": (3e-3, 3e-2)}
ORDERS = ((1, 0, 1), (0, 1, 1)), ((2, 0, 0), (1, 0, 1))
SIMPLE = {
    "seasonal naive": Method([()], _naive),
    "ETS": Method([(trend, log) for trend in (False, True) for log in (False, True)], _ets),
    "SARIMAX": Method([(orders, log) for orders in ORDERS for log in (False, True)], _sarimax),
}
METHODS = (*SIMPLE, *NETWORKS)


def method(name: str, steps: int = STEPS) -> Method:
    """Return a method by its name; each but the naive one has four settings.

    Raises: ValueError if there is none of that name.
    """
    check_choice("name", name, METHODS)
    if name in SIMPLE:
        return SIMPLE[name]
    rates = RATES.get(name, (3e-3, 1e-2))
    settings = [(rate, log) for rate in rates for log in (False, True)]
    return Method(settings, _network(name, steps))


# The field ----------------------------------------------------------------------------------------


def forecasts(how: Method, seen: Field, part: str, setting: tuple, seed: int, rows: int) -> Tensor:
    """Learn from what comes before a part, and forecast at its origins: (rows, O, T, Q).

    rows: of how many series, the first ones, forecasts are wanted.
    """
    known = origins(seen.values.shape[1], part)
    forecast = how.learn(seen.until(known[0]), setting, seed)
    judged = seen.some(slice(rows))
    return torch.stack([forecast(judged.until(origin, T)) for origin in known], dim=1)


def error(seen: Field, part: str, forecast: Tensor) -> float:
    """Return the mean scaled error of forecasts (n, O, T, Q) at a part's origins."""
    target, middle, past = _judged(seen, part, forecast)
    return mase(target.flatten(1), middle.flatten(1), past, SEASON).item()


def errors_by_day(seen: Field, part: str, forecast: Tensor) -> list[float]:
    """Return the mean scaled error for each of the T days ahead."""
    target, middle, past = _judged(seen, part, forecast)
    return [mase(target[..., t], middle[..., t], past, SEASON).item() for t in range(T)]


def errors_at_peaks(
    seen: Field, part: str, forecast: Tensor, share: float = 0.1
) -> tuple[float, float]:
    """Return the mean scaled error on each series' best days, a share of all, and on the others."""
    target, middle, past = _judged(seen, part, forecast)
    target, middle = target.flatten(1), middle.flatten(1)  # (n, O · T)
    order = target.argsort(dim=1, descending=True)
    some = order.split((k := round(share * order.shape[1]), order.shape[1] - k), dim=1)
    peaks, others = (
        mase(target.gather(1, days), middle.gather(1, days), past, SEASON).item() for days in some
    )
    return peaks, others


def _judged(seen: Field, part: str, forecast: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Targets and middle forecasts, (n, O, T) each, and the past that gives their scale."""
    known = origins(seen.values.shape[1], part)
    middle = forecast[..., forecast.shape[-1] // 2]
    past = seen.values[: len(forecast), : known[0]]
    return targets(seen, part)[: len(forecast)], middle, past


def targets(seen: Field, part: str) -> Tensor:
    """Return what is to be forecast at a part's origins: (n, O, T)."""
    known = origins(seen.values.shape[1], part)
    return torch.stack([seen.values[:, origin : origin + T] for origin in known], dim=1)


def best_setting(how: Method, seen: Field, seed: int, rows: int) -> tuple:
    """Return the setting with the smallest error at the validation part's origins."""

    def tried(setting: tuple) -> float:
        return error(seen, "validation", forecasts(how, seen, "validation", setting, seed, rows))

    return min(how.settings, key=tried)


class Found(NamedTuple):
    """What a method reached: its setting, and forecasts of the test part for each seed."""

    settings: list[tuple]  # one for each group of series
    forecasts: list[Tensor]  # (judged, O, T, Q)


def compete(how: Method, seen: Field, group: int, judged: int, seeds: Sequence[int]) -> Found:
    """Let a method learn from groups of so many series, and forecast those that are judged.

    Settings are chosen with the first seed. A group larger than `judged` begins with those series;
    smaller ones share them out, so that with a group of 1 each series has a model of its own.
    Raises: ValueError if there are fewer series than a group needs, or groups don't come out even.
    """
    check_sizes(group=group, judged=judged)
    if max(group, judged) > len(seen.values) or group < judged and judged % group:
        raise ValueError(
            f"{len(seen.values)} series, {judged} of them judged, can't be in groups of {group}."
        )
    settings, found = [], []
    for start in range(0, judged, group):
        mine, rows = seen.some(slice(start, start + group)), min(group, judged)
        setting = best_setting(how, mine, seeds[0], rows)
        settings.append(setting)
        found.append([forecasts(how, mine, "test", setting, seed, rows) for seed in seeds])
    return Found(settings, [torch.cat(of_seed) for of_seed in zip(*found, strict=True)])
