"""Day 9: language models. Predict the next token at every position, and write.

Read `layers` first, the parts of today's blocks, then `rotary`.
"""

from utils.language.layers import (
    GatedFeedForward,
    QKNormAttention,
    RMSNorm,
    UnscaledEmbedding,
    gated_width,
)
from utils.language.rotary import RotaryHalves, stretch_evenly, stretch_slow

__all__ = [
    "GatedFeedForward",
    "QKNormAttention",
    "RMSNorm",
    "RotaryHalves",
    "UnscaledEmbedding",
    "gated_width",
    "stretch_evenly",
    "stretch_slow",
]
