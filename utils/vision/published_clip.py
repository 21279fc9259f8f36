"""Day 12: CLIP as it is published, in the book's blocks: both encoders, and what joins them."""

from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from utils.language.folders import (
    ACTIVATION,
    Places,
    filled,
    of,
    read_config,
    read_weights,
    renamed,
)
from utils.language.layers import UnscaledEmbedding
from utils.tokens.tables import PublishedConfig
from utils.transformer import Parts
from utils.vision.clip import CLIP
from utils.vision.published import Blocks, block_places, kernels, tower_config
from utils.vision.text import CausalTextEncoder, QuickFeedForward
from utils.vision.vit import VisionTransformer

ACTIVATIONS = {name: (ours, {}) for name, ours in ACTIVATION.items()} | {
    "quick_gelu": ("gelu", {"feed_forward": QuickFeedForward})
}
END, WRONG_END = 49407, 2  # where a config doesn't say it; what older ones say of any vocabulary
BLOCKS = Blocks(
    "{}.encoder.layers.{}",
    ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj"),
    ("mlp.fc1", "mlp.fc2"),
    ("layer_norm1", "layer_norm2"),
)


@torch.no_grad()
def load_clip(folder: Path | str, dtype: torch.dtype = torch.float32) -> CLIP:
    """Read CLIP (Radford et al., 2021), or a model of its layout, from config.json and weights.

    A Vision Transformer with a norm before its blocks, too, an encoder of texts with a causal mask,
    and a matrix without a bias behind each. `encode_texts` finds a text's end by its number, or, as
    older configs ask for, takes the largest number for it. A temperature below 0.01 counts as 0.01.
    The model is in evaluation mode.
    Raises: ValueError if the folder, a file or a weight is missing or damaged, or belongs to
        another kind of model.
    """
    folder = Path(folder)
    told = read_config(folder, "clip")
    weights = renamed(read_weights(folder), _name, folder)
    return filled(lambda: _built(told), _places, weights, folder, dtype)


def _name(name: str) -> str:
    """Some files count the positions, which is no weight."""
    return "" if name.endswith(".position_ids") else name


def _built(told: PublishedConfig) -> CLIP:
    E, of_image, of_text = (
        told.size("projection_dim"),
        told.table("vision_config"),
        told.table("text_config"),
    )
    activation, parts = _parts(of_image)
    image_encoder = VisionTransformer(
        tower_config(of_image, activation),
        channels=of_image.size_or("num_channels", 3),
        image_size=of_image.size("image_size"),
        patch_size=of_image.size("patch_size"),
        n_classes=E,
        parts=parts,
    )
    embedding, output = image_encoder.encoder.embedding, image_encoder.output
    cut = embedding.symbols
    cut.linear = nn.Linear(cut.linear.in_features, cut.linear.out_features, bias=False)
    image_encoder.output = nn.Linear(output.in_features, E, bias=False)
    norm = parts.norm(output.in_features)
    image_encoder.encoder.embedding = nn.Sequential(embedding, norm)
    activation, parts = _parts(of_text)
    config = tower_config(
        of_text,
        activation,
        vocab_size=of_text.size("vocab_size"),
        max_len=of_text.size("max_position_embeddings"),
    )
    end = of_text.get("eos_token_id", END)
    if type(end) is not int or not 0 <= end < config.vocab_size:
        raise of_text.unlike("eos_token_id", f"an id from 0 to {config.vocab_size - 1}")
    end = None if end == WRONG_END else end
    text_encoder = CausalTextEncoder(config, E, parts._replace(embedding=UnscaledEmbedding), end)
    return CLIP(image_encoder, text_encoder)


def _parts(told: PublishedConfig) -> tuple[str, Parts]:
    activation, other = told.choice("hidden_act", ACTIVATIONS)
    return activation, Parts(norm=partial(nn.LayerNorm, eps=told.number("layer_norm_eps")), **other)


def _places(model: CLIP) -> Places:
    image, text = model.image_encoder, model.text_encoder
    embedding, norm = image.encoder.embedding
    places: dict[str, Tensor] = {
        "logit_scale": model.log_scale,
        "vision_model.embeddings.class_embedding": embedding.symbols.class_token,
        "vision_model.embeddings.patch_embedding.weight": kernels(embedding.symbols),
        "vision_model.embeddings.position_embedding.weight": embedding.positions.table,
        **of("vision_model.pre_layrnorm", norm),  # as it is spelt
        **of("vision_model.post_layernorm", image.encoder.norm),
        **of("visual_projection", image.output),
        "text_model.embeddings.token_embedding.weight": text.encoder.embedding.symbols.weight,
        "text_model.embeddings.position_embedding.weight": text.encoder.embedding.positions.table,
        **of("text_model.final_layer_norm", text.encoder.norm),
        **of("text_projection", text.output),
    }
    for tower, encoder in (("vision_model", image.encoder), ("text_model", text.encoder)):
        names = BLOCKS._replace(name=BLOCKS.name.format(tower, "{}"))
        places |= block_places(names, encoder)
    return places, {}
