"""The search for a learning rate: tried around the best one, until no neighbour is better."""

import math
from collections.abc import Callable


def losses_by_rate(
    loss_at: Callable[[float], float], start: float, factor: float = 2.0
) -> dict[float, float]:
    """Try a rate, a lower and a higher one, and so on around the best; return all losses.

    The search ends when neither neighbour of the best rate is better, so the best is never the edge
    of what was tried: `min(losses, key=losses.get)`. The first of equal rates counts as the best. A
    loss that isn't a number counts as infinite.
    factor: between neighbours; a power of two, so that a rate is reached again exactly.
    Raises: ValueError if start isn't above 0 or the factor above 1, or no rate has a finite loss.
    """
    if not (start > 0 and factor > 1):
        raise ValueError(f"A rate above 0 and a factor above 1, not {start:g} and {factor:g}.")
    losses, best = {}, start
    while missing := [rate for rate in (best, best / factor, best * factor) if rate not in losses]:
        for rate in missing:
            loss = loss_at(rate)
            losses[rate] = math.inf if math.isnan(loss) else loss
        best = min(losses, key=losses.get)
        if math.isinf(losses[best]):
            raise ValueError(f"No rate of {sorted(losses)} has a finite loss: start with another.")
    return losses
