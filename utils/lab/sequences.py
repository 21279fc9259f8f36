"""Small tasks on sequences whose answer hangs on order or on something long ago."""

import torch
from torch import Tensor
from torch.nn import functional as F


def two_marks(n: int, length: int, distance: int, seed: int) -> tuple[Tensor, Tensor]:
    """Draw sequences with two marks: which comes first? The marks keep away from the borders.

    Returns: sequences (n, 2, length), one channel a mark, and the channel of the first mark (n,).
    Raises: ValueError if the marks do not fit.
    """
    margin = length // 5
    places = length - 2 * margin - distance
    if places < 1:
        raise ValueError(f"Marks {distance} apart do not fit into {length} steps: use more steps.")
    generator = torch.Generator().manual_seed(seed)
    start = margin + torch.randint(places, (n,), generator=generator)
    first = torch.randint(2, (n,), generator=generator)
    sequences = torch.zeros(n, 2, length)
    sequences[torch.arange(n), first, start] = 1
    sequences[torch.arange(n), 1 - first, start + distance] = 1
    return sequences, first


def delayed_recall(n: int, length: int, seed: int, n_symbols: int = 4) -> tuple[Tensor, Tensor]:
    """Draw sequences of symbols: which was the first, asked at the very end?

    Returns: one-hot sequences (n, n_symbols, length) and the first symbols (n,).
    """
    generator = torch.Generator().manual_seed(seed)
    symbols = torch.randint(n_symbols, (n, length), generator=generator)
    return F.one_hot(symbols, n_symbols).float().transpose(1, 2), symbols[:, 0]
