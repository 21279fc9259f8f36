"""Day 7's text: a library's documentation, which a small Transformer learns to continue."""

import math
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
