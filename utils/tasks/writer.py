"""Day 7's writer: a small Transformer that continues a library's documentation.

Shapes: ids (B, T) are characters, logits (B, T, V) are about the character that follows each.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
import torch
from torch import Tensor, nn

from utils.data.docstrings import LIBRARY, docstring_text
from utils.data.prose import long_prose
from utils.data.sources import other_version
from utils.data.text import UNK, Vocabulary
from utils.positions import Rotary
from utils.self_attention import merge_heads, split_heads
from utils.show.views import models
from utils.training.loop import History
from utils.training.recipes import tag_loss, train_once
from utils.training.sampling import sample

# The model ----------------------------------------------------------------------------------------

Attend = Callable[[Tensor, Tensor, Tensor], Tensor]  # query, key, value (B, h, T, d) to contexts


class Block(nn.Module):
    """Attention and a feed-forward layer, each added to the stream: x (B, T, D) to the same."""

    def __init__(self, D: int, h: int, F: int):
        super().__init__()
        self.h, self.turn = h, Rotary(D // h)
        self.W_in, self.W_o = nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D, bias=False)
        self.feed_forward = nn.Sequential(nn.Linear(D, F), nn.ReLU(), nn.Linear(F, D))
        self.norms = nn.ModuleList([nn.LayerNorm(D), nn.LayerNorm(D)])

    def forward(self, x: Tensor, attend: Attend, start: int) -> Tensor:
        q, k, v = (split_heads(y, self.h) for y in self.W_in(self.norms[0](x)).chunk(3, dim=-1))
        context = attend(self.turn(q, start), self.turn(k, start), v)
        x = x + self.W_o(merge_heads(context))
        return x + self.feed_forward(self.norms[1](x))


class Writer(nn.Module):
    """Ids (B, T), the first at position `start`, to logits (B, T, V).

    attend: what all blocks attend with, or a list with a function for each block.
    """

    def __init__(self, attend: Attend | Sequence[Attend], D=96, h=4, F=384, L=4):
        super().__init__()
        V = len(vocabulary())
        self.attend, self.characters = attend, nn.Embedding(V, D)
        self.blocks = nn.ModuleList(Block(D, h, F) for _ in range(L))
        self.norm, self.output = nn.LayerNorm(D), nn.Linear(D, V)
        nn.init.normal_(self.characters.weight, std=0.02)  # small, as GPT-2's

    def forward(self, ids: Tensor, start: int = 0, attend=None) -> Tensor:
        x, attend = self.characters(ids), attend or self.attend
        for i, block in enumerate(self.blocks):
            x = block(x, attend[i] if isinstance(attend, list) else attend, start)
        return self.output(self.norm(x))


@torch.no_grad()
def take_weights(model: nn.Module, weights: Mapping[str, tuple[np.ndarray, ...]]) -> None:
    """Give a model the weights that were stored of one, and leave it in evaluation mode.

    weights: {name: (whole numbers (n, d_in), scales (n, 1))} of matrices, {name: (numbers,)} of
        vectors, as `utils.tasks.rounded.in_int8` makes them.
    Raises: ValueError if names or shapes are not those of the model.
    """
    held = dict(model.named_parameters())
    shapes = {name: parts[0].shape for name, parts in weights.items()}
    if {name: tuple(weight.shape) for name, weight in held.items()} != shapes:
        raise ValueError("The stored weights are those of another model: names or shapes differ.")
    for name, parts in weights.items():
        first, *scale = (torch.from_numpy(part.copy()).float() for part in parts)
        held[name].copy_(first * scale[0] if scale else first)
    model.eval()


# The text -----------------------------------------------------------------------------------------

LENGTHS = (128, 128, 128, 512)  # of the pieces, in turn; far positions are seen in some steps only
PER_STEP = 2048  # characters
RATE = 1e-2
ADAPT_RATE = 2e-3
Following = Callable[[list[int]], Tensor]  # ids of a text to logits (V,) of what follows
SIGNS = UNK + 1  # <pad>, <bos>, <eos> and <unk> are the first ids


@cache
def vocabulary() -> Vocabulary:
    """The characters of the training text; with another version of it, those of a stored writer."""
    if other_version(LIBRARY):
        return Vocabulary(models.load("documentation").header["characters"])
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


@cache
def long_ids() -> Tensor:
    """The text of seven libraries as ids (n,); its first part is that of `ids("train")`."""
    return torch.tensor(vocabulary().encode(long_prose()))


def batches_of(text: Tensor, steps: int, per_step: int, seed: int) -> list[tuple[Tensor, Tensor]]:
    """Batches (B, T) from random places of a text (n,), T being 256, in every fourth step 512."""
    generator = torch.Generator().manual_seed(seed)
    batches = []
    for step in range(steps):
        T = 512 if step % 4 == 3 else 256
        starts = torch.randint(len(text) - T, (per_step // T, 1), generator=generator)
        piece = text[starts + torch.arange(T + 1)]
        batches.append((piece[:, :-1], piece[:, 1:]))
    return batches


def train_well(
    model: Writer, steps: int, per_step: int, learning_rate: float, seed: int
) -> History:
    """Train a new writer on the long text, and leave it in evaluation mode."""
    batches = batches_of(long_ids(), steps, per_step, seed)
    history = train_once(model, tag_loss, batches, learning_rate=learning_rate, seed=seed)
    model.eval()
    return history


def adapt(model: Writer, steps: int = 40, per_step: int = 2048, seed: int = 0) -> History:
    """Train a trained writer a little longer on the long text, at a low rate."""
    batches = batches_of(long_ids(), steps, per_step, seed)
    return train_once(model, tag_loss, batches, learning_rate=ADAPT_RATE, seed=seed)


@torch.no_grad()
def perplexity(model: nn.Module, T: int = 512, n_pieces: int | None = None) -> float:
    """Of the validation text, in pieces of T characters, or of the first few of these."""
    text = ids("validation")
    rows = text[: len(text) // (T + 1) * (T + 1)].view(-1, T + 1)[:n_pieces]
    return math.exp(tag_loss(model(rows[:, :-1]), rows[:, 1:]).item())


def drawn(logits: Tensor, generator: torch.Generator, tau: float = 0.5) -> int:
    """Draw a character's id from softmax(logits / tau), never a sign as <unk>. Shape: (V,)."""
    return sample(logits[SIGNS:] / tau, generator).item() + SIGNS


# What is asked of a writer ------------------------------------------------------------------------


def next_letter(following: Following, T: int) -> Callable[[], Tensor]:
    """Let `following` read T - 1 characters; return a function that asks it for the (T + 1)-th."""
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
    """The largest difference of logits found step by step from those of n characters at once.

    The model is asked in double precision, and what is computed on the way is in it, too.
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
def weights_of(model: Writer, rows: Tensor) -> list[Tensor]:
    """Each block's attention weights (B, h, T, T) on pieces of text (B, T), with all pairs."""
    found = []
    past = torch.ones(rows.shape[1], rows.shape[1], dtype=torch.bool).tril()

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = q @ k.mT / math.sqrt(q.shape[3])
        found.append(scores.masked_fill(~past, -math.inf).softmax(dim=-1))
        return found[-1] @ v

    model(rows, attend=attend)
    return found


def validation_rows(n: int, T: int) -> Tensor:
    """The first n pieces (n, T) of the validation text."""
    return ids("validation")[: n * T].view(n, T)


def weight_within(weights: list[Tensor], asked: int = 64) -> Tensor:
    """Share of attention's weight within 0, 1, … T - 1 characters back, by block: (L, T).

    Means over pieces, heads and the last `asked` queries of each.
    """
    T = weights[0].shape[-1]
    rows = []
    for block in weights:
        back = [block[:, :, t].roll(T - 1 - t, -1).flip(-1) for t in range(T - asked, T)]
        rows.append(torch.stack(back).mean(dim=(0, 1, 2)).cumsum(0))
    return torch.stack(rows)


def idle(weights: list[Tensor]) -> float:
    """Share of the attention that the less important half of a query's pairs gets, the mean."""
    t = torch.arange(weights[0].shape[-1])
    half = t >= (t[:, None] + 2) // 2  # of t + 1 pairs, in the order of their weights
    shares = [(block.sort(descending=True).values * half).sum(-1).mean() for block in weights]
    return torch.stack(shares).mean().item()
