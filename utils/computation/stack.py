"""Day 15: a stack in one number, and a network that reads brackets with it.

A stack of bits is q = Σ (2 b_i + 1) / 4^i, with i = 1 at the top (Siegelmann & Sontag, 1995). With
a 0 on top, q is from 1/4 to 1/2, with a 1 from 3/4 on; nothing lies between, so a function without
a jump tells them apart. Each bit of the stack takes two binary digits of q.

Shapes: ids (B, T), q (B,). All functions of q take exact fractions too.
"""

from fractions import Fraction

import torch
from torch import Tensor, nn

from utils.arguments import check_sizes
from utils.computation.transducers import check_word

Number = Tensor | Fraction


def saturated(x: Number) -> Number:
    """Return x from 0 to 1, 0 below and 1 above: the activation there."""
    return x.clamp(0, 1) if isinstance(x, Tensor) else min(max(x, 0), 1)


def push(q: Number, bit: Number | int) -> Number:
    """Return the stack with one more bit on top.

    Raises: ValueError if the bit is not 0 or 1.
    """
    if not (((bit == 0) | (bit == 1)).all() if isinstance(bit, Tensor) else bit in (0, 1)):
        raise ValueError(f"A bit is 0 or 1, got {bit}.")
    return (q + 2 * bit + 1) / 4


def top(q: Number) -> Number:
    """Return the bit on top; of an empty stack, 0."""
    return saturated(4 * q - 2)


def holds(q: Number) -> Number:
    """Return 1 if there is a bit in the stack, 0 if it is empty."""
    return saturated(4 * q)


def pop(q: Number) -> Number:
    """Return the stack without the bit on top; an empty one stays empty."""
    return saturated(4 * q - 2 * top(q) - 1)


class StackMachine(nn.Module):
    """Read brackets of two kinds, ( [ ) ], with a stack in one unit: Dyck-2.

    A step makes the pushed and the popped stack; of the two, what the symbol does not ask for is
    pushed below 0, where the activation is 0. Weights are 1, 2 and 4: there is nothing to learn.
    Symbols and answers are those of `data.formal.Dyck` with two kinds.

    dtype: the numbers that hold the stack.
    noise: at each step a number from -noise to noise is added to q.
    Shapes: ids (B, T) to logits (B, T, 3).
    Raises: ValueError if ids are not whole numbers from 0 to 3, a word is empty, or the noise is
        not from 0 to below 1.
    """

    def __init__(self, dtype: torch.dtype = torch.float32, noise: float = 0.0):
        super().__init__()
        if not 0 <= noise < 1:
            raise ValueError(f"noise is from 0 to below 1, got {noise}.")
        self.dtype, self.noise = dtype, noise

    def forward(self, ids: Tensor, generator: torch.Generator | None = None) -> Tensor:
        check_word(ids, 4)
        opens, bits = (ids < 2).to(self.dtype), (ids % 2).to(self.dtype)
        q, states = torch.zeros(len(ids), dtype=self.dtype), []
        for opens_t, bit_t in zip(opens.unbind(dim=1), bits.unbind(dim=1), strict=True):
            pushed = saturated(push(q, bit_t) - (1 - opens_t))
            popped = saturated(4 * q - 2 * top(q) - 1 - opens_t)
            q = pushed + popped
            if self.noise:
                moved = torch.rand(len(q), generator=generator, dtype=torch.float64)
                q = saturated(q + (self.noise * (2 * moved - 1)).to(q))
            states.append(q)
        q = torch.stack(states, dim=1)  # (B, T)
        return torch.stack([1 - holds(q), holds(q) - top(q), top(q)], dim=-1)


@torch.no_grad()
def read_back(machine: StackMachine, depth: int, n: int = 200, seed: int = 0) -> float:
    """Return the share of n random stacks of a depth that are popped without a wrong answer.

    The machine reads `depth` opening brackets and their closing ones, and has to say before each
    closing bracket which one it is, and then that the word ends.
    Raises: ValueError if depth or n is below 1.
    """
    check_sizes(depth=depth, n=n)
    generator = torch.Generator().manual_seed(seed)
    kinds = torch.randint(2, (n, depth), generator=generator)
    ids = torch.cat([kinds, kinds.flip(1) + 2], dim=1)
    wanted = torch.cat([kinds + 1, kinds[:, :-1].flip(1) + 1, torch.zeros(n, 1).long()], dim=1)
    return (machine(ids, generator).argmax(dim=-1) == wanted).all(dim=1).double().mean().item()


def deepest_stack(machine: StackMachine, most: int = 100) -> int:
    """Return the depth, up to `most`, to which all stacks of `read_back` are read correctly."""
    return next((depth - 1 for depth in range(1, most + 1) if read_back(machine, depth) < 1), most)
