"""What counting alone can do: a language model without weights."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


class InterpolatedCounts:
    """Predict a symbol from the `order` - 1 before it, by counting.

    p_n(w | h) = (s(hw) + f(h) · p_{n-1}(w | h')) / t(h), where h' is h without its first symbol and
    p_0 is 1 / V: what was seen, and what is left free for the lower orders, which speak alone where
    h was never seen. Subclasses say how n-grams are counted.

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

    def _count(self, ids: np.ndarray, n: int) -> tuple[np.ndarray, ...]:
        """For order n: n-grams hw, s(hw), contexts h, t(h) and f(h)."""
        raise NotImplementedError

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

    def _tallied(self, keys: np.ndarray) -> tuple[np.ndarray, ...]:
        """Different n-grams, their counts, contexts, and of each context the count and N(h)."""
        grams, counts = np.unique(keys, return_counts=True)
        contexts, first, n_after = np.unique(
            grams // self.vocab_size, return_index=True, return_counts=True
        )
        return grams, counts, contexts, np.add.reduceat(counts, first), n_after

    def log_probabilities(self, ids: Sequence[int] | Tensor) -> Tensor:
        """Natural logarithm of each symbol's probability, given those before it.

        Shapes: ids (…, T) to (…, T), float64. Where fewer than order - 1 symbols stand before,
        the lower orders speak.
        Raises: ValueError if there is no symbol, or an id is not in 0..V-1.
        """
        ids = self._checked(ids)
        p = np.full(ids.shape, 1 / self.vocab_size)
        for n, (grams, counted, contexts, totals, freed) in enumerate(self._orders, start=1):
            if n > ids.shape[-1]:
                break
            keys = self._keys(ids, n)
            at, seen = _find(keys // self.vocab_size, contexts)
            where, found = _find(keys, grams)
            lower = p[..., n - 1 :]
            higher = (np.where(found, counted[where], 0) + freed[at] * lower) / totals[at]
            p[..., n - 1 :] = np.where(seen, higher, lower)
        return torch.from_numpy(np.log(p))

    def logits(self, context: Sequence[int] | Tensor) -> Tensor:
        """Log-probability of every symbol as the next one. Shapes: context (T,) to (V,)."""
        context = np.asarray(context, dtype=np.int64)[-self.order :]
        every = np.arange(self.vocab_size)[:, None]
        rows = np.hstack([np.broadcast_to(context, (self.vocab_size, len(context))), every])
        return self.log_probabilities(rows)[:, -1]


class KneserNey(InterpolatedCounts):
    """Interpolated counts, of which each gives a little away (Kneser & Ney, 1995).

    p_n(w | h) = max(c(hw) - D_n, 0) / c(h) + D_n N(h) / c(h) · p_{n-1}(w | h'), where N(h) symbols
    were seen after the context h (Chen & Goodman, 1999, §2.7). c counts how often hw was seen in
    the highest order; below, how many different symbols stood before it. D_n = n_1 / (n_1 + 2 n_2),
    of the n-grams seen once and twice.
    """

    def _count(self, ids: np.ndarray, n: int) -> tuple[np.ndarray, ...]:
        keys = self._keys(ids, n)
        if n < self.order and len(ids) > n:  # of each n+1-gram once, all but its first symbol
            keys = np.unique(self._keys(ids, n + 1)) % self.vocab_size**n
        grams, counts, contexts, totals, n_after = self._tallied(keys)
        once, twice = (counts == 1).sum(), (counts == 2).sum()
        discount = once / (once + 2 * twice) if once and twice else 0.5
        return grams, counts - discount, contexts, totals, discount * n_after


class WittenBell(InterpolatedCounts):
    """Interpolated counts, where a context is trusted the less the more can follow it.

    p_n(w | h) = (c(hw) + N(h) · p_{n-1}(w | h')) / (c(h) + N(h)), where N(h) different symbols were
    seen after the context h: as often, something new came (Witten & Bell, 1991; Chen &
    Goodman, 1999, §2.4).
    """

    def _count(self, ids: np.ndarray, n: int) -> tuple[np.ndarray, ...]:
        grams, counts, contexts, totals, n_after = self._tallied(self._keys(ids, n))
        return grams, counts, contexts, totals + n_after, n_after


def _find(keys: np.ndarray, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each key stands in a sorted table, and whether it does."""
    at = np.searchsorted(table, keys).clip(max=len(table) - 1)
    return at, table[at] == keys
