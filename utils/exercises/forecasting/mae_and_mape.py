"""By how much is a forecast off, in pounds and in percent?"""

import math

import torch
from torch import Tensor

from utils.exercises.checking import Exercise
from utils.exercises.forecasting.smape import negative, one_or_two, sales, several_weeks


def mae_and_mape(target: Tensor, forecast: Tensor) -> tuple[float, float]:
    """Return the MAE, the mean of |y - ŷ|, and the MAPE in percent, that of 100 · |y - ŷ| / |y|.

    If a target is 0, an error there is no percentage of it: then the MAPE is NaN.
    Shapes: target y and forecast ŷ (n,) to two numbers.
    """
    error = (target - forecast).abs()
    mape = 100 * (error / target.abs()).mean().item() if (target != 0).all() else math.nan
    return error.mean().item(), mape


exercise = Exercise(mae_and_mape, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


exercise.stage("one week, or two")(one_or_two)
exercise.stage("several weeks")(several_weeks)
exercise.stage("weeks in which more was returned than sold, so that sales are negative")(negative)


@exercise.stage("a week without sales")
def no_sales():
    target = sales(7)
    target[2] = 0
    return [(target, sales(7))]


@exercise.stage("a week without sales, forecast correctly")
def no_sales_as_forecast():
    target, forecast = sales(9), sales(9)
    target[3] = forecast[3] = 0
    return [(target, forecast)]


# What goes wrong ----------------------------------------------------------------------------------


def both(error: Tensor, target: Tensor, size: Tensor) -> tuple[float, float]:
    """The means of errors and of their percentages of a size; NaN for these if a target is 0."""
    found = 100 * (error / size).mean().item() if (target != 0).all() else math.nan
    return error.mean().item(), found


def with_zeros(target: Tensor, forecast: Tensor, shares: Tensor) -> tuple[float, float]:
    """The MAE, and the mean of shares, whatever they are where a target is 0."""
    return (target - forecast).abs().mean().item(), 100 * shares.mean().item()


def off(target: Tensor, forecast: Tensor) -> Tensor:
    return (target - forecast).abs()


@exercise.mistake("your MAPE is a share: return percent.")
def share(target, forecast):
    mae, mape = mae_and_mape(target, forecast)
    return mae, mape / 100


@exercise.mistake("your MAE is multiplied by 100, too: it has the unit of the sales.")
def both_in_percent(target, forecast):
    mae, mape = mae_and_mape(target, forecast)
    return 100 * mae, mape


@exercise.mistake(
    "your percentages are of the forecast: then a forecaster could make its own errors look small, "
    "by forecasting too much."
)
def over_the_forecast(target, forecast):
    return both(off(target, forecast), target, forecast.abs())


@exercise.mistake("your percentages are of target and forecast, as those of sMAPE are.")
def symmetric(target, forecast):
    return both(off(target, forecast), target, (target.abs() + forecast.abs()) / 2)


@exercise.mistake(
    "your percentage is that of the MAE in the mean sales: then large weeks count for more, and "
    "here each week has a percentage of its own."
)
def over_the_mean(target, forecast):
    return both(off(target, forecast), target, target.abs().mean())


@exercise.mistake("you divide by the largest sales: each week has a percentage of its own.")
def over_the_largest(target, forecast):
    return both(off(target, forecast), target, target.abs().max())


@exercise.mistake(
    "errors have a sign in yours: one week too high and one too low cancel, and a forecast that is "
    "always off looks good."
)
def signed(target, forecast):
    return both(target - forecast, target, target)


@exercise.mistake(
    "you take the mean first, and its absolute value afterwards: by then, a week too high and one "
    "too low have cancelled."
)
def mean_first(target, forecast):
    mae, mape = both(target - forecast, target, target)
    return abs(mae), abs(mape)


@exercise.mistake("only your MAE is of absolute errors: percentages have a sign in yours.")
def signed_percentages(target, forecast):
    return off(target, forecast).mean().item(), both(target - forecast, target, target)[1]


@exercise.mistake("only your MAPE is of absolute errors: in the MAE, they have a sign.")
def signed_mae(target, forecast):
    return (target - forecast).mean().item(), mae_and_mape(target, forecast)[1]


@exercise.mistake(
    "where sales are negative, so is your percentage: an error is as bad whichever sign they have."
)
def over_signed_sales(target, forecast):
    return both(off(target, forecast), target, target)


@exercise.mistake(
    "you divide by the sales as they are: where they are negative, so is your percentage, and it "
    "is infinite where they are 0."
)
def over_sales_as_they_are(target, forecast):
    return with_zeros(target, forecast, off(target, forecast) / target)


@exercise.mistake("you square the errors: here they are absolute.")
def squared(target, forecast):
    mape = both(((target - forecast) / target).square(), target, torch.ones(()))[1]
    return (target - forecast).square().mean().item(), mape


@exercise.mistake(
    "that is the root of the mean squared error: there, one week that is far off counts for more."
)
def root_of_squares(target, forecast):
    mae, mape = squared(target, forecast)
    return math.sqrt(mae), 10 * math.sqrt(mape)


@exercise.mistake(
    "you square the errors: that is the root of the mean squared error. Take absolute values."
)
def root_for_mae(target, forecast):
    mape = mae_and_mape(target, forecast)[1]
    return (target - forecast).square().mean().sqrt().item(), mape


@exercise.mistake("you square the errors of the MAE: here they are absolute.")
def squared_mae(target, forecast):
    return off(target, forecast).square().mean().item(), mae_and_mape(target, forecast)[1]


@exercise.mistake("these are sums over the weeks: then more weeks make a larger error.")
def summed_up(target, forecast):
    return tuple(len(target) * of for of in mae_and_mape(target, forecast))


@exercise.mistake("that is the median week: one that is far off has to count.")
def median(target, forecast):
    errors = off(target, forecast)
    shares = both((errors / target.abs()).quantile(0.5), target, torch.ones(()))[1]
    return errors.quantile(0.5).item(), shares


@exercise.mistake("the two are in the wrong order: the MAE comes first.")
def exchanged(target, forecast):
    return mae_and_mape(target, forecast)[::-1]


@exercise.mistake("these are the errors of all weeks: return their means.")
def of_each_week(target, forecast):
    errors = off(target, forecast)
    return errors, 100 * errors / target.abs()


@exercise.mistake(
    "weeks without sales are left out of your MAPE: then nobody sees that the worst weeks may be "
    "missing, and it isn't defined there."
)
def zeros_left_out(target, forecast):
    sold = target != 0
    return with_zeros(target, forecast, off(target, forecast)[sold] / target.abs()[sold])


@exercise.mistake("weeks without sales are left out of both: the MAE needs no percentage.")
def zeros_left_out_of_both(target, forecast):
    return mae_and_mape(target[target != 0], forecast[target != 0])


@exercise.mistake(
    "you divide by 0: one week without sales makes your MAPE infinite, where it isn't defined."
)
def divided_by_0(target, forecast):
    return with_zeros(target, forecast, off(target, forecast) / target.abs())


@exercise.mistake(
    "your MAPE is infinite if a target is 0: an error of one piece is no share of nothing, not "
    "even an infinite one."
)
def infinite(target, forecast):
    mae, mape = mae_and_mape(target, forecast)
    return mae, math.inf if math.isnan(mape) else mape


@exercise.mistake("your MAPE is 0 if a target is 0: that would be a perfect forecast.")
def nothing(target, forecast):
    mae, mape = mae_and_mape(target, forecast)
    return mae, 0.0 if math.isnan(mape) else mape


@exercise.mistake("weeks without sales have no error in your MAPE, whatever was forecast.")
def zeros_are_correct(target, forecast):
    shares = off(target, forecast) / target.abs()
    return with_zeros(target, forecast, torch.where(target == 0, 0, shares))


@exercise.mistake("weeks without sales have an error of 100% in yours, whatever was forecast.")
def zeros_are_wrong(target, forecast):
    shares = off(target, forecast) / target.abs()
    return with_zeros(target, forecast, torch.where(target == 0, 1, shares))


@exercise.mistake(
    "where a target is 0 you divide by a tiny number: then one week decides, with millions of "
    "percent."
)
def over_a_tiny_number(target, forecast):
    return with_zeros(target, forecast, off(target, forecast) / target.abs().clamp(min=1e-8))


@exercise.mistake("1 is added to all sales, against a 0 there: then all percentages are too small.")
def one_below(target, forecast):
    return with_zeros(target, forecast, off(target, forecast) / (target.abs() + 1))


@exercise.mistake("if a target is 0, your MAE is NaN as well: it needs no division.")
def both_are_nan(target, forecast):
    mae, mape = mae_and_mape(target, forecast)
    return mae + 0 * mape, mape


@exercise.mistake(
    "Python's numbers raise an error when they are divided by 0: no MAPE is an answer."
)
def error_at_0(target, forecast):
    pairs = list(zip(target.tolist(), forecast.tolist(), strict=True))
    return off(target, forecast).mean().item(), 100 * sum(
        abs(y - f) / abs(y) for y, f in pairs
    ) / len(pairs)


@exercise.mistake("that is 100 minus the MAPE: a smaller error gives a smaller MAPE.")
def accuracy(target, forecast):
    mae, mape = mae_and_mape(target, forecast)
    return mae, 100 - mape
