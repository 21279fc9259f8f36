"""Day 15: plan a training: what money buys, and what a law predicts for it."""

import math
from collections.abc import Mapping, Sequence

from utils.show.views.frame import listed, paragraph, view

DIGITS = 9  # of each number of a law
SHARE = 0.9  # of the laws of a bootstrap, which are inside the interval
Numbers = Sequence[float]


def plan_a_training(
    laws: Mapping[str, Sequence[Numbers]],
    points: Mapping[str, Sequence[Numbers]],
    *,
    gpus: Mapping[str, float],
    utilisation: float = 0.4,
) -> None:
    """Let the reader choose money, days and a GPU; a law says which weights and tokens are best.

    laws: by name, a law (E, A, B, α, β) of L = E + A / N^α + B / D^β, and the laws of its
        bootstrap, from whose predictions the interval is made; without them it has none.
    points: by the name of a law, what was measured of it: (N, D, loss) of each training.
    gpus: operations a second of each GPU at its best; the last one is chosen first.
    utilisation: the share of them that a training reaches.
    Raises: ValueError if there is no law or GPU, points belong to no law, numbers are missing, or
        one is not finite and above 0 (in the laws of a bootstrap, not below).
    """
    if not laws or not gpus:
        raise ValueError(f"Name at least one law and one GPU, got {len(laws)} and {len(gpus)}.")
    foreign = sorted(points.keys() - laws.keys())
    if foreign:
        raise ValueError(f"Points belong to a law, but there is no law {foreign[0]!r}.")
    for name, found in laws.items():
        if not len(found):
            raise ValueError(f"{name!r} has no law: give (E, A, B, alpha, beta).")
        _check(f"The law {name!r}", found[:1], 5, above=True)
        _check(f"The bootstrap of {name!r}", found[1:], 5, above=False)
        _check(f"A training of {name!r}", points.get(name, ()), 3, above=True)
    for name, throughput in gpus.items():
        _check(f"The GPU {name!r}", [[throughput]], 1, above=True)
    if not 0 < utilisation <= 1:
        raise ValueError(f"utilisation is a share above 0, at most 1, got {utilisation}.")
    data = {
        "laws": [
            {
                "name": name,
                "law": _short(found[0]),
                "others": [_short(law) for law in found[1:]],
                "points": [_short(point) for point in points.get(name, ())],
            }
            for name, found in laws.items()
        ],
        "gpus": [{"name": name, "throughput": float(gpus[name])} for name in gpus],
        "utilisation": utilisation,
        "share": SHARE,
    }
    still = paragraph(
        "Choose money, days and a GPU, and a law of growth says how many weights and tokens are "
        "best, and which loss they reach: an interactive picture, which needs JavaScript. In "
        "JupyterLab, run the cell to open it. Its laws:"
    ) + listed(list(laws))
    says = f"View: plan a training run. Laws: {'; '.join(laws)}. GPUs: {', '.join(gpus)}"
    view("plan_a_training", data, says=says, still=still, parts=["growth"])


def _check(what: str, rows: Sequence[Numbers], n: int, *, above: bool) -> None:
    """Raise a ValueError unless each row has n finite numbers, above 0 or at least not below."""
    for row in rows:
        lowest = math.ulp(0) if above else 0
        if len(row) != n or not all(lowest <= x < math.inf for x in row):
            bound = "above 0" if above else "not below 0"
            raise ValueError(
                f"{what} needs {n} finite number{'s' * (n > 1)} {bound}, got {tuple(row)}."
            )


def _short(numbers: Numbers) -> list[float]:
    return [float(f"{number:.{DIGITS}g}") for number in numbers]
