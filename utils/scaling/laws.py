"""Day 15: laws of growth: the loss falls as a power of weights and tokens, down to a floor.

N counts weights, D tokens, C operations; losses are in nats for each token.
"""

import math
from typing import NamedTuple

import numpy as np

from utils.scaling.counting import check_positive


class Split(NamedTuple):
    """How a budget of operations is divided: so many weights, so many tokens."""

    N: float
    D: float


class PowerLaw(NamedTuple):
    """L(x) = E + A / x^α: one quantity grows, nothing else binds; E is what no growth takes away.

    Without a floor, E = 0, it is (x_c / x)^α with x_c = A^(1 / α) (Kaplan et al., 2020, eq. 1.1).
    """

    E: float
    A: float
    alpha: float

    def loss(self, x):
        """The loss at x, a number or an array of numbers."""
        return self.E + self.A * np.asarray(x, dtype=float) ** -self.alpha


class ScalingLaw(NamedTuple):
    """L(N, D) = E + A / N^α + B / D^β (Hoffmann et al., 2022, eq. 2)."""

    E: float
    A: float
    B: float
    alpha: float
    beta: float

    def loss(self, N, D):
        """The loss of N weights after D tokens, numbers or arrays of numbers."""
        N, D = np.asarray(N, dtype=float), np.asarray(D, dtype=float)
        return self.E + self.A * N**-self.alpha + self.B * D**-self.beta

    @property
    def exponents(self) -> tuple[float, float]:
        """a and b: with the budget C, the best N grows as C^a, and D as C^b; a + b = 1 (eq. 4)."""
        both = self.alpha + self.beta
        return self.beta / both, self.alpha / both

    def best_split(self, C: float) -> Split:
        """Divide C = 6 · N · D so that the loss is lowest (Hoffmann et al., 2022, eq. 4).

        N = G · (C / 6)^a and D = (C / 6)^b / G, with G = (α · A / (β · B))^(1 / (α + β)).
        Raises: ValueError if C is not above 0, or more weights or tokens would not help.
        """
        check_positive(C=C)
        if min(self.A, self.B, self.alpha, self.beta) <= 0:
            raise ValueError(f"No split is best under {self}: something in it doesn't fall.")
        a, b = self.exponents
        G = (self.alpha * self.A / (self.beta * self.B)) ** (1 / (self.alpha + self.beta))
        return Split(G * (C / 6) ** a, (C / 6) ** b / G)


# What others have published -----------------------------------------------------------------------

HOFFMANN = ScalingLaw(1.69, 406.4, 410.7, 0.34, 0.28)  # Hoffmann et al. (2022), eq. 10, as printed
BESIROGLU = ScalingLaw(1.8172, 482.01, 2085.43, 0.3478, 0.3658)  # Besiroglu et al. (2024)
KAPLAN_N = PowerLaw(0.0, 8.8e13**0.076, 0.076)  # Kaplan et al. (2020), eq. 1.1; N without embedding
KAPLAN_D = PowerLaw(0.0, 5.4e13**0.095, 0.095)  # eq. 1.2
KAPLAN_EXPONENT = 0.73  # N ∝ C^0.73 (ibid., §1.2)
REPEATED = 15.387756  # R* of repeated tokens (Muennighoff et al., 2023, appendix A)


# Tokens that come again ---------------------------------------------------------------------------


def effective_tokens(unique: float, passes: float, R_star: float = REPEATED) -> float:
    """Return how many new tokens some passes over the same tokens are worth.

    U + U · R* · (1 - e^(-R / R*)), with R = passes - 1 repetitions (Muennighoff et al., 2023,
    eq. 5): what a repetition is worth falls to 1 / e after R* of them.
    R_star: above 0; with infinity, repeated tokens are worth as much as new ones.
    Raises: ValueError if there is no token, fewer than one pass, or R* is not above 0.
    """
    check_positive(unique=unique, passes=passes)
    if passes < 1:
        raise ValueError(f"passes has to be at least 1, got {passes}: read fewer tokens instead.")
    if not R_star > 0:
        raise ValueError(f"R_star has to be above 0, got {R_star}.")
    repetitions = passes - 1
    worth = repetitions if math.isinf(R_star) else -R_star * math.expm1(-repetitions / R_star)
    return unique * (1 + worth)
