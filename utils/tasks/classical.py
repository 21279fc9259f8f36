"""Day 14's rivals that a library has: exponential smoothing and SARIMAX, by statsmodels.

Shapes: past (S,), known inputs (S + T, K), or None if there are none, to a forecast (T,). Both may
forecast the logarithm instead, of 1 + y: what is turned back is then a median, not a mean.
"""

import warnings
from collections.abc import Callable
from contextlib import contextmanager

import numpy as np
import torch
from statsmodels.tsa.exponential_smoothing.ets import ETSModel
from statsmodels.tsa.statespace.sarimax import SARIMAX
from torch import Tensor

from utils.arguments import check_sizes
from utils.forecasting.measures import check_finite, check_tensors
from utils.forecasting.origins import check_length


def ets(past: Tensor, T: int, *, season: int = 1, trend: bool = False, log: bool = False) -> Tensor:
    """Forecast by exponential smoothing with additive errors (Hyndman & Athanasopoulos, 2021, §8).

    season: steps of an additive season; 1 without.
    trend: whether there is a damped trend.
    Raises: ValueError if the past is not one series, shorter than two seasons or ten steps, or has
        no logarithm; or if a size is below 1.
    """
    check_sizes(T=T, season=season)
    check_past(past, max(2 * season, 10), log)

    def forecast(y: np.ndarray) -> np.ndarray:
        model = ETSModel(
            y,
            trend="add" if trend else None,
            damped_trend=trend,
            seasonal="add" if season > 1 else None,
            seasonal_periods=season if season > 1 else None,
        )
        return model.fit(disp=False, maxiter=200).forecast(T)

    return _forecast(forecast, past, log)


def sarimax(
    past: Tensor,
    T: int,
    known: Tensor | None = None,
    *,
    order: tuple[int, int, int] = (1, 0, 1),
    season: int = 7,
    seasonal: tuple[int, int, int] = (0, 1, 1),
    log: bool = False,
) -> Tensor:
    """Forecast by a seasonal ARIMA of the errors of a regression on what is known (ibid., §9, §10).

    order, seasonal: autoregressive, differences, moving average; of steps, and of seasons.
    Raises: ValueError if the past is not one series, shorter than two seasons, or has no
        logarithm; if known inputs are too few, or lack a number; or if a size is below 1.
    """
    check_sizes(T=T, season=season)
    check_past(past, 2 * season, log)
    if known is not None:
        if known.dim() != 2 or len(known) != len(past) + T:
            raise ValueError(
                f"Expected known inputs (S + T, K) of {len(past)} + {T} steps, got "
                f"{tuple(known.shape)}."
            )
        check_finite("A known input", known)
    before, after = (None, None) if known is None else np.split(known.numpy(), [len(past)])
    if before is not None:  # an input that never varied has no effect that could be found
        varied = np.ptp(before, axis=0) > 0
        before, after = (x[:, varied] if varied.any() else None for x in (before, after))

    def forecast(y: np.ndarray) -> np.ndarray:
        model = SARIMAX(y, exog=before, order=order, seasonal_order=(*seasonal, season))
        return model.fit(disp=False, maxiter=50).forecast(T, exog=after)

    return _forecast(forecast, past, log)


def check_past(past: Tensor, least: int, log: bool) -> None:
    """Raise a ValueError if a past is not one series, too short, or has no logarithm of 1 + y."""
    check_tensors(past)
    if past.dim() != 1:
        raise ValueError(f"Expected the past of one series, (S,), got {tuple(past.shape)}.")
    check_length(past, least)
    if log and past.min() <= -1:
        raise ValueError(
            f"The logarithm of 1 + y needs values above -1, got {past.min():g}: leave out log=True."
        )


def _forecast(of: Callable[[np.ndarray], np.ndarray], past: Tensor, log: bool) -> Tensor:
    """Forecast a past (S,) of numbers near 1, on the scale that is asked for."""
    y = past.double().numpy()
    scale = 1.0 if log else max(np.abs(y).mean(), 1e-12)
    with quiet():
        found = of(np.log1p(y) if log else y / scale)
    return torch.from_numpy(np.expm1(found) if log else found * scale)


@contextmanager
def quiet():
    """Keep what the library says of a fit that hasn't converged from the page."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
