"""Day 12: pictures read as sentences are, and pictures and sentences in one space.

Read `patch_embedding` first, then `vit`, `contrastive` and `clip`, and for published models
`published`, `text`, `published_clip`, `word_ends` and `preprocessing`.
"""

from utils.vision.clip import CLIP, small_clip
from utils.vision.contrastive import contrastive_loss, cosines, zero_shot
from utils.vision.patch_embedding import PatchEmbedding, patches, unpatch
from utils.vision.preprocessing import Preprocessing, preprocess, read_preprocessing
from utils.vision.published import load_vit
from utils.vision.published_clip import load_clip
from utils.vision.text import CausalTextEncoder
from utils.vision.vit import VisionTransformer
from utils.vision.word_ends import WordEndPairs, read_word_end_pairs

__all__ = [
    "CLIP",
    "CausalTextEncoder",
    "PatchEmbedding",
    "Preprocessing",
    "VisionTransformer",
    "WordEndPairs",
    "contrastive_loss",
    "cosines",
    "load_clip",
    "load_vit",
    "patches",
    "preprocess",
    "read_preprocessing",
    "read_word_end_pairs",
    "small_clip",
    "unpatch",
    "zero_shot",
]
