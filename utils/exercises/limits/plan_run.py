"""Plan a training: what do so much money and so many days buy?"""

import math

from utils.exercises.checking import Exercise


def plan_run(
    money: float,
    days: float,
    price: float,
    throughput: float,
    utilisation: float,
    tokens_per_weight: float,
) -> tuple[float, float, float]:
    """Return how many GPUs to rent, how many weights to train, and on how many tokens.

    The GPUs run all the time, and need not be a whole number. Training takes C = 6 · N · D
    operations for N weights and D tokens.
    price: of a GPU for an hour. throughput: operations a second of a GPU at its best, of which it
    reaches the share `utilisation`. tokens_per_weight: D / N.
    """
    hours = money / price
    gpus = hours / (24 * days)
    C = hours * 3600 * throughput * utilisation
    weights = math.sqrt(C / (6 * tokens_per_weight))
    return gpus, weights, tokens_per_weight * weights


exercise = Exercise(plan_run, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("two days with one GPU")
def one_gpu():
    return [(96.0, 2.0, 2.0, 1e14, 0.5, 20.0), (144.0, 2.0, 3.0, 4e12, 0.25, 1.0)]


@exercise.stage("several days, and many GPUs")
def many():
    return [
        (1_000.0, 3.0, 1.7, 125e12, 0.3, 20.0),
        (250_000.0, 21.0, 2.4, 989e12, 0.41, 35.0),
        (7_500_000.0, 90.0, 4.1, 2250e12, 0.37, 6.5),
        (30.0, 11.0, 0.9, 312e12, 0.22, 200.0),
    ]


# What goes wrong ----------------------------------------------------------------------------------


def split(gpus: float, C: float, k: float, per_weight: float = 6) -> tuple[float, float, float]:
    """A plan of so many operations, if a weight takes `per_weight` of them for each token."""
    weights = math.sqrt(C / (per_weight * k))
    return gpus, weights, k * weights


def hours_of(money, price, days) -> tuple[float, float]:
    """Hours of one GPU, and GPUs."""
    return money / price, money / price / (24 * days)


@exercise.mistake(
    "the factor six is missing: a weight takes several operations for each token, forward and "
    "backward."
)
def without_six(money, days, price, throughput, utilisation, k):
    hours, gpus = hours_of(money, price, days)
    return split(gpus, hours * 3600 * throughput * utilisation, k, 1)


@exercise.mistake("you count two operations for each weight and token: that is forward alone.")
def forward_alone(money, days, price, throughput, utilisation, k):
    hours, gpus = hours_of(money, price, days)
    return split(gpus, hours * 3600 * throughput * utilisation, k, 2)


@exercise.mistake("you count four operations for each weight and token: that is backward alone.")
def backward_alone(money, days, price, throughput, utilisation, k):
    hours, gpus = hours_of(money, price, days)
    return split(gpus, hours * 3600 * throughput * utilisation, k, 4)


@exercise.mistake("your GPUs are always at their best: a training reaches a share of that.")
def without_utilisation(money, days, price, throughput, utilisation, k):
    hours, gpus = hours_of(money, price, days)
    return split(gpus, hours * 3600 * throughput, k)


@exercise.mistake("you divide by the utilisation: a GPU that waits does less, not more.")
def by_utilisation(money, days, price, throughput, utilisation, k):
    hours, gpus = hours_of(money, price, days)
    return split(gpus, hours * 3600 * throughput / utilisation, k)


@exercise.mistake("you divide the utilisation by 100: it is a share already, not a percentage.")
def in_percent(money, days, price, throughput, utilisation, k):
    hours, gpus = hours_of(money, price, days)
    return split(gpus, hours * 3600 * throughput * utilisation / 100, k)


@exercise.mistake("you multiply the utilisation by 100: it is a share already, not a percentage.")
def as_percentage(money, days, price, throughput, utilisation, k):
    hours, gpus = hours_of(money, price, days)
    return split(gpus, hours * 3600 * throughput * utilisation * 100, k)


@exercise.mistake("your time is in hours, but the throughput is per second.")
def hours_for_seconds(money, days, price, throughput, utilisation, k):
    hours, gpus = hours_of(money, price, days)
    return split(gpus, hours * throughput * utilisation, k)


@exercise.mistake("an hour has 60 seconds in yours: those are minutes.")
def minutes_for_seconds(money, days, price, throughput, utilisation, k):
    hours, gpus = hours_of(money, price, days)
    return split(gpus, hours * 60 * throughput * utilisation, k)


@exercise.mistake("a day has one hour in yours: you rent too many GPUs.")
def days_for_hours(money, days, price, throughput, utilisation, k):
    hours, _ = hours_of(money, price, days)
    return split(hours / days, hours * 3600 * throughput * utilisation, k)


@exercise.mistake("in your operations, a day has one hour: the GPUs run day and night.")
def days_for_hours_of_work(money, days, price, throughput, utilisation, k):
    hours, gpus = hours_of(money, price, days)
    return split(gpus, hours / 24 * 3600 * throughput * utilisation, k)


@exercise.mistake("your operations are those of one hour: the GPUs run for all the days.")
def of_one_hour(money, days, price, throughput, utilisation, k):
    _, gpus = hours_of(money, price, days)
    return split(gpus, gpus * 3600 * throughput * utilisation, k)


@exercise.mistake("your operations are those of one GPU in one hour: many work for all the days.")
def of_one_gpu_in_one_hour(money, days, price, throughput, utilisation, k):
    _, gpus = hours_of(money, price, days)
    return split(gpus, 3600 * throughput * utilisation, k)


@exercise.mistake("your operations are those of one day: the GPUs run for all the days.")
def of_one_day(money, days, price, throughput, utilisation, k):
    _, gpus = hours_of(money, price, days)
    return split(gpus, gpus * 24 * 3600 * throughput * utilisation, k)


@exercise.mistake("your GPUs are those of a single day: spread over more days, fewer are needed.")
def days_left_out(money, days, price, throughput, utilisation, k):
    hours, _ = hours_of(money, price, days)
    return split(hours / 24, hours * 3600 * throughput * utilisation, k)


@exercise.mistake("a GPU costs its price per day in yours: it is the price of an hour.")
def price_per_day(money, days, price, throughput, utilisation, k):
    hours, gpus = hours_of(money, price / 24, days)
    return split(gpus, hours * 3600 * throughput * utilisation, k)


@exercise.mistake(
    "the operations are multiplied by the GPUs once more: the hours are those of all of them "
    "already."
)
def gpus_twice(money, days, price, throughput, utilisation, k):
    hours, gpus = hours_of(money, price, days)
    return split(gpus, gpus * hours * 3600 * throughput * utilisation, k)


@exercise.mistake("the operations are those of one GPU: all that are rented work.")
def of_one_gpu(money, days, price, throughput, utilisation, k):
    _, gpus = hours_of(money, price, days)
    return split(gpus, 24 * days * 3600 * throughput * utilisation, k)


@exercise.mistake("you multiply money and price: a higher price buys fewer hours.")
def price_multiplied(money, days, price, throughput, utilisation, k):
    hours = money * price
    return split(hours / (24 * days), hours * 3600 * throughput * utilisation, k)


@exercise.mistake("the ratio of hours is upside down: more days need fewer GPUs.")
def upside_down(money, days, price, throughput, utilisation, k):
    hours, gpus = hours_of(money, price, days)
    return split(1 / gpus, hours * 3600 * throughput * utilisation, k)


@exercise.mistake("your GPUs are rounded up to a whole number: then the money doesn't suffice.")
def rounded_up(money, days, price, throughput, utilisation, k):
    hours, gpus = hours_of(money, price, days)
    return split(math.ceil(gpus), hours * 3600 * throughput * utilisation, k)


@exercise.mistake("your GPUs are rounded down to a whole number: some money isn't spent.")
def rounded_down(money, days, price, throughput, utilisation, k):
    hours, gpus = hours_of(money, price, days)
    return split(math.floor(gpus), hours * 3600 * throughput * utilisation, k)


def at_work(gpus, days, throughput, utilisation, k):
    """A plan whose operations are those of just so many GPUs."""
    return split(gpus, gpus * days * 24 * 3600 * throughput * utilisation, k)


@exercise.mistake(
    "your GPUs are rounded down to a whole number, and only those work: some money isn't spent."
)
def rounded_down_at_work(money, days, price, throughput, utilisation, k):
    gpus = math.floor(hours_of(money, price, days)[1])
    return at_work(gpus, days, throughput, utilisation, k)


@exercise.mistake("your GPUs are rounded to a whole number: their number need not be whole.")
def rounded(money, days, price, throughput, utilisation, k):
    hours, gpus = hours_of(money, price, days)
    return split(round(gpus), hours * 3600 * throughput * utilisation, k)


@exercise.mistake(
    "your GPUs are rounded to a whole number, and only those work: their number need not be whole."
)
def rounded_at_work(money, days, price, throughput, utilisation, k):
    gpus = round(hours_of(money, price, days)[1])
    return at_work(gpus, days, throughput, utilisation, k)


@exercise.mistake("weights and tokens are equally many: the ratio of the two is given.")
def split_evenly(money, days, price, throughput, utilisation, k):
    gpus, weights, _ = plan_run(money, days, price, throughput, utilisation, 1.0)
    return gpus, weights, weights


@exercise.mistake(
    "a square root is missing: if the tokens grow with the weights, how do the operations grow?"
)
def no_root(money, days, price, throughput, utilisation, k):
    gpus, weights, _ = plan_run(money, days, price, throughput, utilisation, k)
    return gpus, weights**2, k * weights**2


@exercise.mistake(
    "you take the root of the operations alone: the six and the ratio belong under it, too."
)
def root_too_early(money, days, price, throughput, utilisation, k):
    gpus, weights, _ = plan_run(money, days, price, throughput, utilisation, k)
    weights /= math.sqrt(6 * k)
    return gpus, weights, k * weights


@exercise.mistake(
    "weights and tokens are exchanged, or their ratio is upside down: it says how many tokens "
    "there are for each weight."
)
def exchanged(money, days, price, throughput, utilisation, k):
    gpus, weights, tokens = plan_run(money, days, price, throughput, utilisation, k)
    return gpus, tokens, weights


@exercise.mistake(
    "your weights don't depend on the ratio: then weights and tokens together need more operations "
    "than there are."
)
def ratio_for_tokens_alone(money, days, price, throughput, utilisation, k):
    gpus, weights, _ = plan_run(money, days, price, throughput, utilisation, 1.0)
    return gpus, weights, k * weights


@exercise.mistake("you always take twenty tokens for each weight: the ratio is an argument.")
def always_twenty(money, days, price, throughput, utilisation, k):
    return plan_run(money, days, price, throughput, utilisation, 20.0)


@exercise.mistake("the first value is in hours of one GPU: how many GPUs run side by side?")
def hours_for_gpus(money, days, price, throughput, utilisation, k):
    hours, _ = hours_of(money, price, days)
    return split(hours, hours * 3600 * throughput * utilisation, k)


@exercise.mistake("the first value is the number of operations: how many GPUs do them?")
def operations_for_gpus(money, days, price, throughput, utilisation, k):
    hours, _ = hours_of(money, price, days)
    C = hours * 3600 * throughput * utilisation
    return split(C, C, k)


@exercise.mistake("your weights are many times too many: their ratio to the tokens divides, too.")
def ratio_multiplied(money, days, price, throughput, utilisation, k):
    hours, gpus = hours_of(money, price, days)
    weights = math.sqrt(hours * 3600 * throughput * utilisation * k / 6)
    return gpus, weights, k * weights


@exercise.mistake(
    "there are fewer tokens than weights in yours: the ratio is tokens for each weight."
)
def tokens_divided(money, days, price, throughput, utilisation, k):
    gpus, weights, _ = plan_run(money, days, price, throughput, utilisation, k)
    return gpus, weights, weights / k
