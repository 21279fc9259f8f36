"""From logits to a symbol: how a language model's next one is chosen.

A filter takes logits (…, V) and returns logits (…, V). Put the temperature first: top-p counts the
mass of the distribution from which the symbol is drawn. Greedy decoding is `logits.argmax(-1)`.
"""

import math
from collections.abc import Callable
from numbers import Integral
from typing import Any

import torch
from torch import Tensor

from utils.arguments import check_logits, check_temperature

ROUNDING = 1e-6  # 0.5 + 0.3 reaches 0.8, although float32 may make it 0.79999998


def temperature(logits: Tensor, tau: float) -> Tensor:
    """Sharpen (tau < 1) or flatten (tau > 1) the distribution: softmax(logits / tau).

    Raises: ValueError if tau is not positive and finite or so small that the quotients are not
    finite, or there is nothing to choose from.
    """
    check_logits(logits)
    check_temperature(tau, logits)
    return logits / tau


def top_k(logits: Tensor, k: int) -> Tensor:
    """Keep the k largest logits, the others become -inf (Fan et al., 2018, §5.4).

    Of equal ones, those with the lower number are kept, so that exactly min(k, V) are left.
    Raises: ValueError if k < 1, or there is nothing to choose from.
    """
    if not isinstance(k, Integral) or k < 1:
        raise ValueError(f"k is {k}: keep at least 1 symbol, a whole number of them.")
    check_logits(logits)
    return logits.masked_fill(_ranks(logits) >= k, -math.inf)


def top_p(logits: Tensor, p: float) -> Tensor:
    """Keep the fewest symbols whose probabilities reach p together (Holtzman et al., 2020, §3.1).

    The most probable are taken first; of equal ones, those with the lower number. The best is
    always kept, and p = 1 keeps all.
    Raises: ValueError if p is not in (0, 1], or there is nothing to choose from.
    """
    check_p(p)
    check_logits(logits)
    if p == 1:  # rounded sums may reach 1 before the last symbol
        return logits
    enough = p - min(ROUNDING, (1 - p) / 2)
    ordered = logits.double().softmax(dim=-1).sort(dim=-1, descending=True).values
    before = ordered.cumsum(dim=-1) - ordered  # the mass of all that rank higher
    n_kept = (before < enough).sum(dim=-1, keepdim=True).clamp(min=1)
    return logits.masked_fill(_ranks(logits) >= n_kept, -math.inf)


def sample(logits: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Draw one symbol from softmax(logits). Shapes: (…, V) to (…), int64.

    Raises: ValueError if there is nothing to choose from.
    """
    check_logits(logits)
    p = logits.softmax(dim=-1)
    drawn = torch.multinomial(p.flatten(end_dim=-2) if p.ndim > 1 else p, 1, generator=generator)
    return drawn.view(logits.shape[:-1])


def chooser(
    tau: float = 1.0,
    k: int | None = None,
    p: float = 1.0,
    generator: torch.Generator | None = None,
) -> Callable[[Tensor], Tensor]:
    """Return what draws symbols (B,) of logits (B, V): by temperature, then top-k, then top-p.

    tau: 0 takes the best, its limit, and draws nothing.
    Raises: ValueError, as the filters do, when it draws.
    """

    def choose(logits: Tensor) -> Tensor:
        if tau == 0:
            check_logits(logits)
            return logits.argmax(dim=-1)
        logits = temperature(logits, tau)
        logits = logits if k is None else top_k(logits, k)
        return sample(top_p(logits, p), generator)

    return choose


def generate(
    step: Callable[[Tensor, Any], tuple[Tensor, Any]],
    state: Any,
    first: Tensor,
    length: int,
    choose: Callable[[Tensor], Tensor],
    end: int | None = None,
) -> Tensor:
    """Let a model go on from its own choices, one symbol at a time.

    step: takes symbols (B,) and a state, gives logits (B, V) and the next state.
    choose: takes logits (B, V), gives symbols (B,), such as `sample` or an argmax.
    end: a sequence that has said this symbol says nothing else; when all have, it is over.

    Shapes: first (B,), the symbols to begin with; returns those that follow, (B, ≤ length).
    Raises: ValueError if length < 1.
    """
    if length < 1:
        raise ValueError(f"The length is {length}: generate at least 1 symbol.")
    symbol, said = first, []
    over = torch.zeros_like(first, dtype=torch.bool)
    with torch.no_grad():
        for _ in range(length):
            logits, state = step(symbol, state)
            symbol = choose(logits)
            if end is not None:
                symbol = symbol.masked_fill(over, end)
                over = over | (symbol == end)
            said.append(symbol)
            if over.all():
                break
    return torch.stack(said, dim=1)


def _ranks(logits: Tensor) -> Tensor:
    """The place of each logit in its row, from 0, the largest; equal ones keep their order."""
    return logits.argsort(dim=-1, descending=True, stable=True).argsort(dim=-1)


def check_p(p: float) -> None:
    """Raise a ValueError if p is no mass of probability."""
    if not 0 < p <= 1:
        raise ValueError(f"p is {p}: it is a mass of probability, above 0 and at most 1.")
