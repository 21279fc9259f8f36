"""Small tasks on sequences whose answer hangs on order or on something long ago."""

import torch
from torch import Tensor
from torch.nn import functional as F

IGNORE_INDEX = -100  # a target that `cross_entropy` leaves out


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


def delayed_recall(n: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
    """Draw sequences of four symbols: which was the first, asked at the very end?

    Returns: one-hot sequences (n, 4, length) and the first symbols (n,).
    """
    generator = torch.Generator().manual_seed(seed)
    symbols = torch.randint(4, (n, length), generator=generator)
    return F.one_hot(symbols, 4).float().transpose(1, 2), symbols[:, 0]


def associative_recall(n: int, length: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Draw sequences that say what belongs to each key, and ask for it elsewhere.

    Half of the positions hold a pair: a key, each of them once, and one of 8 values. The other half
    hold a key and a blank: which value goes with it? Pairs and questions stand in random order.
    Returns: ids (n, length, 2) of keys, from 0, and above them values, the blank last; the values
    that are asked for, from 0, elsewhere IGNORE_INDEX, (n, length); and how far away the answer
    stands, 0 where nothing is asked, (n, length).
    Raises: ValueError if the length is odd or below 2.
    """
    if length < 2 or length % 2:
        raise ValueError(f"Half of the positions are pairs, so the length is even, got {length}.")
    generator = torch.Generator().manual_seed(seed)
    n_keys, n_values = length // 2, 8
    place = torch.rand(n, length, generator=generator).argsort(dim=1)  # pairs first, then questions
    values = torch.randint(n_values, (n, n_keys), generator=generator)
    asked = torch.randint(n_keys, (n, n_keys), generator=generator)
    blank = torch.full_like(values, n_keys + n_values)
    keys = torch.cat([torch.arange(n_keys).expand(n, -1), asked], dim=1)
    said = torch.cat([n_keys + values, blank], dim=1)
    target = torch.cat([torch.full_like(values, IGNORE_INDEX), values.gather(1, asked)], dim=1)
    apart = (place.gather(1, asked) - place[:, n_keys:]).abs()
    apart = torch.cat([torch.zeros_like(apart), apart], dim=1)
    keys, said, target, apart = (
        torch.empty_like(x).scatter_(1, place, x) for x in (keys, said, target, apart)
    )
    return torch.stack([keys, said], dim=2), target, apart


def most_frequent(n: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
    """Draw sequences of 8 symbols, some of them more probable: which one occurs most often?

    Returns: ids (n, length), and at each position the answer, (n, length); of several that occur
    equally often, it is the first.
    """
    generator = torch.Generator().manual_seed(seed)
    chances = (3 * torch.rand(n, 8, generator=generator)).softmax(dim=1)
    ids = torch.multinomial(chances, length, replacement=True, generator=generator)
    answer = F.one_hot(ids, 8).sum(dim=1).argmax(dim=1, keepdim=True)
    return ids, answer.expand(-1, length)


def sorting(n: int, length: int, seed: int, n_symbols: int = 10) -> tuple[Tensor, Tensor]:
    """Draw sequences of symbols: which are they, from the lowest to the highest?

    Returns: ids and the same ids sorted, (n, length) each.
    """
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(n_symbols, (n, length), generator=generator)
    return ids, ids.sort(dim=1).values


def echo(n: int, length: int, seed: int, distance: int = 3) -> tuple[Tensor, Tensor]:
    """Draw sequences of ten symbols: which one stood `distance` steps before each?

    Returns: ids (n, length) and targets (n, length), the first of them IGNORE_INDEX.
    Raises: ValueError if no step is so far from the first.
    """
    if not 0 < distance < length:
        raise ValueError(f"Of {length} symbols, none stands {distance} before another.")
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(10, (n, length), generator=generator)
    targets = torch.full_like(ids, IGNORE_INDEX)
    targets[:, distance:] = ids[:, :-distance]
    return ids, targets


def copying(n: int, length: int, seed: int, n_symbols: int = 10) -> tuple[Tensor, Tensor]:
    """Draw `length` symbols and a sign, the id n_symbols: which were they, from the first on?

    The copy is written as a language model does it, with the truth so far as input.
    Returns: ids (n, 2 · length) and targets (n, 2 · length), IGNORE_INDEX before the sign.
    """
    generator = torch.Generator().manual_seed(seed)
    symbols = torch.randint(n_symbols, (n, length), generator=generator)
    sign = torch.full((n, 1), n_symbols)
    targets = torch.cat([torch.full_like(symbols, IGNORE_INDEX), symbols], dim=1)
    return torch.cat([symbols, sign, symbols[:, :-1]], dim=1), targets
