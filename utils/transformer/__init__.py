"""Day 6: the Transformer. Read `layers` first, then `config`, `blocks`, `stacks`, `models`."""

from utils.transformer.blocks import DecoderBlock, EncoderBlock
from utils.transformer.config import Parts, TransformerConfig
from utils.transformer.layers import (
    CrossAttention,
    FeedForward,
    InputEmbedding,
    LayerNorm,
    Residual,
    ScaledEmbedding,
)
from utils.transformer.models import (
    AttentionWeights,
    DecoderOnly,
    EncoderOnly,
    Tagger,
    Transformer,
    mean_pool,
)
from utils.transformer.stacks import Decoder, Encoder
from utils.transformer.training import label_smoothing_loss, warmup_rate

__all__ = [
    "AttentionWeights",
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
    "Parts",
    "Residual",
    "ScaledEmbedding",
    "Tagger",
    "Transformer",
    "TransformerConfig",
    "label_smoothing_loss",
    "mean_pool",
    "warmup_rate",
]
