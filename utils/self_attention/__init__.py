"""Day 5: self-attention. Read `dot_product` first, then `multi_head` and `tagger`.

Each position asks the whole sequence, in several heads at once.
"""

from utils.self_attention.dot_product import (
    BiasedAttention,
    causal_mask,
    dot_product_attention,
    scaled_dot,
)
from utils.self_attention.multi_head import Cache, MultiHeadAttention, merge_heads, split_heads
from utils.self_attention.tagger import SelfAttentionTagger

__all__ = [
    "BiasedAttention",
    "Cache",
    "MultiHeadAttention",
    "SelfAttentionTagger",
    "causal_mask",
    "dot_product_attention",
    "merge_heads",
    "scaled_dot",
    "split_heads",
]
