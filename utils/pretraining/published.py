"""Day 10: the published weights of BERT, DistilBERT, ALBERT and T5, in the book's blocks.

As on Day 9, a layout is a table of published names and of the places to which the numbers belong.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from utils.language.folders import (
    ACTIVATION,
    DEEPEST,
    UNTIED,
    Places,
    filled,
    of,
    read_config,
    read_weights,
    renamed,
)
from utils.pretraining.encoders import MaskedLanguageModel, PairEmbedding, SharedEncoder
from utils.self_attention import MultiHeadAttention
from utils.tokens.tables import PublishedConfig
from utils.transformer import Encoder, EncoderBlock, Parts, TransformerConfig

EPS = 1e-12  # where a config doesn't say it


class Layout(NamedTuple):
    """The names under which an encoder is published, and what its configs call its sizes."""

    kind: str  # what all names of the encoder begin with, too
    sizes: Mapping[str, str]  # ours: theirs
    blocks: str
    attention: tuple[str, str, str, str]  # of queries, keys, values and the output
    feed_forward: tuple[str, str]
    norms: tuple[str, str]
    head: tuple[str, str, str]  # the transformation, its norm, the bias
    output: str  # of the head, where it is stored once more
    pool: str = ""
    order: str = ""
    encoder: type[Encoder] = Encoder


SIZES = {
    "d_model": "hidden_size",
    "n_heads": "num_attention_heads",
    "d_ff": "intermediate_size",
    "n_layers": "num_hidden_layers",
    "activation": "hidden_act",
}
BERT = Layout(
    kind="bert",
    sizes=SIZES,
    blocks="bert.encoder.layer.{}",
    attention=(
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.output.dense",
    ),
    feed_forward=("intermediate.dense", "output.dense"),
    norms=("attention.output.LayerNorm", "output.LayerNorm"),
    head=(
        "cls.predictions.transform.dense",
        "cls.predictions.transform.LayerNorm",
        "cls.predictions.bias",
    ),
    output="cls.predictions.decoder",
    pool="bert.pooler.dense",
    order="cls.seq_relationship",
)
DISTILBERT = Layout(
    kind="distilbert",
    sizes={
        "d_model": "dim",
        "n_heads": "n_heads",
        "d_ff": "hidden_dim",
        "n_layers": "n_layers",
        "activation": "activation",
    },
    blocks="distilbert.transformer.layer.{}",
    attention=("attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin"),
    feed_forward=("ffn.lin1", "ffn.lin2"),
    norms=("sa_layer_norm", "output_layer_norm"),
    head=("vocab_transform", "vocab_layer_norm", "vocab_projector.bias"),
    output="vocab_projector",
)
ALBERT = Layout(
    kind="albert",
    sizes=SIZES,
    blocks="albert.encoder.albert_layer_groups.0.albert_layers.0",
    attention=("attention.query", "attention.key", "attention.value", "attention.dense"),
    feed_forward=("ffn", "ffn_output"),
    norms=("attention.LayerNorm", "full_layer_layer_norm"),
    head=("predictions.dense", "predictions.LayerNorm", "predictions.bias"),
    output="predictions.decoder",
    pool="albert.pooler",
    order="sop_classifier.classifier",
    encoder=SharedEncoder,
)


# Encoders -----------------------------------------------------------------------------------------


def load_bert(folder: Path | str, dtype: torch.dtype = torch.float32) -> MaskedLanguageModel:
    """Read BERT (Devlin et al., 2019), or a model of its layout, from config.json and weights.

    Learned positions and types of sentences, a norm behind them and behind each sublayer, a head
    for hidden words; the pooler, and what tells whether a sentence follows, where they are stored.
    Dropout is left out, and the model is in evaluation mode.
    Raises: ValueError if the folder, a file or a weight is missing or damaged, or belongs to
        another kind of model.
    """
    return _load(BERT, folder, dtype)


def load_distilbert(folder: Path | str, dtype: torch.dtype = torch.float32) -> MaskedLanguageModel:
    """Read DistilBERT (Sanh et al., 2019): a BERT without types of sentences and without a pooler.

    Raises: ValueError as `load_bert` does.
    """
    return _load(DISTILBERT, folder, dtype)


def load_albert(folder: Path | str, dtype: torch.dtype = torch.float32) -> MaskedLanguageModel:
    """Read ALBERT (Lan et al., 2020): one block for all layers, and a narrow embedding, widened.

    Raises: ValueError as `load_bert` does.
    """
    return _load(ALBERT, folder, dtype)


@torch.no_grad()
def _load(layout: Layout, folder: Path | str, dtype: torch.dtype) -> MaskedLanguageModel:
    folder = Path(folder)
    told = read_config(folder, layout.kind)
    if layout is DISTILBERT:
        told.pop("layer_norm_eps", None)  # its authors' code reads none
    weights = renamed(read_weights(folder), _name, folder)
    transform, norm, bias = layout.head
    if not weights.keys() & {f"{transform}.weight", f"{norm}.weight", bias}:
        raise ValueError(
            f"{folder} is published without the head for hidden words ({bias}): fetch the model as "
            "it was pre-trained."
        )
    stored = [bool(name) and f"{name}.weight" in weights for name in (layout.pool, layout.order)]

    def with_copies(model: MaskedLanguageModel) -> Places:
        places = _places(layout, model)
        copies = {
            f"{layout.output}.weight": (model.head.weight, UNTIED),
            f"{layout.output}.bias": (model.head.bias, "two biases of the output"),
        }
        return places, {name: copy for name, copy in copies.items() if name not in places}

    return filled(lambda: built(layout, told, *stored), with_copies, weights, folder, dtype)


def _name(name: str) -> str:
    """The oldest files name gain and bias otherwise, and some count the positions."""
    is_count = name.endswith(".position_ids")
    return "" if is_count else name.replace(".gamma", ".weight").replace(".beta", ".bias")


def built(
    layout: Layout, told: PublishedConfig, pooled: bool = False, ordered: bool = False
) -> MaskedLanguageModel:
    """Return the model that a config tells of, with weights as they begin.

    Raises: ValueError if the config lacks something, or tells of another kind of model.
    """
    told.expect(
        position_embedding_type="absolute",
        is_decoder=False,
        add_cross_attention=False,
        tie_word_embeddings=True,
        num_hidden_groups=1,
        inner_group_num=1,
    )
    key = layout.sizes
    config = TransformerConfig(
        d_model=told.size(key["d_model"]),
        n_heads=told.size(key["n_heads"]),
        d_ff=told.size(key["d_ff"]),
        n_layers=told.size(key["n_layers"], DEEPEST),
        activation=told.choice(key["activation"], ACTIVATION),
        vocab_size=told.size("vocab_size"),
        norm="post",
        positions=None,  # the embedding adds them
        max_len=told.size("max_position_embeddings"),
        dropout=0.0,
    )
    told.setdefault("layer_norm_eps", EPS)
    norm = partial(nn.LayerNorm, eps=told.number("layer_norm_eps"))
    embedding = partial(
        PairEmbedding,
        max_len=config.max_len,
        n_types=told.size_or("type_vocab_size", 0),
        width=told.size_or("embedding_size", None),
        norm=norm,
    )
    parts = Parts(norm=norm, embedding=embedding)
    return MaskedLanguageModel(config, parts, layout.encoder, pooled=pooled, ordered=ordered)


def _places(layout: Layout, model: MaskedLanguageModel) -> dict[str, Tensor]:
    kind, embedding, head = layout.kind, model.encoder.embedding.symbols, model.head
    transform, norm, bias = layout.head
    places = {
        f"{kind}.embeddings.word_embeddings.weight": embedding.words.weight,
        f"{kind}.embeddings.position_embeddings.weight": embedding.positions.table,
        **of(f"{kind}.embeddings.LayerNorm", embedding.norm),
        **of(f"{kind}.encoder.embedding_hidden_mapping_in", embedding.widen),
        **of(transform, head.transform),
        **of(norm, head.norm),
        bias: head.bias,
    }
    for name, part in (
        (f"{kind}.embeddings.token_type_embeddings", embedding.types),
        (layout.pool, model.pool and model.pool.W),
        (layout.order, model.order),
    ):
        places |= {} if part is None else of(name, part)
    for i, block in enumerate(dict.fromkeys(model.encoder.blocks)):  # a shared one once
        places |= _block_places(layout, block, layout.blocks.format(i))
    return places


def _block_places(layout: Layout, block: EncoderBlock, name: str) -> dict[str, Tensor]:
    f = block.feed_forward
    places = attention_places(block.self_attention, [f"{name}.{x}" for x in layout.attention])
    for inside, layer in zip(layout.feed_forward, (f.W_1, f.W_2), strict=True):
        places |= of(f"{name}.{inside}", layer)
    for inside, around in zip(layout.norms, block.residuals, strict=True):
        places |= of(f"{name}.{inside}", around.norm)
    return places


def attention_places(attention: MultiHeadAttention, names: Iterable[str]) -> dict[str, Tensor]:
    """Return the places of queries, keys, values and output, which are published apart."""
    *inputs, output = names
    places = of(output, attention.W_o)
    for name, rows in zip(inputs, attention.W_in.split(attention.rows), strict=True):
        places[f"{name}.weight"] = rows
    if attention.b_in is not None:
        for name, rows in zip(inputs, attention.b_in.split(attention.rows), strict=True):
            places[f"{name}.bias"] = rows
    return places
