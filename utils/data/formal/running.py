"""Languages whose answer is about what has been read so far: counts, a carry, things that move.

All symbols may follow at any time. In parity, modular counting and majority the answer also tells
whether the word may end here, so that these are the sets of Bhattamishra et al. (2020) too.
"""

from itertools import combinations

import torch
from torch import Tensor

from utils.data.formal.language import Language


class Modulo(Language):
    """How many ones were there, modulo m? With m = 2 this is parity."""

    symbols = "0", "1"

    def __init__(self, m: int):
        if m < 2:
            raise ValueError(f"Count modulo 2 or more, got {m}.")
        self.m, self.classes = m, tuple(map(str, range(m)))

    def answer(self, ids: Tensor) -> Tensor:
        return ids.cumsum(dim=1) % self.m


class First(Language):
    """Which was the first symbol?"""

    symbols = classes = "0", "1"

    def answer(self, ids: Tensor) -> Tensor:
        return ids[:, :1].expand_as(ids)


class Majority(Language):
    """Were there more ones than zeros? As many of both are not more."""

    symbols, classes = ("0", "1"), ("no", "yes")

    def answer(self, ids: Tensor) -> Tensor:
        return ((2 * ids - 1).cumsum(dim=1) > 0).long()


class Addition(Language):
    """Two binary numbers, a digit of each at a time, the lowest first: which digit has their sum?

    The symbol of digits a and b has the id a + 2b.
    """

    symbols, classes = ("0+0", "1+0", "0+1", "1+1"), ("0", "1")

    def answer(self, ids: Tensor) -> Tensor:
        digits, carry = [], torch.zeros_like(ids[:, 0])
        for id_t in ids.unbind(dim=1):
            total = id_t % 2 + id_t // 2 + carry
            digits.append(total % 2)
            carry = total // 2
        return torch.stack(digits, dim=1)


class Swaps(Language):
    """Cups stand in a row, and each symbol exchanges two: where is the ball of the first cup?

    The swaps make all permutations of n things. Of five, no shallow circuit is known that composes
    them: their word problem is complete for NC¹ (Barrington, 1989), and stays so where one asks for
    one thing alone, since the products there are the identity or a cycle that moves it.
    """

    def __init__(self, n_things: int):
        if n_things < 2:
            raise ValueError(f"A swap needs two things, got {n_things}.")
        self.n_things, self.pairs = n_things, tuple(combinations(range(n_things), 2))
        self.symbols = tuple(f"{i + 1}{j + 1}" for i, j in self.pairs)
        self.classes = tuple(str(i + 1) for i in range(n_things))

    def moves(self) -> Tensor:
        """Return where a swap brings what stands at each place: (n_swaps, n_things)."""
        moves = torch.arange(self.n_things).repeat(len(self.pairs), 1)
        for row, (i, j) in zip(moves, self.pairs, strict=True):
            row[i], row[j] = j, i
        return moves

    def answer(self, ids: Tensor) -> Tensor:
        moves, place, places = self.moves(), torch.zeros_like(ids[:, 0]), []
        for id_t in ids.unbind(dim=1):
            place = moves[id_t, place]
            places.append(place)
        return torch.stack(places, dim=1)
