"""Day 10: how many parameters the published models have, counted without a weight being made."""

from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn

from utils.arguments import check_choice
from utils.pretraining.published import ALBERT, BERT, DISTILBERT, Layout, built
from utils.tokens.tables import PublishedConfig


class Sizes(NamedTuple):
    """The parameters of an encoder, without the heads of its pre-training."""

    embedding: int
    blocks: int
    pooler: int

    @property
    def total(self) -> int:
        return sum(self)


def _bert(D: int, n_layers: int, n_heads: int, **more: int) -> dict[str, object]:
    sizes = {"hidden_size": D, "num_hidden_layers": n_layers, "num_attention_heads": n_heads}
    known = {"vocab_size": 30_522, "max_position_embeddings": 512, "type_vocab_size": 2}
    return sizes | known | {"intermediate_size": 4 * D, "hidden_act": "gelu"} | more


def _albert(D: int, n_layers: int, n_heads: int) -> dict[str, object]:
    return _bert(D, n_layers, n_heads, vocab_size=30_000, embedding_size=128)


DISTILBERT_BASE = {
    **{"vocab_size": 30_522, "max_position_embeddings": 512, "activation": "gelu"},
    **{"dim": 768, "hidden_dim": 3072, "n_layers": 6, "n_heads": 12},
}
PUBLISHED: dict[str, tuple[Layout, dict[str, object]]] = {
    "BERT-base": (BERT, _bert(768, 12, 12)),
    "BERT-large": (BERT, _bert(1024, 24, 16)),
    "DistilBERT": (DISTILBERT, DISTILBERT_BASE),
    "ALBERT-base": (ALBERT, _albert(768, 12, 12)),
    "ALBERT-large": (ALBERT, _albert(1024, 24, 16)),
    "ALBERT-xlarge": (ALBERT, _albert(2048, 24, 16)),
    "ALBERT-xxlarge": (ALBERT, _albert(4096, 12, 64)),
}


def published_sizes(name: str) -> Sizes:
    """Count a published model's parameters, on a device that holds shapes and no numbers.

    The papers say 110 million of BERT-base and 340 of BERT-large (Devlin et al., 2019, §3), 66 of
    DistilBERT (Sanh et al., 2019, table 3), 12, 18, 60 and 235 of ALBERT (Lan et al., 2020,
    table 1). The last is not what its sizes give, 223; that many are in the published file.
    Raises: ValueError if no such model is in PUBLISHED.
    """
    check_choice("model", name, PUBLISHED)
    layout, told = PUBLISHED[name]
    with torch.device("meta"):
        model = built(layout, PublishedConfig(Path(name), told), pooled=bool(layout.pool))
    encoder = model.encoder
    parts = encoder.embedding, encoder.blocks, model.pool or nn.Identity()
    return Sizes(*(sum(weight.numel() for weight in part.parameters()) for part in parts))
