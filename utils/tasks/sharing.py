"""Day 10's encoders that share: blocks, and what the table of words has in common."""

from collections.abc import Callable
from functools import partial

import torch

from utils.pretraining import (
    MaskedLanguageModel,
    PairEmbedding,
    SharedEncoder,
    UniversalEncoder,
)
from utils.tasks.pretraining import sizes
from utils.transformer import Parts

N_LAYERS = 4
WIDTH = 16  # of a factorised table
D_NARROW = 48  # of a network of four blocks with as many parameters as a shared one of width 64
NARROW = Parts(embedding=partial(PairEmbedding, max_len=None, n_types=0, width=WIDTH))
ENCODERS: dict[str, Callable[[], MaskedLanguageModel]] = {
    "four blocks": lambda: MaskedLanguageModel(sizes(N_LAYERS)),
    "one block, shared": lambda: MaskedLanguageModel(sizes(N_LAYERS), encoder=SharedEncoder),
    "factorised table": lambda: MaskedLanguageModel(sizes(N_LAYERS), NARROW),
    "both": lambda: MaskedLanguageModel(sizes(N_LAYERS), NARROW, SharedEncoder),
    "Universal Transformer": lambda: MaskedLanguageModel(
        sizes(N_LAYERS, positions=None), encoder=UniversalEncoder
    ),
    "Universal Transformer, rotary": lambda: MaskedLanguageModel(sizes(), encoder=UniversalEncoder),
    "four narrower blocks": lambda: MaskedLanguageModel(sizes(N_LAYERS, d_model=D_NARROW)),
}


def build(encoder: str, seed: int) -> MaskedLanguageModel:
    """Make one of ENCODERS, which has read nothing."""
    torch.manual_seed(seed)
    return ENCODERS[encoder]()
