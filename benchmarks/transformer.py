"""Day 6: blocks beside nn.TransformerEncoderLayer and nn.TransformerDecoderLayer, in training.

Without dropout on either side: each would draw other numbers, and what differs is not compared.
"""

from functools import partial

import torch
from torch import Tensor, nn

from benchmarks.runner import Case, with_parameters
from utils.self_attention import causal_mask
from utils.transformer import DecoderBlock, EncoderBlock, LayerNorm, TransformerConfig

B, T, S, D, D_FF, HEADS = 8, 64, 50, 256, 1024, 8
CONFIG = TransformerConfig(1, d_model=D, n_heads=HEADS, d_ff=D_FF, dropout=0.0)
draw = partial(torch.randn, generator=torch.Generator().manual_seed(0))

RENAMED = {
    "self_attn": "self_attention",
    "multihead_attn": "cross_attention",
    "in_proj_weight": "W_in",
    "in_proj_bias": "b_in",
    "out_proj": "W_o",
    "linear": "feed_forward.W_",
    "norm1": "residuals.0.norm",
    "norm2": "residuals.1.norm",
    "norm3": "residuals.2.norm",
}


def our_name(name: str) -> str:
    """Return what a parameter of the library's block is called in ours."""
    for theirs, ours in RENAMED.items():
        name = name.replace(theirs, ours)
    return name


class Decode(DecoderBlock):
    """Prepares its source and reads it, as the library's layer does, in one call."""

    def forward(self, x: Tensor, source: Tensor) -> Tensor:
        return super().forward(x, self.remember(source))[0]


def case(name: str, ours: EncoderBlock, *sequences: Tensor, **how: object) -> Case:
    """Give both blocks the same sequences, and the parameters with which the library's begins."""
    library = ours.library(D, HEADS, D_FF, dropout=0.0, batch_first=True)
    names = [name for name, _ in library.named_parameters()]
    return Case(
        name,
        with_parameters(ours, [our_name(name) for name in names], len(sequences)),
        with_parameters(library, names, len(sequences), **how),
        (*sequences, *(weight.detach() for weight in library.parameters())),
        bound=1.0,
    )


X, SOURCE = draw(B, T, D), draw(B, S, D)
CAUSAL = {"tgt_mask": ~causal_mask(T), "tgt_is_causal": True}  # the library's masks say who may not

CASES = [
    case(f"EncoderBlock, {B}×{T}×{D}, d_ff = {D_FF}", EncoderBlock(CONFIG), X),
    case(f"DecoderBlock, the same, source {S} long", Decode(CONFIG), X, SOURCE, **CAUSAL),
    Case(
        f"LayerNorm (the definition, to read), {B}×{T}×{D}",
        with_parameters(LayerNorm(D), ["weight", "bias"]),
        with_parameters(nn.LayerNorm(D), ["weight", "bias"]),
        (X, draw(D), draw(D)),
    ),
]
