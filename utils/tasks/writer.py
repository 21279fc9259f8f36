"""Day 7's text: a library's documentation, which a small Transformer learns to continue."""

import math
from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor, nn

from utils.data.docstrings import docstring_text
from utils.data.text import UNK, Vocabulary
from utils.training.loop import History
from utils.training.recipes import tag_loss, train_once
from utils.training.sampling import sample

LENGTHS = (128, 128, 128, 512)  # of the pieces, in turn; far positions are seen in some steps only
PER_STEP = 2048  # characters
STEPS = 240
RATE = 1e-2
Following = Callable[[list[int]], Tensor]  # ids of a text to logits (V,) of what follows
SIGNS = UNK + 1  # <pad>, <bos>, <eos> and <unk> are the first ids


@cache
def vocabulary() -> Vocabulary:
    """The characters of the training text."""
    return Vocabulary(docstring_text("train"))


@cache
def ids(part: str) -> Tensor:
    """A part of the text as ids (n,): "train", "validation" or "test"."""
    return torch.tensor(vocabulary().encode(docstring_text(part)))


def pieces(steps: int, seed: int) -> list[tuple[Tensor, Tensor]]:
    """Batches (B, T) from random places of the training text, and the characters that follow."""
    generator = torch.Generator().manual_seed(seed)
    text, batches = ids("train"), []
    for step in range(steps):
        T = LENGTHS[step % len(LENGTHS)]
        starts = torch.randint(len(text) - T, (PER_STEP // T, 1), generator=generator)
        piece = text[starts + torch.arange(T + 1)]
        batches.append((piece[:, :-1], piece[:, 1:]))
    return batches


def train_writer(model: nn.Module, seed: int = 0) -> History:
    """Train a model of ids (B, T) to logits (B, T, V) to say the next character of each."""
    return train_once(model, tag_loss, pieces(STEPS, seed), learning_rate=RATE, seed=seed)


@torch.no_grad()
def perplexity(model: nn.Module, T: int = 512) -> float:
    """Of the validation text, in pieces of T characters."""
    text = ids("validation")
    rows = text[: len(text) // (T + 1) * (T + 1)].view(-1, T + 1)
    return math.exp(tag_loss(model(rows[:, :-1]), rows[:, 1:]).item())


def drawn(logits: Tensor, generator: torch.Generator, tau: float = 0.5) -> int:
    """Draw a character's id from softmax(logits / tau), without signs as <unk>. Shape: (V,)."""
    return sample(logits[SIGNS:] / tau, generator).item() + SIGNS


# What is asked of a writer ------------------------------------------------------------------------


def next_letter(following: Following, T: int) -> Callable[[], Tensor]:
    """Let `following` read T - 1 letters; return what asks it for the one behind the T-th."""
    text = ids("validation")[:T].tolist()

    @torch.no_grad()
    def asked() -> Tensor:
        return following(text)

    with torch.no_grad():
        following(text[:-1])
    return asked


@torch.no_grad()
def off_by_steps(
    model: nn.Module, remember: Callable[[nn.Module], Following], n: int = 60
) -> float:
    """How far logits found letter by letter are from those of n letters at once, at most.

    The model is asked in double precision, and what is made on the way is in it, too.
    """
    text, before = ids("test")[:n], torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        whole, following = model.double()(text[None])[0], remember(model)
        steps = torch.stack([following(text[: t + 1].tolist()) for t in range(n)])
    finally:
        torch.set_default_dtype(before)
        model.float()
    return (steps - whole).abs().max().item()


@torch.no_grad()
def weight_within(model: nn.Module, T: int = 256, asked: int = 64) -> Tensor:
    """Share of attention's weight within 0, 1, … T - 1 letters back, by block: (L, T).

    Means over heads, 32 pieces of the validation text, and the last queries of each. model: takes
    `looks`, functions of q, k, v for its blocks, as the lesson's writer does.
    """
    found = []
    past = torch.ones(T, T, dtype=torch.bool).tril()

    def look(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = q @ k.mT / math.sqrt(q.shape[3])
        weights = scores.masked_fill(~past, -math.inf).softmax(dim=-1)
        back = [weights[:, :, t].roll(T - 1 - t, -1).flip(-1) for t in range(T - asked, T)]
        found.append(torch.stack(back).mean(dim=(0, 1, 2)).cumsum(0))
        return weights @ v

    model(ids("validation")[: 32 * T].view(32, T), looks=[look] * len(model.blocks))
    return torch.stack(found)
