"""Day 9's race: the least time to a loss of 1.88 on Shakespeare's next letter.

The baseline is nanoGPT's setting for a laptop (Karpathy, 2022). Shapes: ids (B, T) are characters.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn

from utils.language import GatedFeedForward, UnscaledEmbedding
from utils.language.shift import ShiftedAttention, TokenShift
from utils.positions import Alibi
from utils.self_attention import BiasedAttention, MultiHeadAttention
from utils.tasks.letters import (
    NextLetter,
    begin_small,
    ids,
    judged,
    optimiser_of,
    pieces,
    vocabulary,
)
from utils.training.loop import fit
from utils.training.recipes import tag_loss
from utils.transformer import FeedForward, Parts, ScaledEmbedding, TransformerConfig

GOAL = 1.88  # nats a letter, over the whole validation text
WINDOW = 64  # letters; what a model may look at where it is judged
MOST = 850_000  # parameters
CHECKS = [0.1, 0.25, 0.4, *(k / 20 for k in range(11, 21))]  # of the schedule


class SteepAlibi(Alibi):
    """`Alibi` with eight times the slopes: our windows are much shorter than the paper's."""

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
TUNED = replace(BASELINE, rate=0.008, steps=1500)  # the best of experiment `race_rates`
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
    steps=340,
)
CHANGES = {  # what each sets: alone in the tuned baseline, and back again in the winner
    "Muon": ({"matrix_rate": 0.02}, {"matrix_rate": None}),
    "token shift": ({"shift": True}, {"shift": False}),
    "rate": ({"rate": 2e-2}, {"rate": TUNED.rate}),
    "one narrow layer": (
        {"n_layers": 1, "d_model": 64, "d_ff": 256},
        {"n_layers": 4, "d_model": 128, "d_ff": 344},
    ),
    "ALiBi": ({"alibi": True}, {"alibi": False}),
    "SwiGLU": ({"gated": True, "d_ff": 344}, {"gated": False, "d_ff": 256}),
    "untied": ({"tied": False, "small": False}, {"tied": True, "small": True}),
}


def alone(change: str, longer: float = 1.0) -> Racer:
    """The tuned baseline with one change, or "nothing", on a schedule `longer` times its own."""
    taken, _ = CHANGES.get(change, ({}, {}))
    return replace(TUNED, **taken, steps=round(longer * TUNED.steps))


def without(change: str, longer: float = 1.0) -> Racer:
    """The winner without one change, or "nothing", on a schedule `longer` times the winner's."""
    _, back = CHANGES.get(change, ({}, {}))
    return replace(WINNER, **back, steps=round(longer * WINNER.steps))


def build(racer: Racer, vocab_size: int, seed: int, bfloat16: bool = False) -> NextLetter:
    """A racer's model with new weights; there are no biases."""
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
        begin_small(model)
    return model


class Lap(NamedTuple):
    """How far a racer is: steps, seconds of training, and the loss on the validation text."""

    steps: int
    seconds: float
    loss: float


def laps(
    model: NextLetter, racer: Racer, text: Tensor, held_out: Tensor, seed: int
) -> Iterator[Lap]:
    """Train a model and tell at `CHECKS` how far it is.

    Seconds are of processor time, of the steps alone: not of the batches' choice and the checks.
    """
    optimiser, schedule = optimiser_of(
        model, racer.steps, racer.rate, racer.matrix_rate, racer.momentum
    )
    batches = pieces(text, racer.steps, racer.batch_size, racer.length, seed)
    seconds = 0.0
    for begin, end in pairwise([0, *(round(share * racer.steps) for share in CHECKS)]):
        start = time.process_time()
        fit(model, batches[begin:end], tag_loss, optimiser, epochs=1, schedule=schedule)
        seconds += time.process_time() - start
        yield Lap(end, seconds, judged(model, held_out, WINDOW))


def race(racer: Racer, seed: int, bfloat16: bool = False) -> tuple[NextLetter, list[Lap]]:
    """Let a racer run until it is there, or its schedule ends.

    Raises: ValueError if it has more than `MOST` parameters.
    """
    known = vocabulary("plays")
    model = build(racer, len(known), seed, bfloat16)
    n = sum(weight.numel() for weight in model.parameters())
    if n > MOST:
        raise ValueError(f"The race allows {MOST:,} parameters, this model has {n:,}.")
    run = []
    train, validation = (ids("plays", part, known) for part in ("train", "validation"))
    for lap in laps(model, racer, train, validation, seed):
        run.append(lap)
        if lap.loss <= GOAL:
            break
    return model, run
