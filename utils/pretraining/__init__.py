"""Day 10: pre-training. An encoder learns from text without labels, and others published theirs.

Read `encoders` first, then `relative` and `text_to_text`, and for published models `published`,
`published_t5`, `pieces` and `sizes`.
"""

from utils.pretraining.encoders import (
    MaskedLanguageModel,
    MaskedWordHead,
    PairEmbedding,
    Pooler,
    SharedEncoder,
)
from utils.pretraining.pieces import read_pieces
from utils.pretraining.published import load_albert, load_bert, load_distilbert
from utils.pretraining.published_t5 import load_t5
from utils.pretraining.relative import RelativeBias, UnscaledAttention, relative_buckets
from utils.pretraining.sizes import PUBLISHED, Sizes, published_sizes
from utils.pretraining.text_to_text import DampedOutput, TextToText, TextToTextConfig

__all__ = [
    "PUBLISHED",
    "DampedOutput",
    "MaskedLanguageModel",
    "MaskedWordHead",
    "PairEmbedding",
    "Pooler",
    "RelativeBias",
    "SharedEncoder",
    "Sizes",
    "TextToText",
    "TextToTextConfig",
    "UnscaledAttention",
    "load_albert",
    "load_bert",
    "load_distilbert",
    "load_t5",
    "published_sizes",
    "read_pieces",
    "relative_buckets",
]
