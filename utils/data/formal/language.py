"""What all formal languages share: words of some lengths, and an answer after each symbol.

The answer after a prefix is one of a few classes. In a language such as aⁿbⁿ it is the set of
symbols that may follow, as Bhattamishra et al. (2020, §4) ask for it: whoever always knows that set
recognises the language. They predict a set symbol by symbol; here each set that occurs is a class,
so that the answers of all languages are learned by one loss and counted in one way. Words outside
the language need not be made, which would have to be neither too easy nor too hard to tell.

Shapes: ids and answers (n, T).
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor

from utils.data.sequences import IGNORE_INDEX


class Words(NamedTuple):
    """Words of different lengths, one below the other."""

    ids: Tensor  # (n, T), 0 after a word's end
    answers: Tensor  # (n, T), IGNORE_INDEX after a word's end
    lengths: Tensor  # (n,)


class Language(ABC):
    """Words over some symbols, and the answer after each symbol.

    symbols: the alphabet; a symbol's place in it is its id.
    classes: the answers; an answer's place among them is its number.
    """

    symbols: tuple[str, ...]
    classes: tuple[str, ...]

    def draw(self, n: int, shortest: int, longest: int, seed: int) -> Words:
        """Draw n words; each length that words have, from shortest to longest, is equally likely.

        Raises: ValueError if there is no word to draw, or words have none of these lengths.
        """
        if n < 1:
            raise ValueError(f"Draw at least one word, got n={n}.")
        possible = [T for T in range(max(shortest, 1), longest + 1) if self.has_length(T)]
        if not possible:
            raise ValueError(f"No word of this language has {shortest} to {longest} symbols.")
        generator = torch.Generator().manual_seed(seed)
        chosen = torch.randint(len(possible), (n,), generator=generator)
        lengths = torch.tensor(possible)[chosen]
        ids = self.sample(lengths, generator)
        after_end = torch.arange(ids.shape[1]) >= lengths[:, None]
        ids = ids.masked_fill(after_end, 0)
        return Words(ids, self.answer(ids).masked_fill(after_end, IGNORE_INDEX), lengths)

    def truth(self, ids: Tensor) -> Tensor:
        """Return the correct answer after each symbol. Shapes: ids (n, T) to (n, T).

        Raises: ValueError if these are no ids of the alphabet, or a row begins no word.
        """
        whole = isinstance(ids, Tensor) and not ids.is_floating_point() and ids.dim() == 2
        if not whole or 0 in ids.shape:
            raise ValueError("Expected a tensor of ids (n, T) with at least one symbol.")
        smallest, largest = (int(end) for end in ids.aminmax())
        if smallest < 0 or largest >= len(self.symbols):
            wrong = smallest if smallest < 0 else largest
            raise ValueError(f"Ids of this alphabet run to {len(self.symbols) - 1}, got {wrong}.")
        begins = self.begins_word(ids)
        if not begins.all():
            row = ids[~begins][0].tolist()
            shown = " ".join(self.symbols[i] for i in row)
            raise ValueError(f"No word of this language begins with {shown}.")
        return self.answer(ids)

    def encode(self, word: str) -> Tensor:
        """Return the ids of a word, (1, T); symbols of several letters are separated by spaces.

        Raises: ValueError if a symbol is not of the alphabet, or there is none.
        """
        single = max(map(len, self.symbols)) == 1
        parts = list("".join(word.split())) if single else word.split()
        foreign = [part for part in parts if part not in self.symbols]
        if foreign or not parts:
            got = repr(foreign[0]) if foreign else "nothing"
            raise ValueError(f"A word is made of {', '.join(self.symbols)}, got {got}.")
        return torch.tensor([[self.symbols.index(part) for part in parts]])

    def has_length(self, T: int) -> bool:
        """Return whether there is a word of T symbols, T at least 1."""
        return True

    def begins_word(self, ids: Tensor) -> Tensor:
        """Return whether each row begins a word, (n,)."""
        return torch.ones(len(ids), dtype=torch.bool)

    def sample(self, lengths: Tensor, generator: torch.Generator) -> Tensor:
        """Draw a word of each length: (n, T), T the greatest; what follows an end means nothing.

        Here each symbol is equally likely at each position.
        """
        shape = len(lengths), int(lengths.max())
        return torch.randint(len(self.symbols), shape, generator=generator)

    @abstractmethod
    def answer(self, ids: Tensor) -> Tensor:
        """Return the answers, where a row begins a word; elsewhere they mean nothing."""
