"""Day 7: attention for long sequences, in order: `blocks`, `window`, `sparse`, `low_rank`,
`kernelised`, `tiled`, `cached`, `layers`."""

from utils.efficient.cached import KVCache
from utils.efficient.kernelised import (
    Performer,
    chunked_form,
    elu_features,
    linear_attention,
    log_features,
    orthogonal_directions,
    parallel_form,
    quadratic_form,
    recurrent_form,
    recurrent_step,
)
from utils.efficient.layers import FormAttention, use_form
from utils.efficient.low_rank import Linformer
from utils.efficient.sparse import (
    bigbird_attention,
    bigbird_mask,
    fixed_attention,
    fixed_mask,
    random_blocks,
    strided_attention,
    strided_mask,
)
from utils.efficient.tiled import TiledAttention, tiled_attention
from utils.efficient.window import window_attention, window_mask

__all__ = [
    "FormAttention",
    "KVCache",
    "Linformer",
    "Performer",
    "TiledAttention",
    "bigbird_attention",
    "bigbird_mask",
    "chunked_form",
    "elu_features",
    "fixed_attention",
    "fixed_mask",
    "linear_attention",
    "log_features",
    "orthogonal_directions",
    "parallel_form",
    "quadratic_form",
    "random_blocks",
    "recurrent_form",
    "recurrent_step",
    "strided_attention",
    "strided_mask",
    "tiled_attention",
    "use_form",
    "window_attention",
    "window_mask",
]
