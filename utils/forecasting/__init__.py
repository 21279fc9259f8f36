"""Day 14: what comes next in a series, and how far off one has to expect to be.

Read `measures` first, then `origins`, `baselines`, `linear`, `networks` and `intervals`.
"""

from utils.forecasting.baselines import drift, mean_forecast, naive, seasonal_naive
from utils.forecasting.intervals import (
    Interval,
    conformal_quantiles,
    conformal_width,
    coverage,
    pinball_loss,
    split_conformal,
)
from utils.forecasting.linear import (
    DLinear,
    Forecaster,
    LinearForecaster,
    WithEffects,
    moving_average,
)
from utils.forecasting.measures import mae, mape, mase, smape, weighted_mae
from utils.forecasting.networks import (
    LSTMForecaster,
    PatchForecaster,
    TransformerForecaster,
    cut_patches,
    hide_future,
    weights_by_lag,
)
from utils.forecasting.origins import PastScaler, rolling_origin, split, windows

__all__ = [
    "DLinear",
    "Forecaster",
    "Interval",
    "LSTMForecaster",
    "LinearForecaster",
    "PastScaler",
    "PatchForecaster",
    "TransformerForecaster",
    "WithEffects",
    "conformal_quantiles",
    "conformal_width",
    "coverage",
    "cut_patches",
    "drift",
    "hide_future",
    "mae",
    "mape",
    "mase",
    "mean_forecast",
    "moving_average",
    "naive",
    "pinball_loss",
    "rolling_origin",
    "seasonal_naive",
    "smape",
    "split",
    "split_conformal",
    "weighted_mae",
    "weights_by_lag",
    "windows",
]
