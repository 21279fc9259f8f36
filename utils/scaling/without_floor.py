"""Day 15: the law without a floor, in which weights and tokens bind together.

N counts weights, D tokens; losses are in nats for each token.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from utils.scaling.fitting import DELTA, SLOPES, STEEPEST, checked, huber


class KaplanLaw(NamedTuple):
    """L(N, D) = ((N_c / N)^(α_N / α_D) + D_c / D)^α_D (Kaplan et al., 2020, eq. 1.5).

    With ever more weights and tokens, it falls to 0.
    """

    N_c: float
    D_c: float
    alpha_N: float
    alpha_D: float

    def loss(self, N, D):
        """The loss of N weights after D tokens, numbers or arrays of numbers."""
        N, D = np.asarray(N, dtype=float), np.asarray(D, dtype=float)
        return ((self.N_c / N) ** (self.alpha_N / self.alpha_D) + self.D_c / D) ** self.alpha_D


def fit_kaplan_law(N, D, losses) -> KaplanLaw:
    """Fit the law by the sum that `fit_scaling_law` minimises, from several starts.

    Raises: ValueError as `fit_scaling_law` does.
    """
    (N, D), losses = checked([N, D], losses)
    n, d, y = np.log(N), np.log(D), np.log(losses)

    def objective(theta: np.ndarray) -> float:
        n_c, d_c, alpha_N, alpha_D = theta
        predicted = alpha_D * np.logaddexp(alpha_N / alpha_D * (n_c - n), d_c - d)
        return huber(predicted - y).sum() / DELTA**2

    starts = [
        [n.mean() + y.mean() / one, d.mean() + y.mean() / other, one, other]
        for one, other in itertools.product(SLOPES, repeat=2)
    ]
    bounds = [(None, None)] * 2 + [(1e-3, STEEPEST)] * 2
    how = {"method": "L-BFGS-B", "bounds": bounds, "options": {"maxiter": 5000}}
    best = min((minimize(objective, start, **how) for start in starts), key=lambda of: of.fun).x
    return KaplanLaw(*map(math.exp, best[:2]), *best[2:].tolist())
