"""Day 10: T5's published weights, in the book's blocks."""

from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from utils.language import GatedFeedForward, RMSNorm
from utils.language.folders import (
    DEEPEST,
    UNTIED,
    Places,
    filled,
    of,
    read_config,
    read_weights,
)
from utils.pretraining.published import attention_places
from utils.pretraining.text_to_text import PLAIN, TextToText, TextToTextConfig
from utils.seq2seq import PAD
from utils.tokens.tables import PublishedConfig
from utils.transformer import DecoderBlock, EncoderBlock

FEED_FORWARDS = {  # published name: ours, and the activation
    "relu": (PLAIN, "relu"),
    "gated-gelu": (GatedFeedForward, "gelu_tanh"),
    "gated-silu": (GatedFeedForward, "silu"),
}
OUTPUT = "lm_head.weight"
STRAY = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"  # used nowhere


@torch.no_grad()
def load_t5(folder: Path | str, dtype: torch.dtype = torch.float32) -> TextToText:
    """Read T5 (Raffel et al., 2020), 1.0 or 1.1, from config.json and weights.

    In 1.0 a plain feed-forward layer, and an output that is the embedding, behind features divided
    by √d_model; in 1.1 GEGLU, and an output of its own. The model is in evaluation mode.
    Raises: ValueError as `load_bert` does.
    """
    folder = Path(folder)
    told = read_config(folder, "t5")
    weights = {name: weight for name, weight in read_weights(folder).items() if name != STRAY}
    tied = told.flag("tie_word_embeddings", True)
    if "scale_decoder_outputs" in told:  # newer configs, which say "tied" of every T5
        tied = OUTPUT not in weights

    def with_copies(model: TextToText) -> Places:
        table, output = model.encoder.embedding.symbols.weight, model.decoder.output.weight
        names = (f"{half}.embed_tokens.weight" for half in ("encoder", "decoder"))
        copies = {name: (table, "two embeddings") for name in names}
        places = {"shared.weight": table, **_places(model)}
        if tied:
            copies[OUTPUT] = output, UNTIED
        else:
            places[OUTPUT] = output
        return places, copies

    return filled(lambda: _built(told, tied), with_copies, weights, folder, dtype)


def _built(told: PublishedConfig, tied: bool) -> TextToText:
    """Return the model that a config tells of, with weights as they begin."""
    told.expect(is_encoder_decoder=True, pad_token_id=PAD)
    told.setdefault("feed_forward_proj", "relu")
    feed_forward, activation = told.choice("feed_forward_proj", FEED_FORWARDS)
    config = TextToTextConfig(
        vocab_size=told.size("vocab_size"),
        tied=tied,
        d_model=told.size("d_model"),
        n_heads=told.size("num_heads"),
        d_k=told.size("d_kv"),
        d_ff=told.size("d_ff"),
        n_layers=told.size("num_layers", DEEPEST),
        n_decoder_layers=told.size_or("num_decoder_layers", None, DEEPEST),
        activation=activation,
        n_buckets=told.size("relative_attention_num_buckets"),
        max_distance=told.size_or("relative_attention_max_distance", 128),
        damped=told.flag("scale_decoder_outputs", told.flag("tie_word_embeddings", True)),
        start=told["decoder_start_token_id"],
        end=told.get("eos_token_id", 1),
        dropout=0.0,
    )
    norm = partial(RMSNorm, eps=told.number("layer_norm_epsilon"))
    return TextToText(config, norm, feed_forward)


def _places(model: TextToText) -> dict[str, Tensor]:
    places = {}
    for half, stack in (("encoder", model.encoder), ("decoder", model.decoder)):
        bias = stack.blocks[0].self_attention.attend.bias
        first = f"{half}.block.0.layer.0.SelfAttention.relative_attention_bias"
        places |= {f"{first}.weight": bias.table, **of(f"{half}.final_layer_norm", stack.norm)}
        for i, block in enumerate(stack.blocks):
            places |= _block_places(block, f"{half}.block.{i}.layer")
    return places


def _block_places(block: EncoderBlock, name: str) -> dict[str, Tensor]:
    attentions = {"SelfAttention": block.self_attention}
    if isinstance(block, DecoderBlock):
        attentions["EncDecAttention"] = block.cross_attention
    f, last = block.feed_forward, len(attentions)
    if isinstance(f, GatedFeedForward):
        layers = {"wi_0": f.W_gate, "wi_1": f.W_up, "wo": f.W_down}
    else:
        layers = {"wi": f.W_1, "wo": f.W_2}
    places = {}
    for part, layer in layers.items():
        places |= of(f"{name}.{last}.DenseReluDense.{part}", layer)
    for i, (kind, attention) in enumerate(attentions.items()):
        places |= attention_places(attention, [f"{name}.{i}.{kind}.{part}" for part in "qkvo"])
    for i, around in enumerate(block.residuals):
        places |= of(f"{name}.{i}.layer_norm", around.norm)
    return places
