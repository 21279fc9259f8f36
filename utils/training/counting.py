"""What counting alone can do: a language model without weights."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


class KneserNey:
    """Predict a symbol from the `order` - 1 before it, by counting (Kneser & Ney, 1995).

    Interpolated: p_n(w | h) = max(c(hw) - D_n, 0) / c(h) + D_n N(h) / c(h) · p_{n-1}(w | h'),
    where N(h) symbols were seen after the context h, and h' is h without its first symbol (Chen &
    Goodman, 1999, §2.7). c counts how often hw was seen in the highest order; below, how many
    different symbols stood before it. D_n = n_1 / (n_1 + 2 n_2), of the n-grams seen once and
    twice; p_0 is 1 / V.

    Shapes: ids (n,), the text to count in.
    Raises: ValueError if the text is shorter than `order`, an id is not in 0..V-1, or V^order
    numbers do not fit into 64 bits.
    """

    def __init__(self, ids: Sequence[int] | Tensor, order: int, vocab_size: int):
        if order < 1 or vocab_size**order >= 2**63:
            raise ValueError(
                f"order is {order}: it has to be at least 1, and V**order below 2**63."
            )
        self.order, self.vocab_size = order, vocab_size
        ids = self._checked(ids)
        if ids.ndim != 1 or len(ids) < order:
            raise ValueError(f"Counting needs one text of {order} symbols or more.")
        self._orders = [self._count(ids, n) for n in range(1, order + 1)]

    def _checked(self, ids) -> np.ndarray:
        ids = np.asarray(ids, dtype=np.int64)
        if ids.size == 0 or ids.min() < 0 or ids.max() >= self.vocab_size:
            raise ValueError(f"Expected one or more symbols, numbered 0 to {self.vocab_size - 1}.")
        return ids

    def _keys(self, ids: np.ndarray, n: int) -> np.ndarray:
        """Number the n-grams along the last axis: (…, T) to (…, T - n + 1)."""
        size = ids.shape[-1] - n + 1
        keys = np.zeros((*ids.shape[:-1], size), dtype=np.int64)
        for i in range(n):
            keys = keys * self.vocab_size + ids[..., i : i + size]
        return keys

    def _count(self, ids: np.ndarray, n: int) -> tuple[np.ndarray, ...]:
        """For order n: n-grams, their discounted counts, contexts, their totals and D·N(h)."""
        keys = self._keys(ids, n)
        if n < self.order and len(ids) > n:  # of each n+1-gram once, all but its first symbol
            keys = np.unique(self._keys(ids, n + 1)) % self.vocab_size**n
        grams, counts = np.unique(keys, return_counts=True)
        once, twice = (counts == 1).sum(), (counts == 2).sum()
        discount = once / (once + 2 * twice) if once and twice else 0.5
        contexts, first, n_after = np.unique(
            grams // self.vocab_size, return_index=True, return_counts=True
        )
        totals = np.add.reduceat(counts, first)
        return grams, counts - discount, contexts, totals, discount * n_after

    def log_probabilities(self, ids: Sequence[int] | Tensor) -> Tensor:
        """Natural logarithm of each symbol's probability, given those before it.

        Shapes: ids (…, T) to (…, T), float64. Where fewer than order - 1 symbols stand before,
        the lower orders speak.
        Raises: ValueError if there is no symbol, or an id is not in 0..V-1.
        """
        ids = self._checked(ids)
        p = np.full(ids.shape, 1 / self.vocab_size)
        for n, (grams, discounted, contexts, totals, freed) in enumerate(self._orders, start=1):
            if n > ids.shape[-1]:
                break
            keys = self._keys(ids, n)
            at, seen = _find(keys // self.vocab_size, contexts)
            where, found = _find(keys, grams)
            lower = p[..., n - 1 :]
            higher = (np.where(found, discounted[where], 0) + freed[at] * lower) / totals[at]
            p[..., n - 1 :] = np.where(seen, higher, lower)
        return torch.from_numpy(np.log(p))

    def logits(self, context: Sequence[int] | Tensor) -> Tensor:
        """Log-probability of every symbol as the next one. Shapes: context (T,) to (V,)."""
        context = np.asarray(context, dtype=np.int64)[-self.order :]
        every = np.arange(self.vocab_size)[:, None]
        rows = np.hstack([np.broadcast_to(context, (self.vocab_size, len(context))), every])
        return self.log_probabilities(rows)[:, -1]


def _find(keys: np.ndarray, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each key stands in a sorted table, and whether it does."""
    at = np.searchsorted(table, keys).clip(max=len(table) - 1)
    return at, table[at] == keys
