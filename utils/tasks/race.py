"""Day 9's race: the least time to a loss of 1.88 on Shakespeare's next letter.

The baseline is nanoGPT's setting for a laptop (Karpathy, 2022). Shapes: ids (B, T) are characters.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.data.corpora import tiny_shakespeare
from utils.data.text import Vocabulary
from utils.language import GatedFeedForward, UnscaledEmbedding
from utils.positions import Alibi
from utils.self_attention import BiasedAttention, MultiHeadAttention
from utils.self_attention.multi_head import Cache
from utils.training.loop import fit
from utils.training.metrics import surprises
from utils.training.optimisers import MuonAndAdamW, decayed, hidden_matrices
from utils.training.recipes import clip_gradients, tag_loss
from utils.transformer import DecoderOnly, FeedForward, Parts, ScaledEmbedding, TransformerConfig

GOAL = 1.88  # nats a letter, over the whole validation text
WINDOW = 64  # letters; what a model may look at where it is judged
MOST = 850_000  # parameters
CHECKS = [0.1, 0.2, 0.3, 0.4, 0.5, *(k / 40 for k in range(22, 41))]  # of the schedule


@cache
def vocabulary() -> Vocabulary:
    """The letters and signs of the training text."""
    return Vocabulary(tiny_shakespeare("train"))


@cache
def ids(part: str) -> Tensor:
    """A part of the plays as ids (n,): "train", "validation" or "test", the last twentieth."""
    return torch.tensor(vocabulary().encode(tiny_shakespeare(part)))


def pieces(
    text: Tensor, steps: int, batch_size: int, length: int, seed: int
) -> list[tuple[Tensor, Tensor]]:
    """Batches (B, T) from random places of a text (n,), and the letters that follow."""
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(len(text) - length, (steps, batch_size, 1), generator=generator)
    return [(text[at + torch.arange(length)], text[at + torch.arange(1, length + 1)]) for at in starts]


# Token shift --------------------------------------------------------------------------------------


class TokenShift(nn.Module):
    """Let each position read the two before it, without a parameter (after Peng et al., 2023).

    The first quarter of the channels comes from two positions before, the second from one before,
    the others from the position itself; before the first position is 0. So what follows knows three
    letters in a row before anything was attended to.
    Shapes: x (B, T, D) to the same.
    """

    def forward(self, x: Tensor) -> Tensor:
        quarter = x.shape[2] // 4
        two, one, here = x.split([quarter, quarter, x.shape[2] - 2 * quarter], dim=2)
        return torch.cat([_later(two, 2), _later(one, 1), here], dim=2)


def _later(x: Tensor, steps: int) -> Tensor:
    return F.pad(x, (0, 0, steps, 0))[:, : x.shape[1]]


class ShiftedAttention(MultiHeadAttention):
    """Self-attention whose queries, keys and values read shifted tokens. All else is the same.

    Raises: ValueError if a cache holds something: the two tokens before are not in it.
    """

    def __init__(self, d_model: int, n_heads: int, **how: object):
        super().__init__(d_model, n_heads, **how)
        self.shift = TokenShift()

    def forward(
        self, x: Tensor, *memory: object, cache: Cache | None = None, **how: object
    ) -> tuple[Tensor, Tensor | None]:
        if cache is not None and cache.length:
            raise ValueError(
                "Shifted tokens can't go on from a cache, which has keys and values, but not the "
                "tokens before: give the model the whole text."
            )
        return super().forward(self.shift(x), *memory, cache=cache, **how)


class SteepAlibi(Alibi):
    """`Alibi` with eight times the slopes: the window has 64 letters, the paper's had 1,024."""

    def forward(self, T: int, S: int) -> Tensor:
        return 8 * super().forward(T, S)


# Who races ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Racer:
    """A model and how it is trained. The defaults are nanoGPT's for a laptop.

    alibi: biases on the scores instead of learned positions.
    shift: `TokenShift` before attention and the feed-forward layer.
    gated: SwiGLU instead of GELU.
    small: weights begin small, as GPT-2's, instead of as Day 6's, whose embedding is √D times its
        table.
    tied: output and embedding share a table.
    matrix_rate: Muon's rate for the hidden matrices; None leaves them to AdamW.
    rate: AdamW's. Both rise for a twentieth of the steps and fall to a tenth, along a cosine.
    """

    n_layers: int = 4
    d_model: int = 128
    d_ff: int = 512
    alibi: bool = False
    shift: bool = False
    gated: bool = False
    small: bool = True
    tied: bool = True
    matrix_rate: float | None = None
    momentum: float = 0.95
    rate: float = 1e-3
    batch_size: int = 12
    length: int = 64
    steps: int = 2500


BASELINE = Racer()
WINNER = Racer(
    n_layers=1,
    d_model=64,
    d_ff=172,
    alibi=True,
    shift=True,
    gated=True,
    small=False,
    tied=False,
    matrix_rate=0.08,
    momentum=0.9,
    rate=2e-2,
    steps=240,
)
CHANGES = {  # what each sets: alone in the baseline, and back again in the winner
    "Muon": ({"matrix_rate": 0.02}, {"matrix_rate": None}),
    "token shift": ({"shift": True}, {"shift": False}),
    "rate": ({"rate": 3e-3}, {"rate": 3e-3}),
    "one narrow layer": (
        {"n_layers": 1, "d_model": 64, "d_ff": 256},
        {"n_layers": 4, "d_model": 128, "d_ff": 344},
    ),
    "ALiBi": ({"alibi": True}, {"alibi": False}),
    "SwiGLU": ({"gated": True, "d_ff": 344}, {"gated": False, "d_ff": 256}),
    "untied": ({"tied": False, "small": False}, {"tied": True, "small": True}),
}


def alone(change: str, longer: float = 1.0) -> Racer:
    """The baseline with one change, or "nothing", on a schedule `longer` times the baseline's."""
    taken, _ = CHANGES.get(change, ({}, {}))
    return replace(BASELINE, **taken, steps=round(longer * BASELINE.steps))


def without(change: str, longer: float = 1.0) -> Racer:
    """The winner without one change, or "nothing", on a schedule `longer` times the winner's."""
    _, back = CHANGES.get(change, ({}, {}))
    return replace(WINNER, **back, steps=round(longer * WINNER.steps))


class NextLetter(DecoderOnly):
    """Ids (B, T) to logits (B, T, V) alone, in bfloat16 inside if that is asked for."""

    def __init__(self, config: TransformerConfig, parts: Parts, bfloat16: bool = False):
        super().__init__(config, parts)
        self.bfloat16 = bfloat16

    def forward(self, ids: Tensor) -> Tensor:
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=self.bfloat16):
            logits, _ = super().forward(ids)
        return logits.float()


def build(racer: Racer, vocab_size: int, seed: int, bfloat16: bool = False) -> NextLetter:
    """A racer's model with new weights, which begin as GPT-2's: small, and smaller the deeper.

    All have a deviation of 0.02, but what a sublayer adds to the stream 0.02 / √(2L) (Radford et
    al., 2019, §2.3). There are no biases.
    """
    torch.manual_seed(seed)
    attend = {"attend": BiasedAttention(SteepAlibi(4))} if racer.alibi else {}
    attention = ShiftedAttention if racer.shift else MultiHeadAttention

    def feed_forward(*sizes: object) -> nn.Module:
        layer = GatedFeedForward(*sizes[:2]) if racer.gated else FeedForward(*sizes, bias=False)
        return nn.Sequential(TokenShift(), layer) if racer.shift else layer

    config = TransformerConfig(
        vocab_size,
        d_model=racer.d_model,
        n_heads=4,
        d_ff=racer.d_ff,
        n_layers=racer.n_layers,
        activation="gelu",
        norm="pre",
        positions=None if racer.alibi else "learned",
        max_len=max(WINDOW, racer.length),
        dropout=0.0,
        tied=racer.tied,
    )
    parts = Parts(
        norm=partial(nn.LayerNorm, bias=False),
        feed_forward=feed_forward,
        attention=partial(attention, bias=False, **attend),
        embedding=UnscaledEmbedding if racer.small else ScaledEmbedding,
    )
    model = NextLetter(config, parts, bfloat16)
    if racer.small:
        for name, weight in model.named_parameters():
            adds = name.endswith(("W_o.weight", "W_2.weight", "W_down.weight"))
            if weight.dim() == 2:
                nn.init.normal_(weight, std=0.02 / math.sqrt(2 * racer.n_layers) if adds else 0.02)
    return model


def optimiser_of(
    model: NextLetter, racer: Racer
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LambdaLR]:
    """AdamW, or Muon and AdamW, gradients clipped to a norm of 1, and the schedule.

    Matrices and tables decay by a tenth of the rate, vectors don't.
    """
    matrices = hidden_matrices(model.stack.blocks) if racer.matrix_rate else []
    chosen = {id(weight) for weight in matrices}
    others = decayed((w for w in model.parameters() if id(w) not in chosen), 0.1)
    if racer.matrix_rate:
        optimiser = MuonAndAdamW(
            matrices,
            others,
            matrix_rate=racer.matrix_rate,
            rate=racer.rate,
            momentum=racer.momentum,
        )
    else:
        optimiser = torch.optim.AdamW(others, lr=racer.rate, betas=(0.9, 0.99), fused=True)
    clip_gradients(optimiser, 1.0)
    warmup = racer.steps / 20

    def factor(done: int) -> float:
        falling = max(0.0, (done - warmup) / (racer.steps - warmup))
        return min(1.0, (done + 1) / warmup) * (0.55 + 0.45 * math.cos(math.pi * falling))

    return optimiser, torch.optim.lr_scheduler.LambdaLR(optimiser, factor)


class Lap(NamedTuple):
    """How far a racer is: steps, seconds of training, and the loss on the validation text."""

    steps: int
    seconds: float
    loss: float


def laps(model: NextLetter, racer: Racer, text: Tensor, held_out: Tensor, seed: int) -> Iterator[Lap]:
    """Train a model and tell at `CHECKS` how far it is.

    Seconds are of processor time, of the steps alone: not of the batches' choice and the checks.
    """
    optimiser, schedule = optimiser_of(model, racer)
    batches = pieces(text, racer.steps, racer.batch_size, racer.length, seed)
    seconds = 0.0
    for begin, end in pairwise([0, *(round(share * racer.steps) for share in CHECKS)]):
        start = time.process_time()
        fit(model, batches[begin:end], tag_loss, optimiser, epochs=1, schedule=schedule)
        seconds += time.process_time() - start
        yield Lap(end, seconds, judged(model, held_out))


@torch.no_grad()
def judged(model: nn.Module, held_out: Tensor, window: int = WINDOW) -> float:
    """Loss on all of a text (n,) but its first letter, in nats a letter, window by window."""
    return surprises(model, held_out, window).double().mean().item()


def race(racer: Racer, seed: int, bfloat16: bool = False) -> tuple[NextLetter, list[Lap]]:
    """Let a racer run until it is there, or its schedule ends.

    Raises: ValueError if it has more than `MOST` parameters.
    """
    model = build(racer, len(vocabulary()), seed, bfloat16)
    n = sum(weight.numel() for weight in model.parameters())
    if n > MOST:
        raise ValueError(f"The race allows {MOST:,} parameters, this model has {n:,}.")
    run = []
    for lap in laps(model, racer, ids("train"), ids("validation"), seed):
        run.append(lap)
        if lap.loss <= GOAL:
            break
    return model, run
