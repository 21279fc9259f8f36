"""Day 14: how far a forecast is off: four measures of a published table, and one for many series.

Shapes: target and forecast (…), alike; each measure is one number, the mean over all of them.
"""

import torch
from torch import Tensor

from utils.arguments import check_sizes, described


def mae(target: Tensor, forecast: Tensor) -> Tensor:
    """Return the mean absolute error, in the unit of the series.

    Raises: ValueError if the two differ in shape, are empty, or have NaN or infinite numbers.
    """
    check_pair(target, forecast)
    return floating((target - forecast).abs()).mean()


def mape(target: Tensor, forecast: Tensor) -> Tensor:
    """Return the mean absolute percentage error, as a share: mean of |y - ŷ| / |y|.

    Raises: ValueError as `mae` does, or if a target is 0.
    """
    check_pair(target, forecast)
    if (target == 0).any():
        raise ValueError("A target is 0, and no error is a share of it: measure by `mae` instead.")
    return ((target - forecast) / target).abs().mean()


def smape(target: Tensor, forecast: Tensor) -> Tensor:
    """Return the symmetric MAPE, from 0 to 2: mean of 2 |y - ŷ| / (|y| + |ŷ|) (Makridakis, 1993).

    Where both are 0, the forecast is correct, and its error is 0. Some divide by |y| + |ŷ| without
    the 2, so that the largest error is 1.
    Raises: ValueError as `mae` does.
    """
    check_pair(target, forecast)
    error, size = (target - forecast).abs(), target.abs() + forecast.abs()
    return torch.where(size == 0, 0, 2 * error / size.where(size != 0, 1)).mean()


def weighted_mae(
    target: Tensor, forecast: Tensor, median: float, *, least: float = 1, most: float = 5
) -> Tensor:
    """Return the mean absolute error in which weeks of large sales count for more.

    A week's weight is y / median, clipped to `least` … `most`; the sum is divided by the weights'.

    median: of sales known beforehand, so that no weight depends on what other weeks will bring.
    Raises: ValueError as `mae` does, if the median isn't positive, if a weight could be negative,
        or if all are 0.
    """
    check_pair(target, forecast)
    if not median > 0:
        raise ValueError(f"Weights are relative to a positive median, got {median}.")
    if not 0 <= least <= most:
        raise ValueError(f"The smallest weight is from 0 to the largest, {most}, got {least}.")
    weights = (target / median).clamp(least, most)
    if not weights.any():
        raise ValueError("All weights are 0, so no week counts: let `least` be above 0.")
    return (weights * (target - forecast).abs()).sum() / weights.sum()


def mase(target: Tensor, forecast: Tensor, past: Tensor, season: int = 1) -> Tensor:
    """Return the mean absolute scaled error (Hyndman & Koehler, 2006): of many series, comparable.

    Each series' errors are divided by the mean absolute error of "as a season before" over its
    past: below 1 is better than that.
    Shapes: target and forecast (…, T), past (…, S).
    Raises: ValueError as `mae` does, if a season has less than a step, or if the past isn't longer
        than a season, or repeats itself.
    """
    check_sizes(season=season)
    check_pair(target, forecast)
    check_tensors(past)
    check_finite("A past", past)
    if not past.dim() or past.shape[:-1] != target.shape[:-1] or past.shape[-1] <= season:
        steps = "step" if season == 1 else "steps"
        raise ValueError(
            f"Expected a past of more than {season} {steps} for each series, got "
            f"{tuple(past.shape)} for {tuple(target.shape)}."
        )
    changes = (past[..., season:] - past[..., :-season]).abs()
    scale = floating(changes).mean(dim=-1, keepdim=True)
    if (scale == 0).any():
        raise ValueError("A past repeats itself to the last digit: no error is measured by that.")
    return ((target - forecast).abs() / scale).mean()


def check_pair(target: Tensor, forecast: Tensor) -> None:
    """Raise a ValueError if there isn't a number as forecast for each target, or there is none."""
    check_tensors(target, forecast)
    if target.shape != forecast.shape or not target.numel():
        raise ValueError(
            f"Expected a forecast for each target, got {tuple(forecast.shape)} for "
            f"{tuple(target.shape)}."
        )
    check_finite("A target", target)
    check_finite("A forecast", forecast)


def check_tensors(*values: Tensor) -> None:
    """Raise a ValueError if something is no tensor of numbers, such as a list."""
    for value in values:
        if not isinstance(value, Tensor) or value.dtype == torch.bool:
            raise ValueError(f"Expected a tensor of numbers, got {described(value)}.")


def check_finite(what: str, values: Tensor) -> None:
    """Raise a ValueError if a number is missing."""
    if not values.isfinite().all():
        raise ValueError(f"{what} is NaN or infinite: fill it in, or leave that step out.")


def floating(values: Tensor) -> Tensor:
    """Return whole numbers as floating-point ones, which have a mean, and others as they are."""
    return values if values.is_floating_point() else values.to(torch.get_default_dtype())
