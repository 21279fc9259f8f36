"""A table to learn by heart: sequences whose answers follow no rule.

A random sequence of symbols has a random answer at each of its positions. Nothing but the table
tells it, so what is correct was stored, and there is nothing to learn for other sequences. Any
such table is a function from sequences to sequences, as in Yun et al. (2020).

Shapes: ids and answers (n, T).
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.arguments import check_sizes
from utils.training.loop import History
from utils.training.recipes import tag_loss, train_once
from utils.transformer import Tagger, TransformerConfig

SYMBOLS, T = 4, 8  # symbols, and as many answers; positions


class Table(NamedTuple):
    """Sequences, all different, and the answer at each position."""

    ids: Tensor
    answers: Tensor


def drawn(known: int, new: int, seed: int) -> tuple[Table, Table]:
    """Draw a table of `known` sequences, and another one of `new` sequences that are not in it.

    Raises: ValueError if a number is below 1, or there are not so many different sequences.
    """
    check_sizes(known=known, new=new)
    if known + new > SYMBOLS**T:
        raise ValueError(f"There are {SYMBOLS**T} different sequences, not {known + new}.")
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.randperm(SYMBOLS**T, generator=generator)[: known + new]
    ids = numbers[:, None] // SYMBOLS ** torch.arange(T) % SYMBOLS
    answers = torch.randint(SYMBOLS, ids.shape, generator=generator)
    return Table(ids[:known], answers[:known]), Table(ids[known:], answers[known:])


def reader(width: int, n_blocks: int, seed: int) -> Tagger:
    """Return blocks of Day 6 that look in both directions, with positions that are learned."""
    torch.manual_seed(seed)
    sizes = {"d_model": width, "n_heads": 2, "d_ff": 2 * width, "n_layers": n_blocks}
    how = {"norm": "pre", "positions": "learned", "max_len": T, "dropout": 0.0}
    return Tagger(TransformerConfig(SYMBOLS, **sizes, **how), SYMBOLS)


def learn(model: Tagger, table: Table, *, steps: int, rate: float, seed: int) -> History:
    """Show the whole table at each step; leave the model in evaluation mode."""
    history = train_once(model, tag_loss, [table] * steps, learning_rate=rate, seed=seed)
    model.eval()
    return history


class Kept(NamedTuple):
    """How much of a table a model knows."""

    answers: float  # share that is correct
    rows: float  # share of the sequences without a wrong answer
    bits: float  # that the model saves whoever has to write the answers down


@torch.no_grad()
def kept(model: Tagger, table: Table) -> Kept:
    """Compare a model's answers with a table's.

    An answer costs 2 bits by itself, and its surprise where the model is known.
    """
    logits = model(table.ids)
    correct = logits.argmax(dim=-1) == table.answers
    nats = F.cross_entropy(logits.flatten(0, 1), table.answers.flatten(), reduction="sum").item()
    return Kept(
        correct.double().mean().item(),
        correct.all(dim=1).double().mean().item(),
        correct.numel() * math.log2(SYMBOLS) - nats / math.log(2),
    )
