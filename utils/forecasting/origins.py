"""Day 14: what a forecaster may see: windows, origins that roll on, and a scale of the past alone.

Shapes: a series (…, n) has one number a step. An origin is the number of steps that are known when
a forecast is made: it sees series[..., :origin], and T steps from there are to be forecast, the
horizon. Of what is known, a model reads the last S steps.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from utils.arguments import check_sizes
from utils.forecasting.measures import check_tensors, floating

FLAT = 1e-8  # a deviation below it is that of a constant


def windows(series: Tensor, S: int, T: int) -> tuple[Tensor, Tensor]:
    """Cut a series into all pairs of S steps and the T that follow.

    Shapes: series (…, n) to pasts (…, n - S - T + 1, S) and futures (…, n - S - T + 1, T).
    Raises: ValueError if a size is below 1, or the series is too short for one pair.
    """
    check_sizes(S=S, T=T)
    check_length(series, S + T)
    both = series.unfold(-1, S + T, 1)
    return both[..., :S], both[..., S:]


def rolling_origin(n: int, first: int, T: int, step: int = 1) -> list[tuple[range, range]]:
    """Return what is known, and what is forecast, at each origin from `first` on.

    Each forecast is judged on steps that come after all that it has seen (Tashman, 2000).
    n: length of the series; the last forecast ends with it, or before.
    step: how far the origin moves on.
    Returns: pairs of ranges, 0 … origin - 1 and origin … origin + T - 1.
    Raises: ValueError if a size is below 1, or there is no room for one forecast.
    """
    check_sizes(n=n, first=first, T=T, step=step)
    if first + T > n:
        raise ValueError(f"After {first} known steps, {T} more don't fit into a series of {n}.")
    origins = range(first, n - T + 1, step)
    return [(range(origin), range(origin, origin + T)) for origin in origins]


def split(n: int, shares: Sequence[float] = (0.7, 0.15, 0.15)) -> tuple[range, range, range]:
    """Cut time into a first part to learn from, one to choose with, and a last one to test on.

    The lengths of the later parts are rounded, and the first takes what is left.
    Raises: ValueError if a part is empty, or the shares don't add up to 1.
    """
    check_sizes(n=n)
    if len(shares) != 3 or abs(sum(shares) - 1) > 1e-9:
        raise ValueError(f"Expected three shares that add up to 1, got {tuple(shares)}.")
    n_validation, n_test = (round(share * n) for share in shares[1:])
    first, second = n - n_validation - n_test, n - n_test
    if not 0 < first < second < n:
        raise ValueError(f"A series of {n} steps leaves a part empty at shares of {tuple(shares)}.")
    return range(first), range(first, second), range(second, n)


class PastScaler(NamedTuple):
    """Bring series to one scale, by the mean and the deviation of their past, and back."""

    mean: Tensor  # (…, 1)
    deviation: Tensor  # (…, 1)

    @classmethod
    def of(cls, past: Tensor) -> "PastScaler":
        """Return the scaler of what is known: (…, n), n steps of each series; no later one.

        A constant is only moved to 0.
        Raises: ValueError if there is no step.
        """
        check_length(past, 1)
        past = floating(past)
        deviation = past.std(dim=-1, keepdim=True, unbiased=False)
        flat = deviation <= FLAT * past.abs().amax(dim=-1, keepdim=True)
        return cls(past.mean(dim=-1, keepdim=True), torch.where(flat, 1.0, deviation))

    def scale(self, values: Tensor) -> Tensor:
        """Return values (…, T) on the common scale."""
        return (values - self.mean) / self.deviation

    def unscale(self, values: Tensor) -> Tensor:
        """Return values (…, T) in the series' own unit."""
        return values * self.deviation + self.mean


def check_length(series: Tensor, least: int) -> None:
    """Raise a ValueError if a series is no tensor, too short, or has a step without a number."""
    check_tensors(series)
    if series.dim() == 0 or series.shape[-1] < least:
        n = series.shape[-1] if series.dim() else 0
        steps = "step" if least == 1 else "steps"
        raise ValueError(f"A series of at least {least} {steps} is needed, got one of {n}.")
    if not series.isfinite().all():
        raise ValueError("A series has NaN or infinite steps: fill them in, or leave it out.")
