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

from utils.forecasting.origins import check_length


def ets(past: Tensor, T: int, *, season: int = 1, trend: bool = False, log: bool = False) -> Tensor:
    """Forecast by exponential smoothing with additive errors (Hyndman & Athanasopoulos, 2021, §8).

    season: steps of an additive season; 1 without.
    trend: whether there is a damped trend.
    Raises: ValueError if the past is shorter than two seasons, and ten steps.
    """
    check_length(past, max(2 * season, 10))

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
    Raises: ValueError if the past is shorter than two seasons, or known inputs are too few.
    """
    check_length(past, 2 * season)
    if known is not None and len(known) != len(past) + T:
        raise ValueError(
            f"Expected known inputs of {len(past)} + {T} steps, got {tuple(known.shape)}."
        )
    before, after = (None, None) if known is None else np.split(known.numpy(), [len(past)])
    if before is not None:  # an input that never varied has no effect that could be found
        varied = np.ptp(before, axis=0) > 0
        before, after = (x[:, varied] if varied.any() else None for x in (before, after))

    def forecast(y: np.ndarray) -> np.ndarray:
        model = SARIMAX(y, exog=before, order=order, seasonal_order=(*seasonal, season))
        return model.fit(disp=False, maxiter=50).forecast(T, exog=after)

    return _forecast(forecast, past, log)


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
