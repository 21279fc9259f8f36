"""Do Hoffmann's trainings say that size and data should grow alike? Their law, fitted again.

240 of the 245 trainings that Besiroglu et al. (2024) read off the paper's figure 4, without the
five that they leave out; the reader's own file (utils/data/chinchilla.py). "fit" has E, A, B, α and
β at the lowest minimum, "low" and "high" their 90% intervals from 1,000 draws, "a" the exponent in
N ∝ C^a with its interval. "off" is the mean distance from the losses in the figure, as a share, of
this fit, of the constants that the paper prints, and of those of Besiroglu et al. "by curves" is a
by the paper's second approach: the lowest points of parabolas through the trainings within a sixth
of each budget.
"""

import numpy as np

from utils.data.chinchilla import chinchilla
from utils.data.files import DatasetError
from utils.scaling import (
    BESIROGLU,
    HOFFMANN,
    ScalingLaw,
    bootstrap,
    fit_scaling_law,
    growth,
    interval,
    parabola_minimum,
)

PARAMETERS = {"draws": 1000}
SHORT = {
    "draws": 10,
    "BUDGETS": (6e18, 1e20, 3e21),
    "chinchilla": "lambda: Trainings(N := np.repeat([1e8, 4e8, 2e9], 3), "
    "D := np.tile([1e18, 1.7e19, 5e20], 3) / N, 1.8 + 500 / N**0.35 + 2100 / D**0.37)",
}
BUDGETS = (6e18, 1e19, 3e19, 6e19, 1e20, 3e20, 6e20, 1e21, 3e21)  # figure 3
NEAR = 1 / 6


def missing() -> str:
    try:
        chinchilla()
    except DatasetError as error:
        return str(error)
    return ""


def measure(draws: int) -> dict:
    found = chinchilla()
    law = fit_scaling_law(*found)
    laws = bootstrap(fit_scaling_law, *found, draws=draws)
    lows, highs = zip(*map(interval, zip(*laws, strict=True)), strict=True)
    exponents = interval([each.exponents[0] for each in laws])
    C, best = 6 * found.N * found.D, []
    for budget in BUDGETS:
        near = np.abs(np.log(C / budget)) < NEAR
        best.append(parabola_minimum(found.N[near], found.losses[near]).N)

    def off(law: ScalingLaw) -> float:
        return float(np.abs(np.log(law.loss(found.N, found.D) / found.losses)).mean())

    return {
        "trainings": len(found.N),
        "fit": list(law),
        "low": list(lows),
        "high": list(highs),
        "a": law.exponents[0],
        "a low": exponents.low,
        "a high": exponents.high,
        "off": off(law),
        "off, as printed": off(HOFFMANN),
        "off, Besiroglu": off(BESIROGLU),
        "best N": best,
        "by curves": growth(BUDGETS, best),
    }
