"""Steps of top-p that mistakes share, and answers that draw a token."""

import functools
from collections.abc import Callable

import torch
from torch import Tensor


def likeliest_first(logits: Tensor, tau: float) -> tuple[Tensor, Tensor]:
    """Return the probabilities, likeliest first, and the tokens that they belong to."""
    return (logits / tau).softmax(0).sort(descending=True)


def back(chances: Tensor, order: Tensor) -> Tensor:
    """Put each probability at its token's position."""
    return torch.zeros_like(chances).index_put((order,), chances)


def cut_p(likely: Tensor, p: float) -> Tensor:
    """Keep the likeliest until they reach p, without making their sum 1."""
    chances, order = likely.sort(descending=True)
    kept = chances.cumsum(0) - chances < p
    kept[0] = True
    return back(chances * kept, order)


def likeliest(likely: Tensor, n: int) -> Tensor:
    """Keep the n likeliest, and make their sum 1."""
    return whole(likely * (likely >= likely.topk(n).values[-1]))


def kept_while(logits: Tensor, tau: float, stays: Callable[[Tensor], Tensor]) -> Tensor:
    """Keep those at which the sum up to them, likeliest first, allows it; make their sum 1."""
    chances, order = likeliest_first(logits, tau)
    return back(whole(chances * stays(chances.cumsum(0))), order)


def whole(likely: Tensor) -> Tensor:
    return likely / likely.sum()


def settled(answer: Callable) -> Callable:
    """An answer whose lots are the same in each call; a single number is a tensor without axes."""

    @functools.wraps(answer)
    def seeded(*given):
        torch.manual_seed(0)
        found = answer(*given)
        if isinstance(found, Tensor) and found.numel() == 1:
            return found.flatten()[0]
        return torch.tensor(found) if type(found) is int else found

    return seeded
