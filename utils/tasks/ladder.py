"""Day 9: GPTs of several sizes read one long text, each at a rate that suits its size.

Shapes: ids (n,) of a text, surprises (n - 1,) of all its tokens but the first.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from utils.tasks.letters import optimiser_of, pieces
from utils.tasks.rivals import LogitsAlone, asked_about, gpt
from utils.tasks.writing import Writing
from utils.training.loop import fit
from utils.training.metrics import surprises
from utils.training.recipes import tag_loss

WINDOW, BATCH = 128, 16  # tokens in a piece, pieces in a step
PASSES = 2
TRIED = 10  # a rate is tried on a schedule of a tenth
RATES = (1e-2, 2e-2, 4e-2)  # of Muon; AdamW, for the table and the norms, has a quarter


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
    torch.manual_seed(seed)
    model = gpt(len(task.tokens), size.d_model, size.n_layers, size.n_heads)
    optimiser, schedule = optimiser_of(model.model, steps, rate / 4, matrix_rate=rate)
    batches = pieces(task.ids["train"], steps, BATCH, WINDOW, seed)
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
