"""By how many percent is a forecast off, if the percentage is of both, target and forecast?"""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def smape(target: Tensor, forecast: Tensor) -> float:
    """Return the symmetric MAPE in percent: the mean of 100 · 2 |y - ŷ| / (|y| + |ŷ|).

    Where target and forecast are both 0, the error is 0.
    Shapes: target y and forecast ŷ (n,) to one number from 0 to 200.
    """
    error, size = (target - forecast).abs(), target.abs() + forecast.abs()
    shares = torch.where(size == 0, 0, 2 * error / size)
    return 100 * shares.mean().item()


exercise = Exercise(smape, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def sales(n: int) -> Tensor:
    return 100 * random(n).exp()


@exercise.stage("one week, or two")
def one_or_two():
    target = sales(1)
    return [(target, 0.4 * target), (target, 1.7 * target), (sales(2), sales(2))]


@exercise.stage("several weeks")
def several_weeks():
    return [(sales(5), sales(5)), (sales(8), sales(8))]


@exercise.stage("weeks in which more was returned than sold, so that sales are negative")
def negative():
    return [(random(6), random(6)), (-sales(3), sales(3))]


@exercise.stage("a week without sales, or a forecast of none")
def one_is_0():
    target, forecast = sales(7), sales(7)
    target[2], forecast[5] = 0, 0
    return [(target, forecast)]


@exercise.stage("a week without sales, forecast correctly")
def both_are_0():
    target, forecast = sales(9), sales(9)
    target[3], forecast[3], target[6], forecast[1] = 0, 0, 0, 0
    return [(target, forecast)]


# What goes wrong ----------------------------------------------------------------------------------


def mean(values: Tensor) -> float:
    return values.mean().item()


def shares(error: Tensor, size: Tensor) -> Tensor:
    """Return errors as shares of a size, 0 where both are 0."""
    return torch.where((error == 0) & (size == 0), 0, error / size)


def parts(y: Tensor, f: Tensor) -> tuple[Tensor, Tensor]:
    return (y - f).abs(), y.abs() + f.abs()


@exercise.mistake(
    "you divide by the sum of both, and the 2 is missing: here an error is a share of their mean, "
    "so that the largest one is 200%."
)
def without_the_2(target, forecast):
    return 100 * mean(shares(*parts(target, forecast)))


@exercise.mistake("that is a share, from 0 to 2: return percent.")
def share(target, forecast):
    return smape(target, forecast) / 100


@exercise.mistake("that is a share, and the 2 is missing as well: the largest error is 200%.")
def share_without_the_2(target, forecast):
    return smape(target, forecast) / 200


@exercise.mistake("the 2 is on the wrong side: to divide by a mean is to divide by half of a sum.")
def two_below(target, forecast):
    return smape(target, forecast) / 4


@exercise.mistake("that is MAPE: it divides by the target alone, so it isn't symmetric.")
def mape(target, forecast):
    return 100 * mean(shares(parts(target, forecast)[0], target.abs()))


@exercise.mistake("you divide by the target alone, and double that: the forecast counts, too.")
def mape_doubled(target, forecast):
    return 2 * mape(target, forecast)


@exercise.mistake("you divide by the forecast alone: the target counts as much.")
def share_of_the_forecast(target, forecast):
    return mape(forecast, target)


@exercise.mistake(
    "errors have a sign in yours: one week too high and one too low cancel, and a forecast that is "
    "always off looks good."
)
def signed(target, forecast):
    return 200 * mean(shares(target - forecast, parts(target, forecast)[1]))


@exercise.mistake(
    "you add target and forecast with their signs: where one is negative, you divide by too little."
)
def signed_sizes(target, forecast):
    return 200 * mean(shares(parts(target, forecast)[0], target + forecast))


@exercise.mistake(
    "you take the absolute value of the sum: of a positive and a negative number little is left "
    "then, so take it of each."
)
def size_of_the_sum(target, forecast):
    return 200 * mean(shares(parts(target, forecast)[0], (target + forecast).abs()))


@exercise.mistake(
    "you divide one sum by the other: then large weeks count for more, and here each week has a "
    "percentage of its own."
)
def ratio_of_sums(target, forecast):
    error, size = parts(target, forecast)
    return (200 * error.sum() / size.sum()).item()


@exercise.mistake(
    "0 is divided by 0, which is NaN: nothing was sold, nothing was forecast, and that is no error."
)
def zero_by_zero(target, forecast):
    error, size = parts(target, forecast)
    return 200 * mean(error / size)


@exercise.mistake(
    "weeks in which both are 0 are left out of the mean: such a forecast is correct, and should "
    "count."
)
def zeros_left_out(target, forecast):
    error, size = parts(target, forecast)
    return 200 * mean((error / size)[size > 0])


@exercise.mistake(
    "where both are 0, yours has an error of 200%: nothing was sold, as was forecast."
)
def zeros_are_wrong(target, forecast):
    error, size = parts(target, forecast)
    return 100 * mean(torch.where(size == 0, 2, 2 * error / size))


@exercise.mistake(
    "weeks without sales are left out, as MAPE needs it: the symmetric error is defined there, too."
)
def no_sales_left_out(target, forecast):
    return smape(target[target != 0], forecast[target != 0])


@exercise.mistake(
    "weeks without sales have no error in yours: there, any forecast but 0 is an error of 200%."
)
def no_sales_no_error(target, forecast):
    error, size = parts(target, forecast)
    return 200 * mean(torch.where(target == 0, 0, error / size))


@exercise.mistake("you divide by the larger of the two: here it is the mean of both.")
def larger_one(target, forecast):
    sizes = torch.maximum(target.abs(), forecast.abs())
    return 100 * mean(shares(parts(target, forecast)[0], sizes))


@exercise.mistake(
    "you divide by the mean of the targets: here each week has a percentage of its own."
)
def over_the_mean_target(target, forecast):
    return (100 * parts(target, forecast)[0].mean() / target.abs().mean()).item()


@exercise.mistake(
    "1 is added below, against a 0 there: then small sales have a smaller error than they should."
)
def one_below(target, forecast):
    error, size = parts(target, forecast)
    return 100 * mean(error / (size / 2 + 1))


@exercise.mistake(
    "1 is added to the sum of both, against a 0 there: then every percentage is too small."
)
def one_below_the_sum(target, forecast):
    error, size = parts(target, forecast)
    return 200 * mean(error / (size + 1))


@exercise.mistake("something is added to the denominator, so every percentage is too small.")
def a_little_below(target, forecast):
    error, size = parts(target, forecast)
    return 200 * mean(error / (size + 1e-3))


@exercise.mistake("you add up the weeks: take the mean, or more weeks make a larger error.")
def summed_up(target, forecast):
    return smape(target, forecast) * len(target)


@exercise.mistake("that is the median week: one that is far off has to count, so take the mean.")
def median(target, forecast):
    return 200 * shares(*parts(target, forecast)).quantile(0.5).item()


@exercise.mistake("these are the errors of all weeks: return their mean.")
def of_each_week(target, forecast):
    return 200 * shares(*parts(target, forecast))


@exercise.mistake("you square the errors: here they are absolute.")
def squared(target, forecast):
    error, size = parts(target, forecast)
    return 200 * mean(shares(error.square(), size))


@exercise.mistake(
    "brackets are missing: without them you divide by the target, and add the forecast to that."
)
def without_brackets(target, forecast):
    return 100 * mean(2 * shares(parts(target, forecast)[0], target.abs()) + forecast.abs())


@exercise.mistake("that isn't a percentage: you forgot to divide by the size of what is measured.")
def not_divided(target, forecast):
    return mean(parts(target, forecast)[0])
