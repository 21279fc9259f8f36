"""Day 9: GPT-2's and Llama's published weights, in the book's blocks.

A layout is a table: each published name, and the place in our model to which its numbers belong.
Where a matrix is published the other way round, or in other pieces, the place is a view of ours.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from utils.language.folders import (
    ACTIVATION,
    DEEPEST,
    UNTIED,
    Places,
    Weights,
    filled,
    of,
    read_config,
    read_weights,
    renamed,
)
from utils.language.layers import GatedFeedForward, RMSNorm, UnscaledEmbedding
from utils.language.rotary import RotaryHalves, stretch_evenly, stretch_slow
from utils.self_attention import MultiHeadAttention
from utils.tokens.tables import PublishedConfig
from utils.transformer import DecoderOnly, Parts, TransformerConfig

CONTEXT = "original_max_position_embeddings"
STRETCHES = {  # published name: what stretches the waves, and its arguments by their keys
    "default": (None, {}),
    "linear": (stretch_evenly, {"factor": "factor"}),
    "llama3": (
        stretch_slow,
        {
            "factor": "factor",
            "low_freq_factor": "low",
            "high_freq_factor": "high",
            CONTEXT: "context",
        },
    ),
}

# GPT-2 --------------------------------------------------------------------------------------------


@torch.no_grad()
def load_gpt2(folder: Path | str, dtype: torch.dtype = torch.float32) -> DecoderOnly:
    """Read GPT-2 (Radford et al., 2019), or a model of its layout, from config.json and weights.

    Learned positions, norms before the sublayers and one at the end, GELU by tanh, an embedding
    that is not scaled and, unless the config says otherwise, is the output's too. Dropout is left
    out, and the model is in evaluation mode.
    Raises: ValueError if the folder, a file or a weight is missing or damaged, or belongs to
        another kind of model.
    """
    folder = Path(folder)
    told = read_config(folder, "gpt2")
    told.expect(
        scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False, add_cross_attention=False
    )
    D = told.size("n_embd")
    config = TransformerConfig(
        vocab_size=told.size("vocab_size"),
        tied=told.flag("tie_word_embeddings", True),
        d_model=D,
        n_heads=told.size("n_head"),
        d_ff=told.size_or("n_inner", 4 * D),
        n_layers=told.size("n_layer", DEEPEST),
        activation=told.choice("activation_function", ACTIVATION),
        norm="pre",
        positions="learned",
        max_len=told.size("n_positions"),
        dropout=0.0,
    )
    norm = partial(nn.LayerNorm, eps=told.number("layer_norm_epsilon"))
    parts = Parts(norm=norm, embedding=UnscaledEmbedding)
    weights = renamed(read_weights(folder), _gpt2_name, folder)
    return _filled(config, parts, _gpt2_places, weights, folder, dtype)


def _gpt2_name(name: str) -> str:
    """Some files have a prefix, and the causal mask, which is no weight."""
    is_mask = name.endswith((".attn.bias", ".attn.masked_bias"))
    return "" if is_mask else name.removeprefix("transformer.")


def _gpt2_places(model: DecoderOnly) -> dict[str, Tensor]:
    embedding = model.stack.embedding
    places = {"wte.weight": embedding.symbols.weight, "wpe.weight": embedding.positions.table}
    places |= of("ln_f", model.stack.norm)
    for i, block in enumerate(model.stack.blocks):
        attention, feed_forward = block.self_attention, block.feed_forward
        places |= {
            f"h.{i}.attn.c_attn.weight": attention.W_in.T,  # published as x W, ours is W x
            f"h.{i}.attn.c_attn.bias": attention.b_in,
            **_turned(f"h.{i}.attn.c_proj", attention.W_o),
            **_turned(f"h.{i}.mlp.c_fc", feed_forward.W_1),
            **_turned(f"h.{i}.mlp.c_proj", feed_forward.W_2),
            **of(f"h.{i}.ln_1", block.residuals[0].norm),
            **of(f"h.{i}.ln_2", block.residuals[1].norm),
        }
    return places


def _turned(name: str, layer: nn.Linear) -> dict[str, Tensor]:
    return {f"{name}.weight": layer.weight.T, f"{name}.bias": layer.bias}


# Llama --------------------------------------------------------------------------------------------


@torch.no_grad()
def load_llama(folder: Path | str, dtype: torch.dtype = torch.float32) -> DecoderOnly:
    """Read Llama (Touvron et al., 2023), or a model of its layout, from config.json and weights.

    RMSNorm, SwiGLU, grouped queries, rotary positions in halves, no biases; the output is the
    embedding only where the config says so. The model is in evaluation mode.
    Raises: ValueError as `load_gpt2` does.
    """
    folder = Path(folder)
    told = read_config(folder, "llama")
    told.expect(attention_bias=False, mlp_bias=False)
    config = TransformerConfig(
        vocab_size=told.size("vocab_size"),
        tied=told.flag("tie_word_embeddings", False),
        d_model=told.size("hidden_size"),
        n_heads=told.size("num_attention_heads"),
        n_kv_heads=told.size_or("num_key_value_heads", None),
        d_ff=told.size("intermediate_size"),
        n_layers=told.size("num_hidden_layers", DEEPEST),
        activation=told.choice("hidden_act", ACTIVATION),
        norm="pre",
        positions="rotary",
        max_len=told.size("max_position_embeddings"),
        dropout=0.0,
    )
    d_k = config.d_model // config.n_heads
    if told.get("head_dim") is not None:
        told.expect(head_dim=d_k)
    parts = Parts(
        norm=partial(RMSNorm, eps=told.number("rms_norm_eps")),
        feed_forward=GatedFeedForward,
        attention=partial(MultiHeadAttention, bias=False),
        embedding=UnscaledEmbedding,
        rotary=_rotary(told),
    )
    weights = {  # some files hold the frequencies, which the config gives
        name: weight
        for name, weight in read_weights(folder).items()
        if not name.endswith(".rotary_emb.inv_freq")
    }
    return _filled(config, parts, _llama_places, weights, folder, dtype)


def _rotary(told: PublishedConfig) -> partial[RotaryHalves]:
    """Return what makes the rotary positions, from either way in which configs tell of them."""
    rope, older = told.table("rope_parameters"), told.table("rope_scaling")
    if rope and older:
        raise ValueError(
            f"{told.file} has rope_parameters and rope_scaling, and one of them is right: take the "
            "other out."
        )
    rope = rope or older
    base = told.get("rope_theta", rope.get("rope_theta", 10_000.0))
    rope.setdefault("rope_theta", base)
    rope.expect(partial_rotary_factor=1.0, rope_theta=base)
    rope.setdefault("rope_type", rope.pop("type", "default"))
    stretch, keys = rope.choice("rope_type", STRETCHES)
    if strange := rope.keys() - {*keys, "rope_type", "type", "rope_theta", "partial_rotary_factor"}:
        raise ValueError(
            f"{told.file} has {min(strange)} beside rope_type = {rope['rope_type']!r}: the book "
            "doesn't know what that does."
        )
    if CONTEXT in keys and told.get(CONTEXT) is not None:  # it may stand beside the table, too
        rope.setdefault(CONTEXT, told[CONTEXT])
        rope.expect(**{CONTEXT: told[CONTEXT]})
    numbers = {ours: rope.number(theirs) for theirs, ours in keys.items()}
    if "low" in numbers and not numbers["low"] < numbers["high"]:
        raise ValueError(
            f"{told.file} has low_freq_factor = {numbers['low']}: it is below high_freq_factor, "
            f"which is {numbers['high']} there."
        )
    stretch = stretch and partial(stretch, **numbers)
    return partial(RotaryHalves, base=rope.number("rope_theta"), stretch=stretch)


def _llama_places(model: DecoderOnly) -> dict[str, Tensor]:
    places = {"model.embed_tokens.weight": model.stack.embedding.symbols.weight}
    places |= of("model.norm", model.stack.norm)
    for i, block in enumerate(model.stack.blocks):
        layer, attention, feed_forward = (
            f"model.layers.{i}",
            block.self_attention,
            block.feed_forward,
        )
        for name, rows in zip("qkv", attention.W_in.split(attention.rows), strict=True):
            places[f"{layer}.self_attn.{name}_proj.weight"] = rows
        places |= {
            **of(f"{layer}.self_attn.o_proj", attention.W_o),
            **of(f"{layer}.mlp.gate_proj", feed_forward.W_gate),
            **of(f"{layer}.mlp.up_proj", feed_forward.W_up),
            **of(f"{layer}.mlp.down_proj", feed_forward.W_down),
            **of(f"{layer}.input_layernorm", block.residuals[0].norm),
            **of(f"{layer}.post_attention_layernorm", block.residuals[1].norm),
        }
    return places


# Both ---------------------------------------------------------------------------------------------


def _filled(
    config: TransformerConfig,
    parts: Parts,
    places: Callable[[DecoderOnly], dict[str, Tensor]],
    weights: Weights,
    folder: Path,
    dtype: torch.dtype,
) -> DecoderOnly:
    """Fill a model, its output too, which may be published where it is the embedding as well."""

    def with_output(model: DecoderOnly) -> Places:
        name, output = "lm_head.weight", model.output.weight
        if config.tied:
            return places(model), {name: (output, UNTIED)}
        return places(model) | {name: output}, {}

    return filled(lambda: DecoderOnly(config, parts), with_output, weights, folder, dtype)
