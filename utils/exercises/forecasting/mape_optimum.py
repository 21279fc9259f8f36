"""Predict which constant forecast has the smallest MAPE."""

import math

from utils.exercises.checking import Prediction

SALES = 20, 30, 60, 80, 100, 130, 210  # of seven days


def mape(forecast: float) -> float:
    return sum(abs(y - forecast) / y for y in SALES) / len(SALES)


def mape_optimum() -> float:
    """Between two of the sales MAPE is a straight line, so the best constant is one of them.

    An error of one piece costs 1/20 on the first day and 1/210 on the last: the days weigh 1 / y,
    and the best constant has half of the weight below it, and half above.
    """
    return min(SALES, key=mape)


exercise = Prediction(mape_optimum, tolerance=0.001)


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "that is the median, which minimises the mean absolute error: but a piece too many is a larger "
    "percentage on a bad day than on a good one."
)
def median():
    return 80


@exercise.mistake(
    "that is the mean, which minimises the squared error: are all days' errors worth the same here?"
)
def mean():
    return sum(SALES) / len(SALES)


@exercise.mistake(
    "nearly: low forecasts are rewarded, but the lowest of all days isn't the best. Compare it "
    "with the next one."
)
def lowest():
    return 20


@exercise.mistake(
    "that is too low: a forecast of 0 has an error of exactly 100%, and others have less."
)
def nothing():
    return 0


@exercise.mistake(
    "you went one day too far up: how large are the errors of the two worst days then?"
)
def third():
    return 60


@exercise.mistake("you weigh days by their sales: a percentage weighs them the other way round.")
def weighted_by_sales():
    return 130


@exercise.mistake("the day of the largest sales has the smallest percentages: which days decide?")
def highest():
    return 210


@exercise.mistake(
    "that is a mean with weights 1 / y, the harmonic one: absolute errors ask for a median, with "
    "such weights."
)
def harmonic_mean():
    return len(SALES) / sum(1 / y for y in SALES)


@exercise.mistake(
    "that is the geometric mean, which minimises squared errors of logarithms: an error in percent "
    "of the target is larger above than below."
)
def geometric_mean():
    return math.prod(SALES) ** (1 / len(SALES))


@exercise.mistake(
    "that is the smallest mean of squared percentages: these are absolute, so the best constant is "
    "one of the days' sales."
)
def squared_percentages():
    return sum(1 / y for y in SALES) / sum(1 / y**2 for y in SALES)


@exercise.mistake("that is halfway between the lowest and the highest day: the others count, too.")
def halfway():
    return (min(SALES) + max(SALES)) / 2


@exercise.mistake("that is how large the smallest MAPE is: the question is which constant has it.")
def its_mape():
    return mape(mape_optimum())


@exercise.mistake("that is the smallest MAPE, in percent: the question is which constant has it.")
def its_mape_in_percent():
    return 100 * mape(mape_optimum())


@exercise.mistake(
    "you went halfway between two days: between them MAPE is a straight line, so one of its ends "
    "is lower."
)
def between_two():
    return 25
