"""Day 6: blocks one above the other: the encoder, and the decoder with what it has written so far.

Shapes: ids (B, T), of a source (B, S), padded with PAD behind their ends; lengths (B,) count what
is real. Inside, sequences are (B, T, D). Weights of attention are (B, L, h, T, S), for L blocks.

A decoder's state is a pair of keys and values (B, n_kv_heads, T so far, d_k) for each block.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from utils.arguments import check_lengths, check_sequences
from utils.attention import Memory, padding_mask
from utils.recurrent import State
from utils.self_attention import Cache
from utils.transformer.blocks import DecoderBlock, EncoderBlock
from utils.transformer.config import PAPERS, Parts, TransformerConfig
from utils.transformer.layers import InputEmbedding

# What has been written ----------------------------------------------------------------------------


class GrowingCache:
    """One block's keys and values so far, as a cache for `MultiHeadAttention`.

    What is appended makes new tensors, so that a beam may go on from one state in several ways, and
    gradients pass.
    Raises: ValueError if what is appended has another batch size.
    """

    def __init__(self, key: Tensor, value: Tensor):
        self.key, self.value = key, value

    @property
    def length(self) -> int:
        return self.key.shape[2]

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        if len(key) != len(self.key):
            raise ValueError(
                f"The state belongs to {len(self.key)} sequences, and {len(key)} are to go on."
            )
        if self.length == 0:  # nothing to copy
            self.key, self.value = key, value
        else:
            self.key = torch.cat([self.key, key], dim=2)
            self.value = torch.cat([self.value, value], dim=2)
        return self.key, self.value


def empty_state(config: TransformerConfig, batch_size: int, like: Tensor) -> State:
    """Return the state before the first symbol: no keys and no values, for each block."""
    n_heads = config.n_kv_heads or config.n_heads
    nothing = like.new_empty(batch_size, n_heads, 0, config.d_model // config.n_heads)
    return ((nothing, nothing),) * config.n_layers


def as_caches(state: State, n_layers: int) -> list[GrowingCache]:
    """Return a cache for each block, which holds its part of the state.

    Raises: ValueError if the state is of more or fewer blocks.
    """
    if len(state) != n_layers:
        raise ValueError(f"Expected the state of {n_layers} blocks, got {len(state)}.")
    return [GrowingCache(*pair) for pair in state]


def places(ids: Tensor, held: int, lengths: Tensor | None) -> tuple[int | Tensor, Tensor | None]:
    """Return where ids (B, T) behind those that are held begin, and a mask of what is real.

    lengths: how many symbols of each sequence are real, held ones too, (B,); what stands in front
    is padding. Then each sequence has its own beginning, (B,), and the mask is (B, 1, 1, S).
    Raises: ValueError if the lengths do not fit.
    """
    if lengths is None:
        return held, None
    S = held + ids.shape[1]
    check_lengths(lengths, len(ids), S)
    padding = S - lengths
    real = torch.arange(S, device=lengths.device) >= padding[:, None]
    return held - padding, real[:, None, None]


def as_state(caches: Sequence[GrowingCache]) -> State:
    """Return what the caches hold."""
    return tuple((cache.key, cache.value) for cache in caches)


# Stacks of blocks ---------------------------------------------------------------------------------


class Encoder(nn.Module):
    """Embed, then refine block by block (Vaswani et al., 2017, §3.1).

    Shapes: ids (B, T), lengths (B,), or None if nothing is padding, to annotations (B, T, D) and
    weights (B, L, h, T, T), or None unless they are needed. What stands at padding means nothing.
    Raises: ValueError if a sequence is empty, goes beyond learned positions, or does not fit its
    length.
    """

    def __init__(self, config: TransformerConfig, parts: Parts = PAPERS):
        super().__init__()
        c = config
        self.embedding = InputEmbedding(
            c.vocab_size, c.d_model, c.positions, c.max_len, c.dropout, parts.embedding
        )
        self.blocks = nn.ModuleList([EncoderBlock(config, parts) for _ in range(c.n_layers)])
        self.norm = config.norm_at_the_end(parts.norm)

    def forward(
        self, ids: Tensor, lengths: Tensor | None = None, need_weights: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        x = self.embedding(ids)
        check_sequences(x, x.shape[2], lengths)
        mask = None if lengths is None else padding_mask(lengths, ids.shape[1])[:, None]
        return self.run(x, mask, need_weights=need_weights)

    def run(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        is_causal: bool = False,
        need_weights: bool = False,
        caches: Sequence[Cache] | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Take what is embedded (B, T, D) through the blocks, each of which may have a cache."""
        weights = []
        for i, block in enumerate(self.blocks):
            x, of_block = block(
                x,
                mask,
                is_causal=is_causal,
                need_weights=need_weights,
                cache=None if caches is None else caches[i],
            )
            weights.append(of_block)
        return self.norm(x), torch.stack(weights, dim=1) if need_weights else None

    def load_library(self, library: nn.TransformerEncoder) -> None:
        """Take the weights of the library's blocks and last norm; the embedding stays as it is.

        Raises: ValueError as the blocks do, or if there are more or fewer of them, or of norms, or
        if they share their weights.
        """
        _load_stack(self, library)


class Decoder(nn.Module):
    """Write the target, looking back and at the source (Vaswani et al., 2017, §3.1).

    Shapes: target_in (B, T), the symbol before each step, to logits (B, T, V), the state after the
    last step, and the weights (B, T, S) with which the source was looked at, the mean over all
    heads of all blocks, if they are needed. T = 1 is a step of decoding.
    Raises: ValueError if the target is empty or goes beyond learned positions, or the state or
    memory is of another batch.
    """

    def __init__(self, config: TransformerConfig, parts: Parts = PAPERS):
        super().__init__()
        c, self.config = config, config
        V = c.target_vocab_size or c.vocab_size
        self.embedding = InputEmbedding(
            V, c.d_model, c.positions, c.max_len, c.dropout, parts.embedding
        )
        self.blocks = nn.ModuleList([DecoderBlock(config, parts) for _ in range(c.n_layers)])
        self.norm = config.norm_at_the_end(parts.norm)
        self.output = output_layer(config, V, self.embedding)

    def start(self, batch_size: int) -> State:
        """Return the state before the first step."""
        return empty_state(self.config, batch_size, self.output.weight)

    def remember(self, source: Tensor, mask: Tensor) -> Memory:
        """Prepare annotations (B, S, D) once, for all blocks and steps.

        Shapes: mask (B, 1, 1, S) to keys and values (B, L, n_kv_heads, S, d_k), and the mask.
        """
        prepared = [block.remember(source) for block in self.blocks]
        keys = torch.stack([of_block.keys for of_block in prepared], dim=1)
        values = torch.stack([of_block.values for of_block in prepared], dim=1)
        return Memory(keys, values, mask)

    def forward(
        self, target_in: Tensor, state: State, memory: Memory, need_weights: bool = False
    ) -> tuple[Tensor, State, Tensor | None]:
        caches = as_caches(state, len(self.blocks))
        x = self.embedding(target_in, start=caches[0].length)
        x, _, weights = self.run(x, memory, need_weights=need_weights, caches=caches)
        mean = weights.mean(dim=(1, 2)) if need_weights else None
        return self.output(x), as_state(caches), mean

    def run(
        self,
        x: Tensor,
        memory: Memory,
        *,
        need_weights: bool = False,
        caches: Sequence[Cache] | None = None,
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Take what is embedded (B, T, D) through the blocks, each of which may have a cache.

        Returns: features (B, T, D), and if needed all weights to itself and to the source.
        """
        keys, values = memory.keys.unbind(dim=1), memory.values.unbind(dim=1)
        weights = []
        for i, block in enumerate(self.blocks):
            x, *of_block = block(
                x,
                Memory(keys[i], values[i], memory.mask),
                need_weights=need_weights,
                cache=None if caches is None else caches[i],
            )
            weights.append(of_block)
        if not need_weights:
            return self.norm(x), None, None
        to_itself, to_source = (torch.stack(parts, dim=1) for parts in zip(*weights, strict=True))
        return self.norm(x), to_itself, to_source

    def load_library(self, library: nn.TransformerDecoder) -> None:
        """Take the weights of the library's blocks and last norm, as the encoder does."""
        _load_stack(self, library)


def output_layer(
    config: TransformerConfig, vocab_size: int, embedding: InputEmbedding
) -> nn.Linear:
    """Return the layer from features to logits; tied, its weights are the embedding's."""
    output = nn.Linear(config.d_model, vocab_size, bias=False)
    if config.tied:
        output.weight = embedding.symbols.weight
    return output


def _load_stack(stack: nn.Module, library: nn.Module) -> None:
    apart = {block for block in stack.blocks if isinstance(block, EncoderBlock)}
    if len(apart) < len(stack.blocks):
        raise ValueError(
            "The library's blocks each have weights of their own, and here blocks share theirs: "
            "load them into an Encoder."
        )
    layers, norm = getattr(library, "layers", ()), getattr(library, "norm", None)
    ours = len(stack.blocks), type(stack.norm) is not nn.Identity
    theirs = len(layers), norm is not None
    if ours != theirs:
        counted = [
            f"{n} blocks {'with' if has_norm else 'without'} a last norm"
            for n, has_norm in (ours, theirs)
        ]
        raise ValueError(f"Expected {counted[0]}, got {counted[1]}: set n_layers or last_norm.")
    if norm is not None and (type(norm), norm.eps) != (type(stack.norm), stack.norm.eps):
        raise ValueError(
            f"The last norms compute different things: {stack.norm} here, {norm} in the library's."
        )
    for block, layer in zip(stack.blocks, layers, strict=True):
        block.check_library(layer)
    for block, layer in zip(stack.blocks, layers, strict=True):
        block.load_weights(layer)
    if norm is not None:
        stack.norm.load_state_dict(norm.state_dict())
