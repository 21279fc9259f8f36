"""Addition as a text: a small GPT writes the sum, digit by digit, behind two numbers.

Shapes: a sum of numbers with n digits is ids (B, 3n + 3): n digits, "+", n digits, "=", and the
n + 1 digits of the answer. What a model reads is all but the last.
"""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.arguments import check_sizes
from utils.tasks.letters import optimiser_of
from utils.training.loop import fit
from utils.transformer import DecoderOnly, TransformerConfig

SYMBOLS = "0123456789+="
DIGITS = 3
B, STEPS, RATE = 64, 300, 0.05
Pairs = tuple[Tensor, Tensor]  # two numbers of each sum, (n,) and (n,)

# The task -----------------------------------------------------------------------------------------


def digits_of(numbers: Tensor, n: int, units_first: bool) -> Tensor:
    """The last n digits of whole numbers. Shapes: (B,) to (B, n)."""
    found = numbers[:, None] // 10 ** torch.arange(n) % 10
    return found if units_first else found.flip(1)


def written(pairs: Pairs, units_first: bool, digits: int = DIGITS) -> Tensor:
    """Each sum as ids of SYMBOLS, in which zeros fill a short number up: (B, 3 · digits + 3).

    units_first: all three numbers are written from their units on, as one adds by hand.
    Raises: ValueError if a number is below 0 or has more digits.
    """
    check_sizes(digits=digits)
    a, b = pairs
    if min(a.min(), b.min()) < 0 or max(a.max(), b.max()) >= 10**digits:
        raise ValueError(f"The numbers have to be 0 to {10**digits - 1}, for {digits} digits.")
    plus, equals = (torch.full((len(a), 1), SYMBOLS.index(sign)) for sign in "+=")
    a, b, total = (
        digits_of(number, n, units_first)
        for number, n in ((a, digits), (b, digits), (a + b, digits + 1))
    )
    return torch.cat([a, plus, b, equals, total], dim=1)


def drawn(n: int, seed: int, digits: int = DIGITS, without: Pairs | None = None) -> Pairs:
    """Draw n pairs of numbers below 10^digits, none of them as in `without`, in either order."""
    generator = torch.Generator().manual_seed(seed)
    taken = torch.tensor([], dtype=torch.long) if without is None else _keys(without, digits)
    kept: list[Tensor] = []
    while sum(map(len, kept)) < n:
        pairs = torch.randint(10**digits, (n, 2), generator=generator)
        kept.append(pairs[~torch.isin(_keys(pairs.T, digits), taken)])
    a, b = torch.cat(kept)[:n].T
    return a, b


def _keys(pairs: Pairs | Tensor, digits: int) -> Tensor:
    """A number for each pair, the same for both of its orders."""
    a, b = pairs
    return torch.minimum(a, b) * 10**digits + torch.maximum(a, b)


# The model ----------------------------------------------------------------------------------------


def adder(seed: int, d_model: int = 64) -> DecoderOnly:
    """Two of Day 9's blocks with four heads that read and write sums of any length."""
    torch.manual_seed(seed)
    sizes = {"d_model": d_model, "n_heads": 4, "d_ff": 4 * d_model, "n_layers": 2, "dropout": 0.0}
    how = {"norm": "pre", "activation": "gelu", "positions": "rotary"}
    return DecoderOnly(TransformerConfig(len(SYMBOLS), **sizes, **how))


def answer_loss(outputs: tuple[Tensor, ...], ids: Tensor) -> Tensor:
    """Mean surprise of the answer's digits; what stands before them can't be known.

    Shapes: logits (B, T - 1, V) about what follows each of ids (B, T) but the last.
    """
    n = ids.shape[1] // 3  # digits of the answer
    return F.cross_entropy(outputs[0][:, -n:].flatten(0, 1), ids[:, -n:].flatten())


def train_adder(
    model: DecoderOnly,
    steps: int = STEPS,
    rate: float = RATE,
    seed: int = 0,
    *,
    units_first: bool = True,
    every: int = 100,
    without: Pairs | None = None,
) -> Iterator[int]:
    """Train on new sums at each step; stop after each so many of them.

    Muon for the matrices at this rate, AdamW for the rest at a quarter of it (`optimiser_of`).
    without: pairs that are never shown, in either order.
    """
    optimiser, schedule = optimiser_of(model, steps, rate / 4, matrix_rate=rate)
    ids = written(drawn(steps * B, seed, without=without), units_first)
    batches = [(rows[:, :-1], rows) for rows in ids.split(B)]
    for done in range(every, steps + 1, every):
        part = batches[done - every : done]
        fit(model, part, answer_loss, optimiser, epochs=1, schedule=schedule)
        yield done


@torch.no_grad()
def answered(
    model: DecoderOnly, pairs: Pairs, units_first: bool, digits: int = DIGITS
) -> tuple[Tensor, Tensor]:
    """Which digits of each answer are the likeliest, and how surprising the true ones are, in nats.

    All digits are asked at once, each behind the true ones before it.
    Shapes: pairs (n,) to truth values (n, digits + 1) and surprises (n, digits + 1).
    """
    ids = written(pairs, units_first, digits)
    logits, _ = model(ids[:, :-1])
    logits, true = logits[:, -digits - 1 :], ids[:, -digits - 1 :]
    nats = F.cross_entropy(logits.flatten(0, 1), true.flatten(), reduction="none")
    return logits.argmax(dim=-1) == true, nats.view(true.shape)


def share_right(model: DecoderOnly, pairs: Pairs, units_first: bool, digits: int = DIGITS) -> float:
    """How many answers the model writes without a mistake, each digit being the likeliest.

    As long as it is right, it reads what it wrote: so all digits can be asked at once, as
    `answered` does.
    """
    correct, _ = answered(model, pairs, units_first, digits)
    return correct.all(dim=1).double().mean().item()


@torch.no_grad()
def add(model: DecoderOnly, a: int, b: int, units_first: bool = True) -> int | None:
    """The number that the model writes behind "a+b=", digit by digit; None if it is none.

    Raises: ValueError if a number is below 0 or has more than DIGITS digits.
    """
    ids = written((torch.tensor([a]), torch.tensor([b])), units_first)[:, : -DIGITS - 1]
    for _ in range(DIGITS + 1):
        logits, _ = model(ids)
        ids = torch.cat([ids, logits[:, -1:].argmax(dim=-1)], dim=1)
    said = "".join(SYMBOLS[number] for number in ids[0, -DIGITS - 1 :].tolist())
    return int(said[::-1] if units_first else said) if said.isdigit() else None
