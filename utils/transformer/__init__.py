"""Day 6: the Transformer. Read `layers` first, then `blocks`, `stacks`, `models`, `training`."""

from utils.transformer.blocks import DecoderBlock, EncoderBlock, TransformerConfig
from utils.transformer.layers import (
    CrossAttention,
    FeedForward,
    InputEmbedding,
    LayerNorm,
    Residual,
    ScaledEmbedding,
)
from utils.transformer.models import DecoderOnly, EncoderOnly, Looks, Tagger, Transformer
from utils.transformer.stacks import Decoder, Encoder
from utils.transformer.training import label_smoothing_loss, warmup_rate

__all__ = [
    "CrossAttention",
    "Decoder",
    "DecoderBlock",
    "DecoderOnly",
    "Encoder",
    "EncoderBlock",
    "EncoderOnly",
    "FeedForward",
    "InputEmbedding",
    "LayerNorm",
    "Looks",
    "Residual",
    "ScaledEmbedding",
    "Tagger",
    "Transformer",
    "TransformerConfig",
    "label_smoothing_loss",
    "warmup_rate",
]
