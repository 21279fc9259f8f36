"""How far is a forecast off, if weeks of large sales count for more?"""

from torch import Tensor

from utils.exercises.checking import Exercise, random


def weighted_mae(target: Tensor, forecast: Tensor, known: Tensor) -> float:
    """Return the mean absolute error with weights: sum of w |y - ŷ| over the sum of w.

    A week's weight w is its sales y over the median of what was sold before, no less than 1 and no
    more than 5. The median of an even number of weeks is halfway between the two in the middle.
    Shapes: target y and forecast ŷ (n,); known (m,), the sales of the weeks before.
    """
    weights = (target / known.quantile(0.5)).clamp(1, 5)
    return ((weights * (target - forecast).abs()).sum() / weights.sum()).item()


exercise = Exercise(weighted_mae, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(n: int, m: int, *times: float) -> tuple[Tensor, Tensor, Tensor]:
    """Draw known sales of some thousands, and targets that are so many times their median."""
    known = 2 * (0.8 * random(m)).exp()
    target = 2 * random(n).exp() if not times else known.quantile(0.5) * random(n).new(times)
    return target, target * (0.5 * random(n)).exp(), known


@exercise.stage("weeks above the median, up to five times as large")
def between():
    return [drawn(3, 5, 1.4, 3.7, 2.2), drawn(5, 7, 4.6, 1.2, 1.9, 3.1, 4.3)]


@exercise.stage("a week of very large sales")
def very_large():
    return [drawn(5, 7, 1.7, 8.3, 2.4, 12.9, 1.3)]


@exercise.stage("weeks of small sales")
def small():
    return [drawn(5, 9, 0.3, 1.6, 0.08, 3.3, 0.7)]


@exercise.stage("an even number of known weeks")
def even():
    return [drawn(5, 4, 1.8, 0.4, 2.9, 7.2, 4.1)]


@exercise.stage("many weeks")
def many():
    return [drawn(23, 40), drawn(31, 55)]


# What goes wrong ----------------------------------------------------------------------------------


def off(y: Tensor, f: Tensor) -> Tensor:
    return (y - f).abs()


def weigh(weights: Tensor, errors: Tensor) -> float:
    return ((weights * errors).sum() / weights.sum()).item()


def ratio(target: Tensor, known: Tensor) -> Tensor:
    return target / known.quantile(0.5)


@exercise.mistake(
    "the weights' median is that of the test weeks: then what one week counts depends on weeks "
    "that nobody has seen yet."
)
def median_of_the_test(target, forecast, known):
    return weigh(ratio(target, target).clamp(1, 5), off(target, forecast))


@exercise.mistake(
    "the median is that of all weeks, known or not: the weights see what is to be forecast."
)
def median_of_all(target, forecast, known):
    both = target.new_tensor([*known.tolist(), *target.tolist()])
    return weigh(ratio(target, both).clamp(1, 5), off(target, forecast))


@exercise.mistake("the median is that of the forecasts: a forecaster would set its own weights.")
def median_of_the_forecast(target, forecast, known):
    return weigh(ratio(target, forecast).clamp(1, 5), off(target, forecast))


@exercise.mistake(
    "`torch.median` takes the lower one of two values in the middle: the median lies halfway "
    "between them."
)
def lower_median(target, forecast, known):
    return weigh((target / known.median()).clamp(1, 5), off(target, forecast))


@exercise.mistake("you take the upper one of two values in the middle: the median lies halfway.")
def upper_median(target, forecast, known):
    middle = known.sort().values[len(known) // 2]
    return weigh((target / middle).clamp(1, 5), off(target, forecast))


@exercise.mistake(
    "that is the value in the middle of the list: a median is in the middle once they are sorted."
)
def not_sorted(target, forecast, known):
    return weigh((target / known[len(known) // 2]).clamp(1, 5), off(target, forecast))


@exercise.mistake(
    "you divide by the known weeks' mean: a few large ones move it, and not a median."
)
def mean_for_median(target, forecast, known):
    return weigh((target / known.mean()).clamp(1, 5), off(target, forecast))


@exercise.mistake("you divide by the last known week: the weights are relative to the median.")
def last_for_median(target, forecast, known):
    return weigh((target / known[-1]).clamp(1, 5), off(target, forecast))


@exercise.mistake(
    "you divide by the number of weeks: the weights don't add up to that, so that even a constant "
    "error comes out larger than it is."
)
def divided_by_weeks(target, forecast, known):
    return (ratio(target, known).clamp(1, 5) * off(target, forecast)).mean().item()


@exercise.mistake("that is the sum of the weighted errors: more weeks would make it larger.")
def not_divided(target, forecast, known):
    return (ratio(target, known).clamp(1, 5) * off(target, forecast)).sum().item()


@exercise.mistake("that is the plain mean absolute error: all weeks have the same weight.")
def unweighted(target, forecast, known):
    return off(target, forecast).mean().item()


@exercise.mistake("nothing is clipped: one week of very large sales decides.")
def not_clipped(target, forecast, known):
    return weigh(ratio(target, known), off(target, forecast))


@exercise.mistake("large weights have no limit: a peak counts five times at most.")
def no_upper_limit(target, forecast, known):
    return weigh(ratio(target, known).clamp(min=1), off(target, forecast))


@exercise.mistake("small weights have no limit: a week below the median counts once, not less.")
def no_lower_limit(target, forecast, known):
    return weigh(ratio(target, known).clamp(max=5), off(target, forecast))


@exercise.mistake("the lower limit is on the wrong side: your weights are 1 at most.")
def at_most_1(target, forecast, known):
    return weigh(ratio(target, known).clamp(max=1), off(target, forecast))


@exercise.mistake("the upper limit is on the wrong side: your weights are 5 at least.")
def at_least_5(target, forecast, known):
    return weigh(ratio(target, known).clamp(min=5), off(target, forecast))


@exercise.mistake("you clip what was sold, before you divide: clip the ratio.")
def clipped_before(target, forecast, known):
    return weigh(ratio(target.clamp(1, 5), known), off(target, forecast))


@exercise.mistake("you clip the errors in place of the weights: a large error should stay large.")
def errors_clipped(target, forecast, known):
    return weigh(ratio(target, known), off(target, forecast).clamp(1, 5))


@exercise.mistake(
    "you clip weights times errors: the limits are for the weights, and an error has a unit."
)
def clipped_after(target, forecast, known):
    weights = ratio(target, known)
    return ((weights * off(target, forecast)).clamp(1, 5).sum() / weights.sum()).item()


@exercise.mistake("the sum below is over weights before they are clipped: both sums need the same.")
def divided_by_unclipped(target, forecast, known):
    weights = ratio(target, known)
    return ((weights.clamp(1, 5) * off(target, forecast)).sum() / weights.sum()).item()


@exercise.mistake("you weigh by what was forecast: what was sold decides how much a week counts.")
def by_the_forecast(target, forecast, known):
    return weigh(ratio(forecast, known).clamp(1, 5), off(target, forecast))


@exercise.mistake("the ratio is upside down: weeks of small sales count for more in yours.")
def upside_down(target, forecast, known):
    return weigh((1 / ratio(target, known)).clamp(1, 5), off(target, forecast))


@exercise.mistake(
    "your ratio is rounded down to whole numbers, as // does: a weight may lie between them."
)
def whole_weights(target, forecast, known):
    return weigh(ratio(target, known).floor().clamp(1, 5), off(target, forecast))


@exercise.mistake(
    "your ratio is rounded to the nearest whole number: a weight may lie between them."
)
def rounded_weights(target, forecast, known):
    return weigh(ratio(target, known).round().clamp(1, 5), off(target, forecast))


@exercise.mistake(
    "you weigh by how large the errors are: what was sold decides what a week counts."
)
def by_the_error(target, forecast, known):
    errors = off(target, forecast)
    return weigh(ratio(errors, known).clamp(1, 5), errors)


@exercise.mistake(
    "you divide by the number of known weeks: it is the weights' sum that belongs there."
)
def divided_by_known_weeks(target, forecast, known):
    errors = ratio(target, known).clamp(1, 5) * off(target, forecast)
    return (errors.sum() / len(known)).item()


@exercise.mistake("errors have a sign in yours, so that a high and a low one cancel.")
def signed(target, forecast, known):
    return weigh(ratio(target, known).clamp(1, 5), target - forecast)


@exercise.mistake("these are squared errors: here they are absolute.")
def squared(target, forecast, known):
    return weigh(ratio(target, known).clamp(1, 5), off(target, forecast).square())


@exercise.mistake(
    "that is the sum of errors over the sum of sales, another weighted error: here the sum is "
    "divided by that of the weights."
)
def over_the_sales(target, forecast, known):
    return (off(target, forecast).sum() / target.sum()).item()


@exercise.mistake("you divide weighted errors by the sum of sales: the weights should cancel.")
def weighted_over_the_sales(target, forecast, known):
    weights = ratio(target, known).clamp(1, 5)
    return ((weights * off(target, forecast)).sum() / target.sum()).item()


@exercise.mistake("errors are shares of the sales in yours: the unit of WMAE is that of the sales.")
def percentages(target, forecast, known):
    return weigh(ratio(target, known).clamp(1, 5), off(target, forecast) / target)


@exercise.mistake("these are the weighted errors of all weeks: return one number.")
def of_each_week(target, forecast, known):
    weights = ratio(target, known).clamp(1, 5)
    return weights * off(target, forecast) / weights.sum()
