"""The loss that a quantile minimises."""

from collections.abc import Sequence

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def pinball_loss(forecast: Tensor, target: Tensor, quantiles: Sequence[float]) -> Tensor:
    """Return the mean of q (y - ŷ) where y is above the forecast, of (1 - q) (ŷ - y) where below.

    Shapes: forecast ŷ (B, Q), target y (B,), to one number; quantiles: the Q shares q.
    """
    q = torch.tensor(quantiles, dtype=forecast.dtype)
    above = target[:, None] - forecast  # (B, Q)
    return torch.maximum(q * above, (q - 1) * above).mean()


exercise = Exercise(pinball_loss)


# What it is tried on: quantiles that single precision has, too ------------------------------------


@exercise.stage("one quantile, and a target above its forecast")
def above():
    return [(random(1, 1) - 5, random(1), (0.875,)), (random(1, 1) - 4, random(1), (0.25,))]


@exercise.stage("one quantile, and a target below its forecast")
def below():
    return [(random(1, 1) + 5, random(1), (0.875,)), (random(1, 1) + 4, random(1), (0.25,))]


@exercise.stage("one quantile, and targets on both sides")
def both_sides():
    return [(random(7, 1), random(7), (0.75,)), (random(6, 1), random(6), (0.5,))]


@exercise.stage("several quantiles")
def several():
    return [
        (random(5, 3), random(5), (0.125, 0.5, 0.8125)),
        (random(4, 2), random(4), (0.0625, 0.75)),
    ]


@exercise.stage("as many quantiles as targets")
def as_many():
    return [(random(3, 3), random(3), (0.1875, 0.625, 0.9375))]


# What goes wrong ----------------------------------------------------------------------------------


def sides(forecast: Tensor, target: Tensor, quantiles) -> tuple[Tensor, Tensor, Tensor]:
    """Return q, and how far each target is above its forecast, and how far below, 0 or more."""
    q = torch.tensor(quantiles, dtype=forecast.dtype)
    difference = target[:, None] - forecast
    return q, difference.clamp(min=0), (-difference).clamp(min=0)


@exercise.mistake(
    "q and 1 - q are exchanged: for q = 0.9, a forecast that is too low has to cost more, since "
    "nine of ten targets should be below it."
)
def exchanged(forecast, target, quantiles):
    return pinball_loss(forecast, target, [1 - q for q in quantiles])


@exercise.mistake(
    "the quantiles are in another order than the forecasts: the first forecast is of the first q."
)
def crossed(forecast, target, quantiles):
    return pinball_loss(forecast, target, quantiles[::-1])


@exercise.mistake(
    "you sort the forecasts first: then a high quantile that is below a low one costs nothing."
)
def sorted_first(forecast, target, quantiles):
    return pinball_loss(forecast.sort(dim=1).values, target, quantiles)


@exercise.mistake("both sides cost the same, q: only one of them does.")
def q_on_both_sides(forecast, target, quantiles):
    q, above, below = sides(forecast, target, quantiles)
    return (q * (above + below)).mean()


@exercise.mistake("both sides cost the same, 1 - q: only one of them does.")
def rest_on_both_sides(forecast, target, quantiles):
    q, above, below = sides(forecast, target, quantiles)
    return ((1 - q) * (above + below)).mean()


@exercise.mistake("a target below its forecast costs nothing in yours: a huge forecast would win.")
def above_alone(forecast, target, quantiles):
    q, above, _ = sides(forecast, target, quantiles)
    return (q * above).mean()


@exercise.mistake("a target above its forecast costs nothing in yours: a tiny forecast would win.")
def below_alone(forecast, target, quantiles):
    q, _, below = sides(forecast, target, quantiles)
    return ((1 - q) * below).mean()


@exercise.mistake("that is the mean absolute error: no quantile makes a difference.")
def absolute(forecast, target, quantiles):
    return (target[:, None] - forecast).abs().mean()


@exercise.mistake(
    "that is half of the mean absolute error, as for q = 0.5: the other quantiles have no effect."
)
def half(forecast, target, quantiles):
    return absolute(forecast, target, quantiles) / 2


@exercise.mistake(
    "errors have a sign in yours, so that the loss falls without end as forecasts grow."
)
def signed(forecast, target, quantiles):
    q, above, below = sides(forecast, target, quantiles)
    return (q * (above - below)).mean()


@exercise.mistake(
    "below the forecast your loss is negative, a reward for being too high: both sides cost."
)
def negative_below(forecast, target, quantiles):
    q, above, below = sides(forecast, target, quantiles)
    return (q * above - (1 - q) * below).mean()


@exercise.mistake(
    "above the forecast your loss is negative, a reward for being too low: both cost."
)
def negative_above(forecast, target, quantiles):
    q, above, below = sides(forecast, target, quantiles)
    return ((1 - q) * below - q * above).mean()


@exercise.mistake(
    "a minus is missing: one of the two in your maximum is for targets below, where y - ŷ is "
    "negative."
)
def minus_missing(forecast, target, quantiles):
    q, difference = torch.tensor(quantiles, dtype=forecast.dtype), target[:, None] - forecast
    return torch.maximum(q * difference, (1 - q) * difference).mean()


@exercise.mistake("that is the smaller one of the two costs: the larger one is the one that holds.")
def smaller(forecast, target, quantiles):
    q, difference = torch.tensor(quantiles, dtype=forecast.dtype), target[:, None] - forecast
    return torch.minimum(q * difference, (q - 1) * difference).mean()


@exercise.mistake("errors are squared: the minimum of that is an expectile, and not a quantile.")
def squared(forecast, target, quantiles):
    q, above, below = sides(forecast, target, quantiles)
    return (q * above.square() + (1 - q) * below.square()).mean()


@exercise.mistake(
    "yours is twice as large: some define it so, to get the absolute error at q = 0.5."
)
def doubled(forecast, target, quantiles):
    return 2 * pinball_loss(forecast, target, quantiles)


@exercise.mistake("you add up all losses: take their mean, or a larger batch makes larger steps.")
def summed_up(forecast, target, quantiles):
    return forecast.numel() * pinball_loss(forecast, target, quantiles)


@exercise.mistake("you add up the quantiles' losses: the mean is over them, too.")
def quantiles_summed_up(forecast, target, quantiles):
    return forecast.shape[1] * pinball_loss(forecast, target, quantiles)


@exercise.mistake(
    "you add up the targets' losses, and take a mean over quantiles: it is over both."
)
def targets_summed_up(forecast, target, quantiles):
    return forecast.shape[0] * pinball_loss(forecast, target, quantiles)


@exercise.mistake("these are the losses of each quantile: return the mean of all.")
def of_each_quantile(forecast, target, quantiles):
    q, above, below = sides(forecast, target, quantiles)
    return (q * above + (1 - q) * below).mean(dim=0)


@exercise.mistake("these are the losses of each forecast: return the mean of all.")
def of_each_forecast(forecast, target, quantiles):
    q, above, below = sides(forecast, target, quantiles)
    return q * above + (1 - q) * below


@exercise.mistake("all forecasts are judged by the first quantile: each has one of its own.")
def first_quantile(forecast, target, quantiles):
    return pinball_loss(forecast, target, quantiles[:1] * len(quantiles))


@exercise.mistake("all forecasts are judged by the mean of the quantiles: each has one of its own.")
def mean_quantile(forecast, target, quantiles):
    return pinball_loss(forecast, target, [sum(quantiles) / len(quantiles)] * len(quantiles))


@exercise.mistake(
    "only the first forecast of each target is judged: there is one for each quantile."
)
def first_forecast(forecast, target, quantiles):
    return pinball_loss(forecast[:, :1], target, quantiles[:1])


@exercise.mistake(
    "targets are lined up with the quantiles, which shows where there are as many of both: each "
    "row has its own target."
)
def along_the_quantiles(forecast, target, quantiles):
    q, difference = torch.tensor(quantiles, dtype=forecast.dtype), target - forecast
    return torch.maximum(q * difference, (q - 1) * difference).mean()


@exercise.mistake(
    "losses are divided by the targets' size: here they are in the unit of the series."
)
def over_the_targets(forecast, target, quantiles):
    return pinball_loss(forecast, target, quantiles) / target.abs().mean()
