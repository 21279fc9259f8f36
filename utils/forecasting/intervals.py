"""Day 14: a forecast as an interval: quantiles that are learned, and intervals that are calibrated.

Shapes: targets (…), quantiles of each (…, Q), intervals as two ends (…). α is the share of targets
that may lie outside: 0.2 for an interval of 80%.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from utils.forecasting.measures import check_finite, check_pair, check_tensors, floating


def pinball_loss(forecast: Tensor, target: Tensor, quantiles: Sequence[float]) -> Tensor:
    """Return the loss whose minimum are quantiles (Koenker & Bassett, 1978).

    Mean of q (y - ŷ) where y is above the forecast, and of (1 - q) (ŷ - y) where it is below. At
    q = 0.5 it is half of the mean absolute error.
    Shapes: forecast (…, Q), target (…).
    Raises: ValueError if they don't fit, there is none, a quantile isn't between 0 and 1, or a
        number is missing.
    """
    check_tensors(forecast, target)
    if forecast.shape != (*target.shape, len(quantiles)):
        raise ValueError(
            f"Expected {len(quantiles)} quantiles for each of {tuple(target.shape)} targets, got "
            f"{tuple(forecast.shape)}."
        )
    if not forecast.numel():
        raise ValueError(f"Expected a target and a quantile or more, got {tuple(forecast.shape)}.")
    if not all(0 < q < 1 for q in quantiles):
        raise ValueError(f"Quantiles are between 0 and 1, got {tuple(quantiles)}.")
    check_finite("A target", target)
    check_finite("A forecast", forecast)
    forecast = floating(forecast)
    q = torch.tensor(quantiles, dtype=forecast.dtype, device=forecast.device)
    above = target[..., None] - forecast
    return torch.maximum(q * above, (q - 1) * above).mean()


class Interval(NamedTuple):
    """Between which ends a target is expected: each (…)."""

    low: Tensor
    high: Tensor


def conformal_width(scores: Tensor, alpha: float) -> Tensor:
    """Return the score that a new one exceeds with a probability of at most α.

    Of n scores it is the k-th smallest, k = ⌈(n + 1)(1 - α)⌉, or infinite if n is too small for
    that (Lei et al., 2018, alg. 2; Romano et al., 2019, alg. 1). The new one has to be exchangeable
    with them, which a later step of a series is only as far as nothing has changed.
    Shapes: scores (n, …) to (…).
    Raises: ValueError if there is no score, one isn't finite, or α isn't between 0 and 1.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"α is a share between 0 and 1, got {alpha}.")
    check_tensors(scores)
    if scores.dim() == 0 or not len(scores):
        raise ValueError("There is no score to calibrate by.")
    check_finite("A score", scores)
    scores = floating(scores)  # infinity is no whole number
    k = math.ceil((len(scores) + 1) * (1 - alpha) - 1e-9)  # 9.000000000000002 is 9
    if k > len(scores):
        return torch.full_like(scores[0], math.inf)
    return scores.sort(dim=0).values[k - 1]


def split_conformal(
    forecast: Tensor, calibration_target: Tensor, calibration_forecast: Tensor, alpha: float
) -> Interval:
    """Put an interval of one width around a forecast (Lei et al., 2018, alg. 2).

    The width is that of |y - ŷ| on pairs that the model hasn't learned from.
    Shapes: forecast (B, …), calibration (n, …); each place has its own width.
    Raises: ValueError as `conformal_width` does, or if there isn't a forecast for each target.
    """
    check_pair(calibration_target, calibration_forecast)
    width = conformal_width((calibration_target - calibration_forecast).abs(), alpha)
    return Interval(forecast - width, forecast + width)


def conformal_quantiles(
    interval: Interval, calibration_target: Tensor, calibration: Interval, alpha: float
) -> Interval:
    """Widen or narrow an interval of learned quantiles (Romano et al., 2019, alg. 1).

    Both ends move by as much as the score max(low - y, y - high) needs: it is how far a target lies
    outside, negative inside. An interval that would end before it begins becomes its middle.
    Shapes: interval (B, …), calibration (n, …); each place has its own score.
    Raises: ValueError as `split_conformal` does.
    """
    check_pair(calibration_target, calibration.low)
    check_pair(calibration_target, calibration.high)
    outside = torch.maximum(
        calibration.low - calibration_target, calibration_target - calibration.high
    )
    width = conformal_width(outside, alpha)
    low, high = interval.low - width, interval.high + width
    middle = (interval.low + interval.high) / 2
    return Interval(torch.where(low > high, middle, low), torch.where(low > high, middle, high))


def coverage(target: Tensor, interval: Interval) -> Tensor:
    """Return the share of targets in their interval, ends included.

    An end may be infinite, as `conformal_width` is.
    Raises: ValueError if there isn't an interval for each target, no target, a number is missing,
        or an interval ends before it begins.
    """
    for end in interval:
        check_pair(target, torch.where(end.isinf(), 0, end))
    if (interval.low > interval.high).any():
        raise ValueError("An interval's low end is above its high one: sort quantiles that cross.")
    return ((interval.low <= target) & (target <= interval.high)).double().mean()
