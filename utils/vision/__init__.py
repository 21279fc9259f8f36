"""Day 12: pictures read as sentences are, and pictures and sentences in one space."""

from utils.vision.clip import CLIP, small_clip
from utils.vision.contrastive import contrastive_loss, cosines, zero_shot
from utils.vision.patches import PatchEmbedding, patches, unpatch
from utils.vision.vit import VisionTransformer

__all__ = [
    "CLIP",
    "PatchEmbedding",
    "VisionTransformer",
    "contrastive_loss",
    "cosines",
    "patches",
    "small_clip",
    "unpatch",
    "zero_shot",
]
