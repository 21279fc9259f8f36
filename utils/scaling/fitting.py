"""Day 15: a law is fitted to losses that were measured, and says how sure it is.

Shapes: each column, such as the weights N, has one number for each of n trainings, and so have the
losses, in nats for each token.
"""

import itertools
import math
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from utils.arguments import check_sizes
from utils.scaling.laws import PowerLaw, ScalingLaw

DELTA = 1e-3  # of the Huber loss (Hoffmann et al., 2022, §3.3)
FLOORS = (0.1, 0.5, 0.9)  # where a fit begins: E's share of the lowest loss,
SLOPES = (0.1, 0.4, 1.0)  # and each exponent
STEEPEST = 4.0  # an exponent is from 0 to this
LOWEST = math.exp(-20)  # nats that E has at least, so that it has a logarithm
SMALLEST = sys.float_info.min  # a factor too, where nothing falls
Law = PowerLaw | ScalingLaw
Fit = Callable[..., Law]

# One law ------------------------------------------------------------------------------------------


def fit_power_law(x, losses, *, start: PowerLaw | None = None, delta: float = DELTA) -> PowerLaw:
    """Fit L = E + A / x^α as `fit_scaling_law` fits a law of two quantities.

    Raises: ValueError as `fit_scaling_law` does; at least three different x are needed.
    """
    terms = None if start is None else [start[1:]]
    E, (pair,) = _fitted([x], losses, start and start.E, terms, delta)
    return PowerLaw(E, *pair)


def fit_scaling_law(
    N, D, losses, *, start: ScalingLaw | None = None, delta: float = DELTA
) -> ScalingLaw:
    """Fit L = E + A / N^α + B / D^β in logarithms (Hoffmann et al., 2022, approach 3, eq. 3).

    The sum over all trainings of Huber_δ(LSE(a - α log N, b - β log D, e) - log L) is minimised by
    L-BFGS from several starts, with E = exp(e), A = exp(a), B = exp(b), and the lowest minimum is
    kept. The sum it is, not the mean: beside a small mean the optimiser stops too early, as it did
    in the paper (Besiroglu et al., 2024).

    start: another law, from which alone the fit begins.
    Raises: ValueError if columns differ in length, a number is not above 0 and finite, or there are
        not three different N and three different D.
    """
    terms = None if start is None else [(start.A, start.alpha), (start.B, start.beta)]
    E, ((A, alpha), (B, beta)) = _fitted([N, D], losses, start and start.E, terms, delta)
    return ScalingLaw(E, A, B, alpha, beta)


def huber(residuals: np.ndarray, delta: float = DELTA) -> np.ndarray:
    """Return r² / 2 up to δ, and from there on δ · (|r| - δ / 2), so that no outlier rules."""
    size = np.abs(residuals)
    return np.where(size <= delta, size**2 / 2, delta * (size - delta / 2))


def _fitted(
    columns: Sequence, losses, E: float | None, terms: list | None, delta: float
) -> tuple[float, list[tuple[float, float]]]:
    """E, and a factor and an exponent for each column, at the lowest minimum that is found."""
    columns, losses = checked(columns, losses)
    logs = np.log(columns)
    middle = logs.mean(axis=1)
    x, y = logs - middle[:, None], np.log(losses)  # centred, so that a and α hardly disturb another

    def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
        parts = np.vstack([np.full(len(y), theta[0]), theta[1::2, None] - theta[2::2, None] * x])
        predicted = np.logaddexp.reduce(parts, axis=0)
        off = predicted - y
        slope = np.clip(off, -delta, delta) * np.exp(parts - predicted)  # (1 + columns, n)
        gradient = np.empty_like(theta)
        gradient[0], gradient[1::2] = slope[0].sum(), slope[1:].sum(axis=1)
        gradient[2::2] = -(slope[1:] * x).sum(axis=1)
        return huber(off, delta).sum() / delta**2, gradient / delta**2

    if terms is not None:
        a = [
            math.log(max(A, SMALLEST)) - alpha * m
            for (A, alpha), m in zip(terms, middle, strict=True)
        ]
        starts = [[math.log(max(E, LOWEST)), *_alternating(a, [alpha for _, alpha in terms])]]
    else:
        starts = []
        for floor, *slopes in itertools.product(FLOORS, *[SLOPES] * len(columns)):
            above = math.log((np.median(losses) - floor * losses.min()) / len(columns))
            a = [above] * len(columns)
            starts.append([math.log(floor * losses.min()), *_alternating(a, slopes)])
    bounds = [(math.log(LOWEST), None), *[(None, None), (0, STEEPEST)] * len(columns)]
    how = {"jac": True, "method": "L-BFGS-B", "bounds": bounds}
    limits = {"maxiter": 5000, "ftol": 1e-13, "gtol": 1e-6}
    found = [minimize(objective, start, options=limits, **how) for start in starts]
    best = min(found, key=lambda each: each.fun).x
    factors = np.exp(best[1::2] + best[2::2] * middle)
    return math.exp(best[0]), list(zip(factors.tolist(), best[2::2].tolist(), strict=True))


def _alternating(a: Sequence[float], slopes: Sequence[float]) -> list[float]:
    """a_1, α_1, a_2, α_2, …"""
    return [number for pair in zip(a, slopes, strict=True) for number in pair]


def checked(columns: Sequence, losses) -> tuple[np.ndarray, np.ndarray]:
    """Columns (k, n) and losses (n,) as arrays.

    Raises: ValueError as `fit_scaling_law` does.
    """
    *columns, losses = (np.asarray(each, dtype=float) for each in (*columns, losses))
    if losses.ndim != 1 or any(column.shape != losses.shape for column in columns):
        shapes = ", ".join(str(each.shape) for each in (*columns, losses))
        raise ValueError(f"A fit needs one number of each kind for each training, got {shapes}.")
    together = np.array([*columns, losses])
    if not (np.isfinite(together) & (together > 0)).all():
        raise ValueError("A fit in logarithms needs numbers above 0 and finite; one is not.")
    if min(len(np.unique(column)) for column in columns) < 3:
        raise ValueError("A floor, a factor and an exponent need three different sizes at least.")
    return together[:-1], together[-1]


# How sure it is -----------------------------------------------------------------------------------


class Interval(NamedTuple):
    """From where to where."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def interval(values, share: float = 0.9) -> Interval:
    """The middle of some values: as many are left out below as above.

    Raises: ValueError if there is no value, one is not finite, or the share is not between 0 and 1.
    """
    if not 0 < share < 1:
        raise ValueError(f"share is between 0 and 1, got {share}.")
    values = np.asarray(values, dtype=float)
    if values.size == 0:
        raise ValueError("There is no value: an interval needs some.")
    if not np.isfinite(values).all():
        raise ValueError("An interval needs finite values: one is infinite or no number.")
    return Interval(*np.quantile(values, [(1 - share) / 2, (1 + share) / 2]).tolist())


def bootstrap(fit: Fit, *columns, draws: int = 200, seed: int = 0) -> list[Law]:
    """Fit a law again and again to as many trainings, drawn with replacement (Efron, 1979).

    fit: `fit_power_law` or `fit_scaling_law`. The columns are its own, the losses last.
    A draw with fewer than three different sizes is drawn again.
    Raises: ValueError as the fit does, or if draws is below 1.
    """
    check_sizes(draws=draws)
    *sizes, losses = columns
    sizes, losses = checked(sizes, losses)
    whole = fit(*sizes, losses)
    chance, laws = np.random.default_rng(seed), []
    while len(laws) < draws:
        rows = chance.integers(len(losses), size=len(losses))
        if min(len(np.unique(column[rows])) for column in sizes) >= 3:
            laws.append(fit(*sizes[:, rows], losses[rows], start=whole))
    return laws


class Forecast(NamedTuple):
    """What a law says of a training that nobody has run, and an interval around it."""

    loss: float
    interval: Interval
    laws: list[Law]  # of the bootstrap, each of which predicts too


def extrapolate(
    fit: Fit, *columns, at: Sequence[float], share: float = 0.9, draws: int = 200, seed: int = 0
) -> Forecast:
    """Predict the loss of one further training, with the interval in which it should be.

    Each law of `bootstrap` predicts, and one of the residuals is added to each prediction (in
    logarithms, and widened by √(n / (n - parameters)), since a fit comes too near to what it saw).
    So the interval covers what the law doesn't know and what no law knows; it doesn't cover a law
    of the wrong form.

    at: one size for each column but the losses.
    Raises: ValueError as `bootstrap` and `interval` do, or if there are no more trainings than a
        law has parameters, or `at` has another number of sizes.
    """
    *sizes, losses = columns
    sizes, losses = checked(sizes, losses)
    if len(at) != len(sizes):
        raise ValueError(f"at has {len(at)} sizes: the law takes {len(sizes)}.")
    law = fit(*sizes, losses)
    if len(losses) <= len(law):
        raise ValueError(
            f"{len(losses)} trainings for {len(law)} parameters leave no residual: train more."
        )
    wider = math.sqrt(len(losses) / (len(losses) - len(law)))
    residuals = wider * (np.log(losses) - np.log(law.loss(*sizes)))
    laws = bootstrap(fit, *columns, draws=draws, seed=seed)
    predicted = [each.loss(*at) for each in laws]
    chance = np.random.default_rng(seed + 1)
    found = np.array(predicted) * np.exp(chance.choice(residuals, size=draws))
    return Forecast(float(law.loss(*at)), interval(found, share), laws)
