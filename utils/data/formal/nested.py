"""Languages that need a counter or a stack: blocks of equal length, and brackets that match.

The answer after each symbol is the set of what may follow, "end" among it where the word may end.
"""

from functools import cache

import torch
from torch import Tensor

from utils.data.formal.language import Language


class Blocks(Language):
    """As many of each letter, one kind after the other: aⁿbⁿ, or with three letters aⁿbⁿcⁿ.

    Answer k says that the letter k + 1 has to follow, the last one the end; after the first letter
    (answer 0) it may be followed by itself too.
    """

    def __init__(self, letters: str):
        if len(letters) < 2 or len({*letters}) < len(letters):
            raise ValueError(f"Blocks have at least two letters, all different, got {letters!r}.")
        self.symbols = tuple(letters)
        self.classes = (letters[:2], *letters[1:], "end")

    def has_length(self, T: int) -> bool:
        return T % len(self.symbols) == 0

    def sample(self, lengths: Tensor, generator: torch.Generator) -> Tensor:
        t = torch.arange(int(lengths.max()))
        return (t * len(self.symbols) // lengths[:, None]).clamp(max=len(self.symbols) - 1)

    def counts(self, ids: Tensor) -> Tensor:
        """Return how many of each letter there were after each symbol: (n, T, letters)."""
        return (ids[:, :, None] == torch.arange(len(self.symbols))).cumsum(dim=1)

    def answer(self, ids: Tensor) -> Tensor:
        counts = self.counts(ids)
        began = (counts[:, :, 1:] > 0).any(dim=2)  # a second letter
        full = (counts == counts[:, :, :1]).sum(dim=2)  # letters that are complete
        return torch.where(began, full, 0)

    def begins_word(self, ids: Tensor) -> Tensor:
        n = self.counts(ids)[:, -1]  # (n, letters)
        in_order = (ids.diff(dim=1) >= 0).all(dim=1)
        not_more = (n[:, 1:] <= n[:, :-1]).all(dim=1)
        complete = ((n[:, 2:] == 0) | (n[:, 1:-1] == n[:, :1])).all(dim=1)
        return in_order & not_more & complete & (n[:, 0] > 0)


class Dyck(Language):
    """Brackets of some kinds that match, as in ([])(): Dyck-1 with one kind, Dyck-2 with two.

    Any bracket may be opened at any time; the answer is what else may follow: the end where none is
    open, else the closing one of the kind that was opened last. Words are drawn uniformly among all
    whose greatest depth is from shallowest to deepest. The answers know no greatest depth.
    """

    KINDS = "()", "[]", "{}", "<>"

    def __init__(self, kinds: int, *, shallowest: int = 1, deepest: int):
        if not 1 <= kinds <= len(self.KINDS):
            raise ValueError(f"There are 1 to {len(self.KINDS)} kinds of brackets, got {kinds}.")
        if not 1 <= shallowest <= deepest:
            raise ValueError(
                f"Depths run from at least 1 to at least as much, got {shallowest} to {deepest}."
            )
        self.kinds, self.shallowest, self.deepest = kinds, shallowest, deepest
        opening, closing = zip(*self.KINDS[:kinds], strict=True)
        self.symbols = opening + closing  # so that an id modulo `kinds` is the bracket's kind
        self.classes = ("end", *closing)

    def has_length(self, T: int) -> bool:
        return T % 2 == 0 and T >= 2 * self.shallowest

    def depths(self, ids: Tensor) -> Tensor:
        """Return how many brackets are open after each symbol, (n, T)."""
        return torch.where(ids < self.kinds, 1, -1).cumsum(dim=1)

    def answer(self, ids: Tensor) -> Tensor:
        return self._read(ids)[0]

    def begins_word(self, ids: Tensor) -> Tensor:
        return self._read(ids)[1]

    def _read(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Return the answers (n, T), and whether all brackets closed what was open (n,)."""
        rows, depth = torch.arange(len(ids)), torch.zeros(len(ids), dtype=torch.long)
        stack = torch.zeros(len(ids), ids.shape[1] + 1, dtype=torch.long)  # 0 stands for "end"
        answers, good = [], torch.ones(len(ids), dtype=torch.bool)
        for id_t in ids.unbind(dim=1):
            opens, kind = id_t < self.kinds, id_t % self.kinds + 1
            good = good & (opens | (stack[rows, depth] == kind))
            depth = (depth + torch.where(opens, 1, -1)).clamp(min=0)
            stack[rows[opens], depth[opens]] = kind[opens]
            answers.append(stack[rows, depth])
        return torch.stack(answers, dim=1), good

    def sample(self, lengths: Tensor, generator: torch.Generator) -> Tensor:
        n, T = len(lengths), int(lengths.max())
        chances = chances_to_open(T, self.shallowest, self.deepest)
        kinds = torch.randint(self.kinds, (n, T), generator=generator)
        draws = torch.rand(n, T, generator=generator, dtype=torch.float64)
        depth, deep = torch.zeros(2, n, dtype=torch.long)
        ids = torch.zeros(n, T, dtype=torch.long)
        stack, rows = torch.zeros(n, self.deepest + 2, dtype=torch.long), torch.arange(n)
        for t in range(T):
            opens = draws[:, t] < chances[(lengths - t).clamp(min=0), depth, deep]
            ids[:, t] = torch.where(opens, kinds[:, t], self.kinds + stack[rows, depth])
            depth = (depth + torch.where(opens, 1, -1)).clamp(min=0)  # 0 after a word's end
            stack[rows[opens], depth[opens]] = kinds[opens, t]
            deep = deep | (depth >= self.shallowest).long()
        return ids


@cache
def chances_to_open(T: int, shallowest: int, deepest: int) -> Tensor:
    """Return how likely a bracket is opened, if all words are equally likely.

    Shapes: (T + 1, deepest + 1, 2), by the symbols that remain, the depth, and whether the word
    has been as deep as it has to be. It counts the ways to the end in whole numbers.
    """
    ways = [[[0, 1] if depth == 0 else [0, 0] for depth in range(deepest + 1)]]
    chances = torch.zeros(T + 1, deepest + 1, 2, dtype=torch.float64)
    for left in range(1, T + 1):
        before, now = ways[-1], []
        for depth in range(deepest + 1):
            each = []
            for deep in (0, 1):
                further = 0
                if depth < deepest:
                    further = before[depth + 1][int(deep or depth + 1 >= shallowest)]
                each.append(further + (before[depth - 1][deep] if depth else 0))
                if each[-1]:
                    chances[left, depth, deep] = further / each[-1]
            now.append(each)
        ways.append(now)
    return chances
