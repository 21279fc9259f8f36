"""Day 15: what size buys: operations, laws of growth, and the best use of a budget.

Read `counting` first, then `laws`, `fitting`, `without_floor`, `budgets` and `jumps`.
"""

from utils.scaling.budgets import (
    GPUS,
    Minimum,
    days_of,
    growth,
    parabola_minimum,
    tokens_for,
)
from utils.scaling.counting import (
    operations_forward,
    operations_hoffmann,
    operations_kaplan,
    operations_of_training,
    six_n_d,
    weights_by_part,
    weights_of_blocks,
)
from utils.scaling.fitting import (
    Forecast,
    Interval,
    bootstrap,
    extrapolate,
    fit_power_law,
    fit_scaling_law,
    huber,
    interval,
)
from utils.scaling.jumps import Measures, all_correct, both_measures
from utils.scaling.laws import (
    BESIROGLU,
    HOFFMANN,
    KAPLAN_D,
    KAPLAN_EXPONENT,
    KAPLAN_N,
    REPEATED,
    PowerLaw,
    ScalingLaw,
    Split,
    effective_tokens,
)
from utils.scaling.without_floor import KaplanLaw, fit_kaplan_law

__all__ = [
    "BESIROGLU",
    "GPUS",
    "HOFFMANN",
    "KAPLAN_D",
    "KAPLAN_EXPONENT",
    "KAPLAN_N",
    "REPEATED",
    "Forecast",
    "Interval",
    "KaplanLaw",
    "Measures",
    "Minimum",
    "PowerLaw",
    "ScalingLaw",
    "Split",
    "all_correct",
    "bootstrap",
    "both_measures",
    "days_of",
    "effective_tokens",
    "extrapolate",
    "fit_kaplan_law",
    "fit_power_law",
    "fit_scaling_law",
    "growth",
    "huber",
    "interval",
    "operations_forward",
    "operations_hoffmann",
    "operations_kaplan",
    "operations_of_training",
    "parabola_minimum",
    "six_n_d",
    "tokens_for",
    "weights_by_part",
    "weights_of_blocks",
]
