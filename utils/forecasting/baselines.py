"""Day 14: forecasts that learn nothing, which each network has to beat first.

Shapes: past (…, S) to forecasts (…, T) (Hyndman & Athanasopoulos, 2021, §5.2).
"""

import torch
from torch import Tensor

from utils.arguments import check_sizes
from utils.forecasting.measures import floating
from utils.forecasting.origins import check_length


def naive(past: Tensor, T: int) -> Tensor:
    """Repeat the last value T times."""
    return seasonal_naive(past, T, 1)


def seasonal_naive(past: Tensor, T: int, season: int) -> Tensor:
    """Repeat the last season: step t is as t - season, or as many seasons before as are needed.

    Raises: ValueError if the past is shorter than a season.
    """
    check_sizes(T=T, season=season)
    check_length(past, season)
    place = torch.arange(T, device=past.device) % season
    return past[..., past.shape[-1] - season + place]


def drift(past: Tensor, T: int) -> Tensor:
    """Go on along the line from the first value to the last.

    Raises: ValueError if the past has fewer than two steps.
    """
    check_sizes(T=T)
    check_length(past, 2)
    slope = (past[..., -1:] - past[..., :1]) / (past.shape[-1] - 1)
    return past[..., -1:] + slope * torch.arange(1, T + 1, device=past.device)


def mean_forecast(past: Tensor, T: int) -> Tensor:
    """Repeat the mean of the past."""
    check_sizes(T=T)
    check_length(past, 1)
    return floating(past).mean(dim=-1, keepdim=True).expand(*past.shape[:-1], T)
