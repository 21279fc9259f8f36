"""Days 9 and 15: GPTs of several sizes read one long text, each at a rate that suits its size.

Shapes: ids (n,) of a text, surprises (n - 1,) of all its tokens but the first; batches are pairs of
ids (B, T) and of what follows each.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from utils.arguments import check_sizes
from utils.tasks.letters import optimiser_of, pieces
from utils.tasks.rivals import LogitsAlone, asked_about, gpt
from utils.tasks.writing import Writing
from utils.training.loop import fit
from utils.training.metrics import surprises
from utils.training.recipes import tag_loss
from utils.training.tuning import losses_by_rate

WINDOW, BATCH = 128, 16  # tokens in a piece, pieces in a step
PASSES = 2
TRIED = 10  # a rate is tried on a schedule of a tenth
RATES = (1e-2, 2e-2, 4e-2)  # of Muon; AdamW, for the table and the norms, has a quarter


Batches = list[tuple[Tensor, Tensor]]


class Size(NamedTuple):
    """How wide and how deep a GPT is, and the seeds with which it is trained."""

    d_model: int
    n_layers: int
    n_heads: int
    seeds: tuple[int, ...]


SIZES = {  # weights, with 1,028 tokens
    "58 thousand": Size(32, 2, 2, (0, 1, 2)),
    "166 thousand": Size(64, 2, 4, (0,)),
    "434 thousand": Size(96, 3, 4, (0,)),
    "1.4 million": Size(160, 4, 5, (0,)),
}


def steps_of(task: Writing, share: float = 1.0) -> int:
    """How many steps read as many tokens as `PASSES` have, or a share of them; at least one."""
    return max(1, round(share * PASSES * len(task.ids["train"]) / (WINDOW * BATCH)))


def train(size: Size, task: Writing, rate: float, seed: int, steps: int) -> LogitsAlone:
    """Train a GPT on pieces from random places of the training text, with Muon and AdamW."""
    batches = pieces(task.ids["train"], steps, BATCH, WINDOW, seed)
    return train_on(batches, size, len(task.tokens), rate, seed)


def train_on(batches: Batches, size: Size, vocab_size: int, rate: float, seed: int) -> LogitsAlone:
    """Train a new GPT once on each of some batches."""
    torch.manual_seed(seed)
    model = gpt(vocab_size, size.d_model, size.n_layers, size.n_heads)
    optimiser, schedule = optimiser_of(model.model, len(batches), rate / 4, matrix_rate=rate)
    fit(model, batches, tag_loss, optimiser, epochs=1, schedule=schedule)
    return model.eval()


def judged(model: LogitsAlone, task: Writing, part: str) -> Tensor:
    """`surprises` of a part of the text, in windows as long as the pieces of training."""
    return surprises(model, task.ids[part], WINDOW)


def bits(task: Writing, part: str, nats: Tensor) -> float:
    """Bits for each byte of a part of the text."""
    return asked_about(task, part).per_byte(nats)


def best_rate(
    size: Size, task: Writing, rates: Sequence[float] = RATES
) -> tuple[float, list[float]]:
    """The rate after whose short schedule the validation text needs fewest bits, and all bits."""
    steps, found = steps_of(task, 1 / TRIED), []
    for rate in rates:
        model = train(size, task, rate, size.seeds[0], steps)
        found.append(bits(task, "validation", judged(model, task, "validation")))
    return rates[found.index(min(found))], found


# Day 15: more sizes, and tokens that are new or come again ----------------------------------------

LADDER = {  # weights, with 1,028 tokens; the last is the step that is predicted before it is run
    "9 thousand": Size(8, 1, 1, (0,)),
    "20 thousand": Size(16, 1, 2, (0,)),
    "39 thousand": Size(24, 2, 2, (0,)),
    "81 thousand": Size(40, 2, 4, (0,)),
    **{name: SIZES[name] for name in ("166 thousand", "434 thousand", "1.4 million")},
    "3 million": Size(216, 5, 6, (0,)),
}
BETWEEN = {  # more sizes, for curves of equal operations
    "14 thousand": Size(12, 1, 1, (0,)),
    "58 thousand": SIZES["58 thousand"],
    "106 thousand": Size(48, 2, 4, (0,)),
    "237 thousand": Size(80, 2, 4, (0,)),
    "725 thousand": Size(128, 3, 4, (0,)),
}
START = 0.1  # the rate of Muon with which the search for the best begins
CHOOSING = 40_000  # tokens of the validation text that choose a rate


def n_pieces(tokens: Tensor) -> int:
    """Into how many pieces of `WINDOW` tokens a text (n,) is cut, each followed by a token."""
    return (len(tokens) - 1) // WINDOW


def in_passes(text: Tensor, unique: int, passes: int, seed: int) -> Batches:
    """Read some of a text's pieces, each once a pass, in a new order at each pass.

    Which pieces depends on nothing but their number, and fewer are some of more. They come from all
    of the text, as a text's beginning may differ from its end. A last batch that isn't full is left
    out.
    unique: pieces of `WINDOW` tokens.
    Raises: ValueError if a number is below 1, the text has fewer pieces, or all together don't fill
        a batch.
    """
    check_sizes(unique=unique, passes=passes)
    if unique > n_pieces(text):
        raise ValueError(f"The text has {n_pieces(text)} pieces, not {unique}: read them again.")
    rows = text[: n_pieces(text) * WINDOW + 1].unfold(0, WINDOW + 1, WINDOW)
    chosen = torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))[:unique]
    generator = torch.Generator().manual_seed(seed)
    orders = [chosen[torch.randperm(unique, generator=generator)] for _ in range(passes)]
    full = unique * passes // BATCH * BATCH
    if full == 0:
        raise ValueError(f"{unique * passes} pieces don't fill a batch of {BATCH}.")
    order = torch.cat(orders)[:full].view(-1, BATCH)
    return [(rows[at, :-1], rows[at, 1:]) for at in order]


def nats(model: LogitsAlone, text: Tensor) -> float:
    """Mean surprise of a text's tokens but the first, in nats: the loss L of the laws."""
    return surprises(model, text, WINDOW).double().mean().item()


class Tried(NamedTuple):
    """A training at a rate that is better than its half and its double."""

    model: LogitsAlone
    rate: float
    by_rate: dict[float, float]  # nats on the beginning of the validation text


def at_best_rate(
    size: Size, task: Writing, batches: Batches, seed: int = 0, start: float = START
) -> Tried:
    """Train on the same batches at a rate, its half and its double, and so on around the best.

    The validation text's beginning chooses, by `losses_by_rate`.
    """
    models = {}

    def loss_at(rate: float) -> float:
        models[rate] = train_on(batches, size, len(task.tokens), rate, seed)
        return nats(models[rate], task.ids["validation"][:CHOOSING])

    by_rate = losses_by_rate(loss_at, start)
    best = min(by_rate, key=by_rate.get)
    return Tried(models[best], best, dict(sorted(by_rate.items())))
