"""Day 9: language models. Predict the next token at every position, and write.

Read `layers` first, the parts of today's blocks, then `rotary`, `generation`, and for published
models `folders` and `published`.
"""

from utils.language.generation import cached_step
from utils.language.layers import (
    GatedFeedForward,
    QKNormAttention,
    RMSNorm,
    UnscaledEmbedding,
    gated_width,
)
from utils.language.published import load_gpt2, load_llama
from utils.language.rotary import RotaryHalves, stretch_evenly, stretch_slow

__all__ = [
    "GatedFeedForward",
    "QKNormAttention",
    "RMSNorm",
    "RotaryHalves",
    "UnscaledEmbedding",
    "cached_step",
    "gated_width",
    "load_gpt2",
    "load_llama",
    "stretch_evenly",
    "stretch_slow",
]
