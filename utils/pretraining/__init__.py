"""Days 10 and 11: pre-training, and small models.

An encoder learns from text without labels, and others published theirs.

Read `masking` first, then `encoders`, `distillation`, `pairs`, `spans`, `relative` and
`text_to_text`, and for published models `published`, `published_t5`, `pieces` and `sizes`.
`low_rank` trains little of a model, `rounded` keeps few bits of it, `heads` few heads.
"""

from utils.pretraining.distillation import (
    cosine_loss,
    every_second,
    soft_target_loss,
    student_of,
)
from utils.pretraining.encoders import (
    MaskedLanguageModel,
    MaskedWordHead,
    PairEmbedding,
    Pooler,
    SharedEncoder,
    UniversalEncoder,
)
from utils.pretraining.masking import (
    IGNORE,
    MASK,
    Dice,
    cast_dice,
    mask_words,
    masked_word_loss,
)
from utils.pretraining.pairs import QUESTIONS, Pair, make_pair, two_parts
from utils.pretraining.pieces import read_pieces
from utils.pretraining.published import load_albert, load_bert, load_distilbert
from utils.pretraining.published_t5 import load_t5
from utils.pretraining.relative import RelativeBias, UnscaledAttention, relative_buckets
from utils.pretraining.sizes import PUBLISHED, Sizes, published_sizes
from utils.pretraining.spans import (
    draw_infilling,
    draw_spans,
    hide_spans,
    infill,
    permute_sentences,
    put_back,
)
from utils.pretraining.text_to_text import DampedOutput, TextToText, TextToTextConfig

__all__ = [
    "IGNORE",
    "MASK",
    "PUBLISHED",
    "QUESTIONS",
    "DampedOutput",
    "Dice",
    "MaskedLanguageModel",
    "MaskedWordHead",
    "Pair",
    "PairEmbedding",
    "Pooler",
    "RelativeBias",
    "SharedEncoder",
    "Sizes",
    "TextToText",
    "TextToTextConfig",
    "UniversalEncoder",
    "UnscaledAttention",
    "cast_dice",
    "cosine_loss",
    "draw_infilling",
    "draw_spans",
    "every_second",
    "hide_spans",
    "infill",
    "load_albert",
    "load_bert",
    "load_distilbert",
    "load_t5",
    "make_pair",
    "mask_words",
    "masked_word_loss",
    "permute_sentences",
    "published_sizes",
    "put_back",
    "read_pieces",
    "relative_buckets",
    "two_parts",
    "soft_target_loss",
    "student_of",
]
