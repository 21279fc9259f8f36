"""A tokeniser of byte pairs: text to ids and back, by merges that were learned."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from numbers import Integral

from torch import Tensor

from utils.tokens.merges import Pair, replace_pair
from utils.tokens.splitting import GPT2_PATTERN, pre_tokens

BYTES = [bytes([byte]) for byte in range(256)]


class BytePairs:
    """Cut text into byte pairs (Sennrich et al., 2016), over UTF-8 (Radford et al., 2019, §2.2).

    No text is unknown to it: what was never merged is written in bytes. What is special, such as
    the end of a text, is never found in a text: whoever wants it puts its number in.

    ids: each token's number, by its bytes; all 256 single bytes are among them.
    merges: pairs of tokens, in the order in which they were learned; of one that stands there twice
        the last counts, as in the library.
    special: numbers of tokens that are no text, by name.
    pattern: no merge reaches across the pieces that it cuts (`pre_tokens`).
    ignore_merges: whether a piece that is a token is taken whole, as in Llama 3, also where the
        merges would not make it.

    Raises: ValueError if a byte or a token of a merge has no number, or two tokens have the same.
    """

    def __init__(
        self,
        ids: Mapping[bytes, int],
        merges: Iterable[tuple[bytes, bytes]],
        special: Mapping[str, int] | None = None,
        pattern: str = GPT2_PATTERN,
        ignore_merges: bool = False,
    ):
        self.ids, self.special = dict(ids), dict(special or {})
        self.pattern, self.ignore_merges = pattern, ignore_merges
        self._merged: dict[Pair, tuple[int, int]] = {}  # pair: its rank, the token that it makes
        merges = list(merges)
        check_tokens(self.ids, merges, self.special)
        for rank, (a, b) in enumerate(merges):
            self._merged[ids[a], ids[b]] = rank, ids[a + b]
        named = {number: name.encode() for name, number in self.special.items()}
        self._bytes = {number: token for token, number in self.ids.items()} | named
        self._known: dict[str, list[int]] = {}  # pieces that were encoded before

    @classmethod
    def from_merges(cls, merges: Sequence[Pair], special: Sequence[str] = ()) -> "BytePairs":
        """Take what `learn_merges` has learned: byte b is token b, the i-th merge token 256 + i.

        special: names that get the first numbers; then all others begin behind them. Those of
            `utils.data.text` make PAD, BOS and EOS mean the same here as in its batches.
        Raises: ValueError if a merge is of a token that was not there yet.
        """
        tokens, pairs = list(BYTES), []
        for a, b in merges:
            n = len(tokens)
            if not all(isinstance(token, Integral) and 0 <= token < n for token in (a, b)):
                raise ValueError(
                    f"Merge {n - 256} is of {a} and {b}, and so far there are the tokens 0 to "
                    f"{n - 1}: hand in the merges in the order in which they were learned."
                )
            pairs.append((tokens[a], tokens[b]))
            tokens.append(tokens[a] + tokens[b])
        ids = {token: number for number, token in enumerate(tokens, start=len(special))}
        return cls(ids, pairs, {name: number for number, name in enumerate(special)})

    def __len__(self) -> int:
        """How many rows an embedding needs: one more than the largest number."""
        return max(self._bytes) + 1

    def encode(self, text: str) -> list[int]:
        """Give the numbers of a text's tokens: none for an empty one."""
        numbers: list[int] = []
        for piece in pre_tokens(text, self.pattern):
            if piece not in self._known:
                self._known[piece] = self._encode(piece.encode())
            numbers += self._known[piece]
        return numbers

    def _encode(self, piece: bytes) -> list[int]:
        """Merge a piece's pairs in the order in which they were learned, the earliest first."""
        if self.ignore_merges and piece in self.ids:
            return [self.ids[piece]]
        word = [self.ids[bytes([byte])] for byte in piece]
        while len(word) > 1:
            best = min(pairwise(word), key=lambda pair: self._merged.get(pair, (math.inf,)))
            if best not in self._merged:
                break
            word = replace_pair(word, best, self._merged[best][1])
        return word

    def pieces(self, ids: Iterable[int] | Tensor) -> list[bytes]:
        """Give each token's bytes, a special one's name; joined and decoded they are the text.

        Raises: ValueError if a number is not in the vocabulary.
        """
        numbers = ids.tolist() if isinstance(ids, Tensor) else list(ids)
        for number in numbers:
            if number not in self._bytes:
                raise ValueError(
                    f"No token has the number {number}: they run from {min(self._bytes)} to "
                    f"{max(self._bytes)}."
                )
        return [self._bytes[number] for number in numbers]

    def decode(self, ids: Iterable[int] | Tensor) -> str:
        """Give the text back. Bytes that are no UTF-8, such as half a letter, are replaced by �.

        Raises: ValueError if a number is not in the vocabulary.
        """
        return b"".join(self.pieces(ids)).decode(errors="replace")


def check_tokens(
    ids: Mapping[bytes, int],
    merges: Iterable[tuple[bytes, bytes]],
    special: Mapping[str, int],
) -> None:
    """Raise a ValueError if a byte or a merge's token has no number, or two share one."""
    parts = (part for a, b in merges for part in (a, b, a + b))
    for token in (*(bytes([byte]) for byte in range(256)), *parts):
        if token not in ids:
            raise ValueError(f"The token {token!r} has no number: the vocabulary lacks it.")
    counted = Counter([*ids.values(), *special.values()])
    if twice := [number for number, count in counted.items() if count > 1]:
        raise ValueError(f"Two tokens have the number {twice[0]}: give each its own.")
