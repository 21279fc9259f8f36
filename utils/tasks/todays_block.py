"""Day 9: GPT's block with one change after the other, as models of a library's docstrings.

Shapes: ids (B, T) are letters, logits (B, T, V) are about the letter that follows each.
"""

import time
from functools import partial

import torch
from torch import Tensor, nn

from utils.language import GatedFeedForward, QKNormAttention, UnscaledEmbedding, gated_width
from utils.self_attention import MultiHeadAttention
from utils.tasks.letters import NextLetter, begin_small, optimiser_of
from utils.training.loop import fit
from utils.training.recipes import tag_loss
from utils.transformer import FeedForward, Parts, TransformerConfig

T, D, F = 64, 64, 256
PLAIN = "GPT's block"
ALL = "all together"  # but for post-norm, and squared ReLU, in whose place SwiGLU stands
CHANGES = (
    "post-norm",
    "RMSNorm",
    "SwiGLU",
    "squared ReLU",
    "rotary",
    "grouped queries",
    "QK-norm",
    "tied",
    "no biases",
    "Muon",
)
MUON = 3  # times AdamW's rate, for matrices


def build(change: str, vocab_size: int, seed: int) -> NextLetter:
    """Two blocks with a change: one of `CHANGES`, several with commas, `PLAIN` or `ALL`.

    They begin small, as GPT-2's.
    """
    torch.manual_seed(seed)

    def has(name: str) -> bool:
        return change == ALL or name in change.split(", ")

    biased = not has("no biases")
    feed_forward, d_ff = partial(FeedForward, bias=biased), F
    if has("SwiGLU"):
        feed_forward, d_ff = _swiglu, gated_width(F)
    norm = nn.RMSNorm if has("RMSNorm") else partial(nn.LayerNorm, bias=biased)
    attention = MultiHeadAttention
    if has("QK-norm"):
        attention = partial(QKNormAttention, norm=nn.RMSNorm)
    config = TransformerConfig(
        vocab_size,
        d_model=D,
        n_heads=4,
        n_kv_heads=2 if has("grouped queries") else None,
        d_ff=d_ff,
        n_layers=2,
        activation="relu_squared" if change == "squared ReLU" else "gelu",
        norm="post" if change == "post-norm" else "pre",
        positions="rotary" if has("rotary") else "learned",
        max_len=T,
        dropout=0.0,
        tied=has("tied"),
    )
    parts = Parts(norm, feed_forward, partial(attention, bias=biased), UnscaledEmbedding)
    model = NextLetter(config, parts)
    begin_small(model)
    return model


def _swiglu(d_model: int, d_ff: int, _: str, dropout: float) -> GatedFeedForward:
    return GatedFeedForward(d_model, d_ff, "silu", dropout)


def train(
    change: str, model: NextLetter, batches: list[tuple[Tensor, Tensor]], rate: float
) -> float:
    """Train a model on batches that it sees once each; return the processor time of a step."""
    matrix_rate = MUON * rate if change in ("Muon", ALL) else None
    optimiser, schedule = optimiser_of(model, len(batches), rate, matrix_rate)
    start = time.process_time()
    fit(model, batches, tag_loss, optimiser, epochs=1, schedule=schedule)
    return (time.process_time() - start) / len(batches)
