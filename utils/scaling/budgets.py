"""Day 15: a budget of operations: the best size for it, and the days that it takes.

N counts weights, D tokens, C = 6 · N · D operations.
"""

from typing import NamedTuple

import numpy as np

from utils.arguments import check_choice
from utils.scaling.counting import check_positive, six_n_d
from utils.scaling.fitting import checked

# Measured: curves of equal operations -------------------------------------------------------------

STRAIGHT = 1e-9  # of the largest loss: a bend that is smaller is rounding


def tokens_for(C: float, N: float) -> float:
    """Return the tokens that N weights can be trained on with C operations: C / (6 · N).

    Raises: ValueError if C or N is not above 0.
    """
    check_positive(C=C, N=N)
    return C / six_n_d(N, 1)


class Minimum(NamedTuple):
    """The lowest point of a parabola, and whether it lies between the sizes that were trained."""

    N: float
    loss: float
    inside: bool


def parabola_minimum(N, losses) -> Minimum:
    """Fit a parabola to the losses of equal operations over log N; return its lowest point.

    (Hoffmann et al., 2022, approach 2: one curve of figure 3.) A minimum outside of what was
    trained is a guess, and says so.
    Shapes: N and losses (n,).
    Raises: ValueError if there are not three different N, a number is not above 0 and finite, or
        the parabola has no lowest point.
    """
    (N,), losses = checked([N], losses)
    logs = np.log(N)
    middle = logs.mean()
    square, slope, height = np.polyfit(logs - middle, losses, 2)
    bend = square * np.abs(logs - middle).max() ** 2
    if bend <= STRAIGHT * losses.max():
        raise ValueError("The parabola has no lowest point: train sizes further apart.")
    at = -slope / (2 * square)
    inside = bool(logs.min() <= at + middle <= logs.max())
    return Minimum(float(np.exp(middle + at)), float(height + slope * at / 2), inside)


def growth(C, best) -> float:
    """Return a in best ∝ C^a, by least squares over logarithms (Hoffmann et al., 2022, §3.2).

    Shapes: C and best (n,), the best N or D of each budget.
    Raises: ValueError if there are not two different budgets, or a number is not above 0.
    """
    C, best = np.asarray(C, dtype=float), np.asarray(best, dtype=float)
    if C.shape != best.shape or len(np.unique(C)) < 2 or not (np.minimum(C, best) > 0).all():
        raise ValueError("A growth needs two different budgets, and a best size above 0 for each.")
    return float(np.polyfit(np.log(C), np.log(best), 1)[0])


# Planned: how long it takes ----------------------------------------------------------------------

GPUS = {  # operations a second in 16 bits, dense, as NVIDIA's data sheets have them
    "V100 (2017)": 125e12,
    "A100 (2020)": 312e12,
    "H100 (2022)": 989e12,
    "B200 (2024)": 2250e12,
}
HOURS, SECONDS = 24, 3600  # of a day, of an hour


def days_of(operations: float, gpu: str, n_gpus: float = 1, utilisation: float = 0.4) -> float:
    """Return how many days some GPUs of a generation need for so many operations.

    utilisation: the share of their operations that a training reaches, 0.21 to 0.46 in four that
        were published (Chowdhery et al., 2022, table 3).
    Raises: ValueError if the generation is unknown, a number is not above 0, or the share is above
        1.
    """
    check_choice("gpu", gpu, GPUS)
    check_positive(operations=operations, n_gpus=n_gpus)
    if not 0 < utilisation <= 1:
        raise ValueError(f"utilisation is a share above 0, at most 1, got {utilisation}.")
    return operations / (GPUS[gpu] * utilisation * n_gpus * SECONDS * HOURS)
