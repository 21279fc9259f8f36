"""Day 14: a forecast as a weighted sum of the past.

Shapes: past (B, S), on one scale; of each step, past and future, K inputs may be known beforehand,
(B, S + T, K). Forecasts are (B, T, Q): one number, or Q quantiles, for each of T steps.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_sizes
from utils.forecasting.measures import check_finite, check_tensors, floating
from utils.forecasting.origins import check_length


class Forecaster(nn.Module):
    """What all forecasters share: their sizes, and what they refuse.

    S, T: steps that are read, steps that are forecast.
    n_known: K, inputs that are known beforehand; n_outputs: Q, numbers for each step.
    Shapes: past (B, S), known (B, S + T, K), or None if there are none, to forecasts (B, T, Q).
    Raises: ValueError if a size is below 1, or the inputs have other shapes, NaN or infinite
        numbers, or another precision than the weights.
    """

    def __init__(self, S: int, T: int, *, n_known: int = 0, n_outputs: int = 1):
        super().__init__()
        check_sizes(S=S, T=T, n_outputs=n_outputs)
        self.S, self.T, self.n_known, self.n_outputs = S, T, n_known, n_outputs

    def check(self, past: Tensor, known: Tensor | None) -> None:
        """Raise a ValueError if past or known inputs are of other sizes, or lack a number."""
        check_tensors(past)
        if past.dim() != 2 or past.shape[1] != self.S:
            raise ValueError(f"Expected pasts (B, {self.S}), got {tuple(past.shape)}.")
        dtype = next(self.parameters()).dtype
        if past.dtype != dtype:
            raise ValueError(
                f"Expected pasts of {dtype}, as the weights are, got {past.dtype}: convert them by "
                f"`.to({dtype})`."
            )
        wanted = (len(past), self.S + self.T, self.n_known) if self.n_known else None
        given = None if known is None else tuple(known.shape)
        if given != wanted:
            raise ValueError(f"Expected known inputs {wanted}, got {given}.")
        check_finite("A step of a past", past)
        if known is not None:
            check_finite("A known input", known)


class WithEffects(Forecaster):
    """A forecaster that reads the past alone: each known input has one effect beside it.

    The effect is taken from the past, before the model reads it, and added to the forecast, as in a
    regression whose errors are forecast. It begins at 0.
    """

    def __init__(self, S: int, T: int, *, n_known: int = 0, n_outputs: int = 1):
        super().__init__(S, T, n_known=n_known, n_outputs=n_outputs)
        self.effects = nn.Parameter(torch.zeros(n_known)) if n_known else None

    def forward(self, past: Tensor, known: Tensor | None = None) -> Tensor:
        self.check(past, known)
        if known is None:
            return self.from_past(past)
        before, after = (known.to(past) @ self.effects).split((self.S, self.T), dim=1)
        return self.from_past(past - before) + after[:, :, None]

    def from_past(self, past: Tensor) -> Tensor:
        """Return a forecast of the past alone. Shapes: (B, S) to (B, T, Q)."""
        raise NotImplementedError


class LinearForecaster(WithEffects):
    """Each step of the forecast is a weighted sum of the past ("Linear" of Zeng et al., 2023)."""

    def __init__(self, S: int, T: int, *, n_known: int = 0, n_outputs: int = 1):
        super().__init__(S, T, n_known=n_known, n_outputs=n_outputs)
        self.linear = mean_of_the_past(S, T * n_outputs)

    def from_past(self, past: Tensor) -> Tensor:
        return self.linear(past).unflatten(1, (self.T, self.n_outputs))


class DLinear(WithEffects):
    """Split the past into a trend and the rest; each has a linear layer (Zeng et al., 2023, §4).

    kernel_size: steps of the moving average that is the trend, an odd number.
    Raises: ValueError as `Forecaster` does, or if the kernel is of even size.
    """

    def __init__(
        self, S: int, T: int, *, kernel_size: int = 25, n_known: int = 0, n_outputs: int = 1
    ):
        super().__init__(S, T, n_known=n_known, n_outputs=n_outputs)
        check_kernel(kernel_size)
        self.kernel_size = kernel_size
        self.trend = mean_of_the_past(S, T * n_outputs)
        self.rest = mean_of_the_past(S, T * n_outputs)

    def from_past(self, past: Tensor) -> Tensor:
        trend = moving_average(past, self.kernel_size)
        both = self.trend(trend) + self.rest(past - trend)
        return both.unflatten(1, (self.T, self.n_outputs))


def moving_average(series: Tensor, kernel_size: int) -> Tensor:
    """Return the mean of the steps around each, the ends repeated (Zeng et al., 2023, §4).

    Shapes: series (B, S) to the same.
    Raises: ValueError if the kernel is of even size, these are no series (B, S), or a step has no
        number.
    """
    check_kernel(kernel_size)
    check_tensors(series)
    if series.dim() != 2:
        raise ValueError(f"Expected series (B, S), got {tuple(series.shape)}.")
    check_length(series, 1)
    half = kernel_size // 2
    padded = F.pad(floating(series)[:, None], (half, half), mode="replicate")
    return F.avg_pool1d(padded, kernel_size, stride=1)[:, 0]


def mean_of_the_past(S: int, outputs: int) -> nn.Linear:
    """Return a linear layer that begins as the mean of what it reads."""
    linear = nn.Linear(S, outputs)
    nn.init.constant_(linear.weight, 1 / S)
    nn.init.zeros_(linear.bias)
    return linear


def check_kernel(kernel_size: int) -> None:
    """Raise a ValueError if a moving average has no middle."""
    check_sizes(kernel_size=kernel_size)
    if kernel_size % 2 == 0:
        raise ValueError(f"A moving average around a step is of an odd size, got {kernel_size}.")
