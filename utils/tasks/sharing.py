"""Day 11's encoders that share: blocks, and what the table of words has in common."""

from collections.abc import Callable
from functools import partial

import torch
from torch import nn

from utils.pretraining import (
    MaskedLanguageModel,
    PairEmbedding,
    SharedEncoder,
    UniversalEncoder,
)
from utils.tasks.pretraining import sizes
from utils.transformer import Encoder, Parts
from utils.transformer.config import PAPERS

N_LAYERS = 4
WIDTH = 16  # of a factorised table
D_NARROW = 48  # of a network of four blocks with as many parameters as a shared one of width 64
NARROW = Parts(embedding=partial(PairEmbedding, max_len=None, n_types=0, width=WIDTH))


def with_large_rows(model: MaskedLanguageModel) -> MaskedLanguageModel:
    """Let the rows of words begin with a deviation of 1/√E, as Day 6's.

    At today's rate, which suits those, rows that begin with 0.02, as BERT's, are lost in the noise
    of the first steps.
    """
    nn.init.normal_(model.head.weight, std=model.head.weight.shape[1] ** -0.5)
    return model


def four_passes(
    parts: Parts = PAPERS, encoder: type[Encoder] = Encoder, **others: object
) -> MaskedLanguageModel:
    """Make an encoder of four passes. others: sizes and choices that differ from the lesson's."""
    return with_large_rows(MaskedLanguageModel(sizes(N_LAYERS, **others), parts, encoder))


ENCODERS: dict[str, Callable[[], MaskedLanguageModel]] = {
    "four blocks": four_passes,
    "one block, shared": partial(four_passes, encoder=SharedEncoder),
    "factorised table": partial(four_passes, NARROW),
    "both": partial(four_passes, NARROW, SharedEncoder),
    "Universal Transformer": partial(four_passes, encoder=UniversalEncoder, positions=None),
    "Universal Transformer, rotary": partial(four_passes, encoder=UniversalEncoder),
    "four narrower blocks": partial(four_passes, d_model=D_NARROW),
}


def build(encoder: str, seed: int) -> MaskedLanguageModel:
    """Make one of ENCODERS, which has read nothing."""
    torch.manual_seed(seed)
    return ENCODERS[encoder]()
