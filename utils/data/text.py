"""Text for models: symbols become numbers, and sequences batches.

Shapes: B sequences of T symbols are ids (B, T), int64; T is the longest length of the batch, and
what is missing at the end of a shorter one is PAD.
"""

import math
from collections.abc import Iterable, Sequence

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


def stream(ids: Tensor, batch_size: int, length: int) -> list[tuple[Tensor, Tensor, Tensor]]:
    """`chunks` with a sign between ids and targets: True where the streams begin."""
    pieces = chunks(ids, batch_size, length)
    return [(ids, torch.tensor(k == 0), target) for k, (ids, target) in enumerate(pieces)]
