"""Text for models: symbols become numbers, sequences become batches, and a baseline counts.

Shapes: B sequences of T symbols are ids (B, T), int64; T is the longest length of the batch, and
what is missing at the end of a shorter one is PAD.
"""

import math
import re
from collections.abc import Iterable, Sequence
from pydoc_data.topics import topics

import numpy as np
import torch
from torch import Tensor

PAD, BOS, EOS, UNK = range(4)  # padding, begin and end of a sequence, a symbol never seen before
SPECIAL = ("<pad>", "<bos>", "<eos>", "<unk>")


class Vocabulary:
    """Number symbols (characters or words): four special ones first, then the distinct, sorted.

    Raises: ValueError if there is no symbol, or one has the name of a special one.
    """

    def __init__(self, symbols: Iterable[str]):
        known = sorted(set(symbols))
        if not known:
            raise ValueError("A vocabulary needs at least one symbol: there is none.")
        if taken := set(known) & set(SPECIAL):
            raise ValueError(f"{min(taken)!r} is a special symbol: call yours something else.")
        self.symbols = (*SPECIAL, *known)
        self._ids = {symbol: number for number, symbol in enumerate(self.symbols)}

    def __len__(self) -> int:
        return len(self.symbols)

    def encode(self, symbols: Iterable[str], strict: bool = False) -> list[int]:
        """Give each symbol its number: UNK if it is unknown, or an error if `strict`.

        Raises: ValueError if `strict` and a symbol is unknown.
        """
        symbols = list(symbols)
        if strict and (unknown := [s for s in symbols if s not in self._ids]):
            raise ValueError(f"{unknown[0]!r} is not in the vocabulary: leave it out or add it.")
        return [self._ids.get(symbol, UNK) for symbol in symbols]

    def decode(self, ids: Iterable[int] | Tensor) -> list[str]:
        """Give the symbols of one sequence back, up to its first EOS, without PAD and BOS.

        Raises: ValueError if a number is not in the vocabulary.
        """
        symbols = []
        for number in ids.tolist() if isinstance(ids, Tensor) else ids:
            if not 0 <= number < len(self):
                raise ValueError(f"The vocabulary has the numbers 0 to {len(self) - 1}: {number}?")
            if number == EOS:
                break
            if number not in (PAD, BOS):
                symbols.append(self.symbols[number])
        return symbols


def pad(sequences: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Fill sequences up with PAD to the length of the longest.

    Returns: ids (B, T) and lengths (B,), both int64.
    Raises: ValueError if there is no sequence, or one is empty.
    """
    if len(sequences) == 0:
        raise ValueError("There is no sequence to pad: a batch needs at least one.")
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    if lengths.min() == 0:
        raise ValueError(
            f"Sequence {int(lengths.argmin())} is empty: leave it out, or give it an EOS."
        )
    ids = torch.full((len(sequences), int(lengths.max())), PAD)
    for row, sequence in zip(ids, sequences, strict=True):
        row[: len(sequence)] = torch.as_tensor(sequence)
    return ids, lengths


class BucketedBatches:
    """Minibatches of sequences of similar length, for `fit`, to be iterated as often as one likes.

    targets: a tensor (n, …), one target a sequence, which gives batches
        (ids (B, T), lengths (B,), targets (B, …)); or n lists of ids, which give
        (source (B, S), lengths (B,), target_in (B, T), target_out (B, T)): the decoder reads
        BOS and the target, and is to say the target and EOS.
    shuffle: at each pass, sequences are dealt at random into pools of `pool` batches, sorted by
        length within a pool and cut into batches, which come in random order. All of it is drawn
        from torch's generator, which `fit` seeds. Without it, the order is that of the data.

    Raises: ValueError if there is no sequence, one is empty, the numbers of sources and targets
    differ, or batch_size or pool < 1.
    """

    def __init__(self, sources, targets, batch_size: int, shuffle: bool = False, pool: int = 50):
        if len(sources) == 0:
            raise ValueError("There is no sequence: there is nothing to make batches of.")
        if len(sources) != len(targets):
            raise ValueError(f"{len(sources)} sources need as many targets, not {len(targets)}.")
        if batch_size < 1 or pool < 1:
            raise ValueError(
                f"batch_size is {batch_size} and pool is {pool}: each has to be at least 1."
            )
        self.lengths = torch.tensor([len(sequence) for sequence in sources])
        if self.lengths.min() == 0:
            raise ValueError(f"Sequence {int(self.lengths.argmin())} is empty: leave it out.")
        self.sources, self.targets = sources, targets
        self.batch_size, self.shuffle, self.pool = batch_size, shuffle, pool

    def __len__(self) -> int:
        return math.ceil(len(self.sources) / self.batch_size)

    def __iter__(self):
        for rows in self._order():
            source, lengths = pad([self.sources[row] for row in rows])
            if isinstance(self.targets, Tensor):
                yield source, lengths, self.targets[rows]
            else:
                targets = [list(self.targets[row]) for row in rows]
                target_in, _ = pad([[BOS, *target] for target in targets])
                target_out, _ = pad([[*target, EOS] for target in targets])
                yield source, lengths, target_in, target_out

    def _order(self) -> Sequence[Tensor]:
        """The rows of each batch."""
        if not self.shuffle:
            return torch.arange(len(self.sources)).split(self.batch_size)
        pools = torch.randperm(len(self.sources)).split(self.pool * self.batch_size)
        pools = [pool[self.lengths[pool].argsort(stable=True)] for pool in pools]
        batches = [rows for pool in pools for rows in pool.split(self.batch_size)]
        return [batches[number] for number in torch.randperm(len(batches))]


def chunks(ids: Sequence[int] | Tensor, batch_size: int, length: int) -> list[tuple]:
    """Cut one long text into pieces for truncated backpropagation through time.

    The text is divided into B streams, and each chunk goes on in every stream where the one
    before it stopped, so that the state may be carried over. A symbol's target is the next one.

    Shapes: ids (n,); a chunk is (inputs, targets), each (B, length), the last perhaps shorter.
    Raises: ValueError if the text is too short to give each stream one symbol and its target.
    """
    if batch_size < 1 or length < 1:
        raise ValueError(f"batch_size is {batch_size} and length is {length}: at least 1 each.")
    ids = torch.as_tensor(ids)
    n = (len(ids) - 1) // batch_size  # symbols in a stream; fewer than B at the end are left out
    if n < 1:
        raise ValueError(
            f"{len(ids)} symbols do not make {batch_size} streams: use a longer text or fewer."
        )
    inputs, targets = (ids[start : start + batch_size * n].view(batch_size, n) for start in (0, 1))
    return list(zip(inputs.split(length, dim=1), targets.split(length, dim=1), strict=True))


# The text that is always there

PARTS = ("train", "validation", "test")
_ASCII = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "…": "..."})


def manual_text(part: str | None = None) -> str:
    """Python's own reference manual as English text: one part of it, or all (the default).

    It is what `help()` shows: about eighty topics, printed as plain text. Several quote each
    other, so a paragraph that was there before, in a longer topic, is left out: otherwise
    the held-out parts would have been read in training. Of ten topics, ordered by what is left
    of them, eight are for training, one for validation, one for the test. Each release of Python
    has a slightly different text: compare nothing that hangs on its exact letters.

    Raises: ValueError if there is no such part.
    """
    if part is not None and part not in PARTS:
        raise ValueError(f'No part is called {part!r}: say "train", "validation" or "test".')
    seen: set[str] = set()
    kept = []
    for name in sorted(topics, key=lambda name: (-len(topics[name]), name)):
        new = [p for p in _paragraphs(topics[name]) if p.strip() not in seen]
        seen.update(p.strip() for p in new)
        kept.append("\n\n".join(new))
    kept.sort(key=len, reverse=True)
    chosen = [
        text
        for rank, text in enumerate(kept)
        if text and part in (None, {5: "validation", 6: "test"}.get(rank % 10, "train"))
    ]
    return "\n\n".join(chosen) + "\n"


def _paragraphs(text: str) -> list[str]:
    """Divide a text at its empty lines; typographic signs become those of a keyboard."""
    lines = [line.rstrip() for line in text.translate(_ASCII).expandtabs().splitlines()]
    return re.split(r"\n{2,}", "\n".join(lines).strip("\n"))


# What counting alone can do


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
