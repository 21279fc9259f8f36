"""Steps of a pipeline for `which_leaks`: of a series (n,) each makes one number a day, (n,)."""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

Step = Callable[[Tensor], Tensor]


def as_it_is(x: Tensor) -> Tensor:
    return x.clone()


def calendar(x: Tensor) -> Tensor:
    return torch.arange(len(x)).to(x) % 7


def lag(by: int) -> Step:
    """The value so many days before, or after, if it is negative; 0 where there is none."""
    if by > 0:
        return lambda x: torch.cat([x.new_zeros(by), x[:-by]])
    return lambda x: torch.cat([x[-by:], x.new_zeros(-by)])


def gap_filled(x: Tensor) -> Tensor:
    """Yesterday's value; the first day, which has none, gets the mean."""
    return torch.cat([x.mean()[None], x[:-1]])


def mean_around(before: int, after: int) -> Step:
    """The mean of the days around each, fewer at the edges."""
    return lambda x: torch.stack(
        [x[max(0, day - before) : day + after + 1].mean() for day in range(len(x))]
    )


def weeks_mean(x: Tensor) -> Tensor:
    """Each day gets the mean of its week."""
    return torch.cat([week.mean().expand(len(week)) for week in x.split(7)])


@cache
def all_steps(n: int, origin: int) -> dict[str, Step]:
    plan = 20.0 + torch.arange(n) % 7  # known beforehand, for all n days
    return {
        "the day's own value": as_it_is,
        "scaled by the mean": lambda x: x / x.mean(),
        "seven days ago": lag(7),
        "tomorrow's value": lag(-1),
        "mean of the last seven days": mean_around(6, 0),
        "mean of seven days around": mean_around(3, 3),
        "scaled by the known days' mean": lambda x: x / x[:origin].mean(),
        "yesterday's value, the gap filled with the mean": gap_filled,
        "share of the largest day": lambda x: x / x.max(),
        "share of the largest day yet": lambda x: x / x.cummax(dim=0).values,
        "the week's mean": weeks_mean,
        "mean of the known days": lambda x: x[:origin].mean().expand_as(x),
        "change since yesterday": lambda x: torch.cat([x.new_zeros(1), x[1:] - x[:-1]]),
        "change until the last day": lambda x: x[-1] - x,
        "value of the last day": lambda x: x[-1].expand_as(x),
        "day of the week": calendar,
        "in seven days": lag(-7),
        "divided by the range of the last ten days": lambda x: x / (x[-10:].max() - x[-10:].min()),
        "times the growth on the last day": lambda x: x * (x[-1] / x[-2]),
        "difference from a plan of n days": lambda x: x - plan.to(x),
    }


@cache
def some(n: int, origin: int, *names: str) -> dict[str, Step]:
    return {name: all_steps(n, origin)[name] for name in names}
