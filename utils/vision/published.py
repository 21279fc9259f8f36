"""Day 12: Vision Transformers that others published, in the book's blocks.

As on Day 9, a layout is a table of published names and of the places to which the numbers belong.
Three are read: those of `transformers`, of timm and of torchvision.
"""

import math
import re
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from utils.language.folders import (
    ACTIVATION,
    DEEPEST,
    Places,
    Weights,
    filled,
    of,
    read_config,
    read_weights,
    renamed,
)
from utils.pretraining import Pooler
from utils.pretraining.published import attention_places
from utils.tokens.tables import PublishedConfig, read_json
from utils.transformer import Encoder, Parts, TransformerConfig
from utils.vision.patch_embedding import PatchEmbedding
from utils.vision.vit import VisionTransformer

EPS = 1e-6  # of timm's and torchvision's norms
HEADS = {"tiny": 3, "small": 6, "base": 12, "large": 16, "huge": 16, "b": 12, "l": 16, "h": 16}


class Blocks(NamedTuple):
    """The names under which the parts of an encoder's blocks are published."""

    name: str
    attention: tuple[str, ...]  # of queries, keys and values, in one or three, and the output
    feed_forward: tuple[str, str]
    norms: tuple[str, str]


class Layout(NamedTuple):
    """The names under which a Vision Transformer is published."""

    class_token: str
    positions: str
    patches: str
    blocks: Blocks
    norm: str
    output: str


TRANSFORMERS = Layout(
    class_token="embeddings.cls_token",
    positions="embeddings.position_embeddings",
    patches="embeddings.patch_embeddings.projection",
    blocks=Blocks(
        "encoder.layer.{}",
        (
            "attention.attention.query",
            "attention.attention.key",
            "attention.attention.value",
            "attention.output.dense",
        ),
        ("intermediate.dense", "output.dense"),
        ("layernorm_before", "layernorm_after"),
    ),
    norm="layernorm",
    output="classifier",
)
POOLER = "pooler.dense"
TIMM = Layout(
    class_token="cls_token",
    positions="pos_embed",
    patches="patch_embed.proj",
    blocks=Blocks(
        "blocks.{}", ("attn.qkv", "attn.proj"), ("mlp.fc1", "mlp.fc2"), ("norm1", "norm2")
    ),
    norm="norm",
    output="head",
)
TORCHVISION = Layout(
    class_token="class_token",
    positions="encoder.pos_embedding",
    patches="conv_proj",
    blocks=Blocks(
        "encoder.layers.encoder_layer_{}",
        ("self_attention.in_proj", "self_attention.out_proj"),
        ("mlp.0", "mlp.3"),
        ("ln_1", "ln_2"),
    ),
    norm="encoder.ln",
    output="heads.head",
)
SEEN = "img_size", "patch_size", "in_chans", "num_classes", "embed_dim", "depth", "mlp_ratio"
RENAMED = {"in_proj_": "in_proj.", "mlp.linear_1.": "mlp.0.", "mlp.linear_2.": "mlp.3."}
ARCHITECTURES = {  # pattern of its name, where the size is a group: the layout
    r"vit_(tiny|small|base|large|huge)_patch\d+_\d+(?:\..+)?": TIMM,
    r"vit_(b|l|h)_\d+": TORCHVISION,
}


@torch.no_grad()
def load_vit(folder: Path | str, dtype: torch.dtype = torch.float32) -> VisionTransformer:
    """Read a Vision Transformer (Dosovitskiy et al., 2021) from config.json and weights.

    Its config has `transformers`' model_type "vit"; or an architecture, a name by which timm
    (vit_base_patch16_224) or torchvision (vit_b_16) makes it, and then its sizes follow from its
    weights. Without a head for classes it gives the pooled vector (B, D): what stands at the class
    token, behind the pooler if that is stored. The model is in evaluation mode.
    Raises: ValueError if the folder, a file or a weight is missing or damaged, or belongs to
        another kind of model.
    """
    folder = Path(folder)
    told = read_json(folder / "config.json")
    if "model_type" in told or "architecture" not in told:
        return _load_transformers(folder, dtype)
    for pattern, layout in ARCHITECTURES.items():
        if found := re.fullmatch(pattern, str(told["architecture"])):
            return _load_by_shapes(layout, HEADS[found[1]], told, folder, dtype)
    raise told.unlike("architecture", "a Vision Transformer's, as vit_base_patch16_224 or vit_b_16")


# By its config ------------------------------------------------------------------------------------


def _load_transformers(folder: Path, dtype: torch.dtype) -> VisionTransformer:
    told = read_config(folder, "vit")
    told.expect(qkv_bias=True, pooler_act="tanh")
    norm = partial(nn.LayerNorm, eps=told.number("layer_norm_eps"))
    weights = renamed(read_weights(folder), lambda name: name.removeprefix("vit."), folder)
    n_classes = _n_classes(weights, TRANSFORMERS, folder)

    def make() -> VisionTransformer:
        model = VisionTransformer(
            tower_config(told, told.choice("hidden_act", ACTIVATION)),
            channels=told.size("num_channels"),
            image_size=told.size("image_size"),
            patch_size=told.size("patch_size"),
            n_classes=n_classes or 1,
            parts=Parts(norm=norm),
        )
        if f"{POOLER}.weight" in weights:
            model.pool = Pooler(told.size("hidden_size"))
        return model if n_classes else without_output(model)

    def places(model: VisionTransformer) -> Places:
        pooler = of(POOLER, model.pool.W) if isinstance(model.pool, Pooler) else {}
        return _places(TRANSFORMERS, model) | pooler, {}

    return filled(make, places, weights, folder, dtype)


def tower_config(told: PublishedConfig, activation: str, **of_text: int) -> TransformerConfig:
    """Return sizes as `transformers` calls them; of_text: what a tower that reads text has, too."""
    return TransformerConfig(
        **{"vocab_size": 1} | of_text,
        d_model=told.size("hidden_size"),
        n_heads=told.size("num_attention_heads"),
        d_ff=told.size("intermediate_size"),
        n_layers=told.size("num_hidden_layers", DEEPEST),
        activation=activation,
        norm="pre",
        positions="learned",
        dropout=0.0,
    )


def without_output(model: VisionTransformer) -> VisionTransformer:
    """Take off the head for classes: the pooled vector (B, D) is what the model gives."""
    model.output = nn.Identity()
    return model


# By the shapes of its weights ---------------------------------------------------------------------


def _load_by_shapes(
    layout: Layout, n_heads: int, told: PublishedConfig, folder: Path, dtype: torch.dtype
) -> VisionTransformer:
    told.expect(global_pool="token")
    _check_arguments(told.table("model_args"), n_heads)
    weights = renamed(read_weights(folder), _name, folder)
    D, C, P, _ = _shape(weights, f"{layout.patches}.weight", 4, folder)
    _, n_positions, _ = _shape(weights, layout.positions, 3, folder)
    first = layout.blocks.name.format(0)
    d_ff, _ = _shape(weights, f"{first}.{layout.blocks.feed_forward[0]}.weight", 2, folder)
    block = re.compile(re.escape(layout.blocks.name).replace(r"\{\}", r"(\d+)") + r"\.")
    n_layers = len({found[1] for name in weights if (found := block.match(name))})
    n_classes = _n_classes(weights, layout, folder)
    config = TransformerConfig(
        vocab_size=1,
        d_model=D,
        n_heads=n_heads,
        d_ff=d_ff,
        n_layers=n_layers,
        activation="gelu",
        norm="pre",
        dropout=0.0,
    )

    def make() -> VisionTransformer:
        model = VisionTransformer(
            config,
            channels=C,
            image_size=P * math.isqrt(n_positions - 1),
            patch_size=P,
            n_classes=n_classes or 1,
            parts=Parts(norm=partial(nn.LayerNorm, eps=EPS)),
        )
        return model if n_classes else without_output(model)

    return filled(make, lambda model: (_places(layout, model), {}), weights, folder, dtype)


def _name(name: str) -> str:
    """Torchvision names the joint weights as no layer, and older files the others otherwise."""
    for theirs, ours in RENAMED.items():
        name = name.replace(theirs, ours)
    return name


def _check_arguments(told: PublishedConfig, n_heads: int) -> None:
    """Refuse timm's own settings of a model that neither its name nor its weights tell of."""
    expected = dict(global_pool="token", num_heads=n_heads, class_token=True, qkv_bias=True)
    told.expect(**expected)
    heard = {*SEEN, *expected, *(name for name in told if "drop" in name)}  # drops in training only
    if strange := told.keys() - heard:
        raise ValueError(
            f"{told.file} has {min(strange)} in model_args: the book doesn't know what that does."
        )


def _shape(weights: Weights, name: str, n_axes: int, folder: Path) -> tuple[int, ...]:
    if name not in weights or weights[name].dim() != n_axes or 0 in weights[name].shape:
        found = tuple(weights[name].shape) if name in weights else "missing"
        raise ValueError(f"In {folder} the weight {name} of {n_axes} axes is {found}.")
    return tuple(weights[name].shape)


def _n_classes(weights: Weights, layout: Layout, folder: Path) -> int:
    """Return how many classes the head tells apart: 0 if there is no head."""
    name = f"{layout.output}.weight"
    return _shape(weights, name, 2, folder)[0] if name in weights else 0


# Places -------------------------------------------------------------------------------------------


def _places(layout: Layout, model: VisionTransformer) -> dict[str, Tensor]:
    embedding = model.encoder.embedding
    return {
        layout.class_token: embedding.symbols.class_token[None, None],
        layout.positions: embedding.positions.table[None],
        f"{layout.patches}.weight": kernels(embedding.symbols),
        f"{layout.patches}.bias": embedding.symbols.linear.bias,
        **of(layout.norm, model.encoder.norm),
        **of(layout.output, model.output),
        **block_places(layout.blocks, model.encoder),
    }


def kernels(embedding: PatchEmbedding) -> Tensor:
    """Return a view of the matrix as a convolution's weights, (D, C, P, P)."""
    P = embedding.patch_size
    return embedding.linear.weight.unflatten(1, (embedding.channels, P, P))


def block_places(names: Blocks, encoder: Encoder) -> dict[str, Tensor]:
    """Return the places of all blocks' weights by their published names."""
    places = {}
    for i, block in enumerate(encoder.blocks):
        name, attention, f = names.name.format(i), block.self_attention, block.feed_forward
        *inputs, output = (f"{name}.{part}" for part in names.attention)
        if len(inputs) == 1:
            places |= of(output, attention.W_o)
            places |= {f"{inputs[0]}.weight": attention.W_in, f"{inputs[0]}.bias": attention.b_in}
        else:
            places |= attention_places(attention, [*inputs, output])
        for part, layer in zip(names.feed_forward, (f.W_1, f.W_2), strict=True):
            places |= of(f"{name}.{part}", layer)
        for part, around in zip(names.norms, block.residuals, strict=True):
            places |= of(f"{name}.{part}", around.norm)
    return places
