"""Many series of sales whose truth is known: they are made of parts, which are given back.

A day's sales are a product: level · trend · week · year · promotion · holiday · shift · noise, or
nothing, where the shelf was empty. A forecaster knows sales, dates, promotions and holidays.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import reduce
from operator import mul
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

START = np.datetime64("2020-01-06")  # a Monday
YEAR = 365.25
HOLIDAYS = ("01-01", "02-14", "04-05", "05-01", "07-04", "10-31", "11-27", "12-24")  # month, day
NO_TRUTH = ("noise", "in stock")  # the parts that nobody can know beforehand


@dataclass(frozen=True)
class Market:
    """How strong each part is, on average over the series; 0 leaves it out.

    week, year: standard deviation of the logarithm of the seasons.
    trend: growth of a year, as a logarithm: drawn for each series, with this standard deviation.
    promotion, holiday: logarithm of the factor on such days; series differ in it by a third.
    promoted: share of the weeks in which there is a promotion, of a whole week.
    empty: share of the days on which the shelf is empty, in runs of a few days.
    shift: logarithm of the factor, up or down, by which the level changes, from a random day on.
    shifts: how many such changes there are in a year.
    noise: standard deviation of the noise's logarithm; its mean is 1, and its median below that.
    Raises: ValueError if one is negative, or a share is too large.
    """

    week: float = 0.3
    year: float = 0.3
    trend: float = 0.2
    promotion: float = 0.6
    promoted: float = 0.15
    holiday: float = 0.5
    empty: float = 0.02
    shift: float = 0.5
    shifts: float = 0.3
    noise: float = 0.25

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0 <= value < math.inf:
                raise ValueError(f"{field.name} is a number of at least 0, got {value}.")
        for name, most in (("promoted", 1), ("empty", 0.5)):
            if getattr(self, name) > most:
                raise ValueError(f"{name} is a share, at most {most}, got {getattr(self, name)}.")


class Sales(NamedTuple):
    """Series, what was known beforehand, and the truth.

    known: promotion and holiday, 1 on such days and 0 on others.
    parts: factors, whose product are the values.
    sigma: standard deviation of the logarithm of each series' noise.
    """

    dates: np.ndarray  # (T,) of datetime64[D]
    values: Tensor  # (n, T), float64, 0 or more
    known: Tensor  # (n, T, 2)
    parts: dict[str, Tensor]  # {name: (n, T)}
    sigma: Tensor  # (n,)

    def expected(self) -> Tensor:
        """Return the mean of what could be sold, given the true parts: (n, T).

        No forecast has a smaller mean squared error where there is stock.
        """
        true = (part for name, part in self.parts.items() if name not in NO_TRUTH)
        return reduce(mul, true)

    def quantile(self, q: float) -> Tensor:
        """Return what is not exceeded with a probability of q, given stock: (n, T).

        No forecast has a smaller pinball loss; at q = 0.5, none a smaller mean absolute error.
        Raises: ValueError if q isn't between 0 and 1.
        """
        if not 0 < q < 1:
            raise ValueError(f"A quantile is between 0 and 1, got {q}.")
        z = torch.special.ndtri(torch.tensor(q, dtype=torch.float64))
        return self.expected() * (self.sigma * z - self.sigma**2 / 2).exp()[:, None]


def generate(n: int, T: int, *, seed: int = 0, market: Market | None = None) -> Sales:
    """Write n daily series of T days. More of them, or longer ones, begin with the same numbers.

    Weeks, years and holidays are alike in all series but for their strength; promotions, empty
    shelves and shifts come at each series' own days.
    Raises: ValueError if there is no series or no day.
    """
    for name, size in (("n", n), ("T", T)):
        if not isinstance(size, int) or size < 1:
            raise ValueError(f"{name} is a whole number of at least 1, got {size!r}.")
    market = market or Market()
    dates = START + np.arange(T)
    common = np.random.default_rng([seed, 0])
    week = _centred(common.normal(size=7))
    phase = common.uniform(0, 2 * math.pi)
    holiday = np.isin([str(day)[5:] for day in dates], HOLIDAYS).astype(float)
    series = [_parts(_chances(seed, i), market, dates, week, phase, holiday) for i in range(n)]
    parts = {name: torch.from_numpy(np.stack([one[name] for one in series])) for name in series[0]}
    promoted = parts.pop("promoted")
    known = torch.stack([promoted, torch.from_numpy(holiday).expand(n, T)], dim=2)
    sigma = parts.pop("sigma")
    return Sales(dates, reduce(mul, parts.values()), known, parts, sigma)


def _chances(seed: int, i: int) -> Iterator[np.random.Generator]:
    """Generators for series i: one for each use, so that a longer series begins like a shorter."""
    use = 0
    while True:
        yield np.random.default_rng([seed, 1, i, use])
        use += 1


def _parts(chances, market, dates, week, phase, holiday) -> dict[str, np.ndarray]:
    """The factors of one series, each (T,), with its promoted days and its noise's deviation."""
    T, m = len(dates), market
    own = next(chances)
    level, growth = 100 * math.exp(own.normal()), own.normal(0, m.trend)
    strength = {name: own.uniform(2 / 3, 4 / 3) for name in ("week", "year", "noise")}
    lift = {name: own.normal(1, 1 / 3) for name in ("promotion", "holiday")}
    day = np.arange(T)  # the first is a Monday
    angle = 2 * math.pi * day / YEAR - phase
    promoted = np.repeat(next(chances).random(T // 7 + 1) < m.promoted, 7)[:T].astype(float)
    sigma = m.noise * strength["noise"]
    noise = next(chances).normal(size=T)
    jumps = (next(chances).random(T) < m.shifts / YEAR) * next(chances).choice([-1, 1], size=T)
    return {
        "level": np.full(T, level),
        "trend": np.exp(growth * day / YEAR),
        "week": np.exp(m.week * strength["week"] * week[day % 7]),
        "year": np.exp(m.year * strength["year"] * math.sqrt(2) * np.cos(angle)),
        "promotion": np.exp(m.promotion * lift["promotion"] * promoted),
        "holiday": np.exp(m.holiday * lift["holiday"] * holiday),
        "shift": np.exp(m.shift * jumps.cumsum()),
        "noise": np.exp(sigma * noise - sigma**2 / 2),
        "in stock": 1 - _runs(next(chances), m.empty, T),
        "promoted": promoted,
        "sigma": np.float64(sigma),
    }


def _centred(x: np.ndarray) -> np.ndarray:
    """Numbers with a mean of 0 and a deviation of 1."""
    return (x - x.mean()) / x.std()


def _runs(chance: np.random.Generator, share: float, T: int, mean: float = 3) -> np.ndarray:
    """1 in runs whose mean length is given, 0 elsewhere; `share` of all days are in a run."""
    begins, ends = share / (mean * (1 - share)), 1 / mean
    inside, found = False, np.zeros(T)
    for t, drawn in enumerate(chance.random(T)):
        inside = drawn >= ends if inside else drawn < begins
        found[t] = inside
    return found
