"""Day 6: whole models of the same blocks: encoder-decoder, encoder-only, decoder-only.

Shapes: ids (B, T), of a source (B, S), padded with PAD behind their ends; lengths (B,) count what
is real. Inside, sequences are (B, T, D). Weights of attention are (B, L, h, T, S), for L blocks.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from torch import Tensor, nn

from utils.arguments import check_sequences, check_sizes, check_target
from utils.attention import Memory, blanked, padding_mask
from utils.recurrent import State
from utils.self_attention import Cache
from utils.seq2seq import BOS, EOS
from utils.transformer.config import PAPERS, Parts, TransformerConfig
from utils.transformer.stacks import (
    Decoder,
    Encoder,
    as_caches,
    as_state,
    empty_state,
    output_layer,
    places,
)

# Encoder and decoder ------------------------------------------------------------------------------


class AttentionWeights(NamedTuple):
    """Who looked at what, in all heads of all blocks."""

    source: Tensor  # the encoder at itself: (B, L, h, S, S)
    target: Tensor  # the decoder at itself: (B, L, h, T, T)
    cross: Tensor  # the decoder at the source: (B, L, h, T, S)


class Transformer(nn.Module):
    """Encoder and decoder: a model of p(target | source) (Vaswani et al., 2017).

    It is called as Day 4's `Seq2Seq` is: `greedy_decode` and `beam_search` work on it too.
    Shapes: source (B, S), lengths (B,), target_in (B, T) to logits (B, T, V), and the alignment
    (B, T, S), the mean over all heads, if weights are needed.
    Raises: ValueError if a source or the target is empty, the lengths do not fit, or a sequence
    goes beyond learned positions.
    """

    bos, eos = BOS, EOS

    def __init__(self, config: TransformerConfig, parts: Parts = PAPERS):
        super().__init__()
        self.encoder = Encoder(config, parts)
        self.decoder = Decoder(config, parts)
        if config.tied and config.target_vocab_size is None:
            self.encoder.embedding.symbols.weight = self.decoder.embedding.symbols.weight

    def encode(self, source: Tensor, lengths: Tensor) -> tuple[State, Memory]:
        """Return the decoder's first state, and the source prepared to be looked at."""
        annotations, _ = self.encoder(source, lengths)
        mask = padding_mask(lengths, source.shape[1])[:, None]  # (B, 1, 1, S)
        return self.decoder.start(len(source)), self.decoder.remember(annotations, mask)

    def forward(
        self, source: Tensor, lengths: Tensor, target_in: Tensor, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        check_target(target_in, len(source))
        state, memory = self.encode(source, lengths)
        logits, _, weights = self.decoder(target_in, state, memory, need_weights)
        return (logits, weights) if need_weights else logits

    def attention_weights(
        self, source: Tensor, lengths: Tensor, target_in: Tensor
    ) -> AttentionWeights:
        """Return all weights of attention, head by head."""
        check_target(target_in, len(source))
        annotations, of_source = self.encoder(source, lengths, need_weights=True)
        memory = self.decoder.remember(annotations, padding_mask(lengths, source.shape[1])[:, None])
        x = self.decoder.embedding(target_in)
        _, of_target, cross = self.decoder.run(x, memory, need_weights=True)
        return AttentionWeights(of_source, of_target, cross)

    def load_library(self, library: nn.Transformer) -> None:
        """Take the weights of nn.Transformer, which has neither embeddings nor an output.

        Raises: ValueError as `Encoder.load_library` does; with `norm="post"` it takes last_norm.
        """
        self.encoder.load_library(library.encoder)
        self.decoder.load_library(library.decoder)


# One of the two ---------------------------------------------------------------------------------


def mean_pool(x: Tensor, lengths: Tensor | None = None) -> Tensor:
    """Return the mean of what is real in each sequence, (B, D). Shapes: x (B, T, D), lengths (B,).

    NaN at padding reaches nothing.
    Raises: ValueError if there is no step, or the lengths do not fit.
    """
    check_sequences(x, x.shape[-1], lengths)
    if lengths is None:
        return x.mean(dim=1)
    real = padding_mask(lengths, x.shape[1])  # (B, 1, T)
    return (real.to(x) @ blanked(x, real))[:, 0] / lengths[:, None]


class EncoderOnly(nn.Module):
    """Read a sequence in both directions, then say which class it belongs to.

    The model is BERT's (Devlin et al., 2019), with the mean over the annotations in place of a
    symbol that is put before the sequence for the purpose.
    pool: makes one vector (B, D) of annotations (B, T, D) and lengths (B,).
    Shapes: ids (B, T) and lengths (B,) to logits (B, n_classes), and all weights (B, L, h, T, T) if
    they are needed.
    Raises: ValueError as `Encoder` does.
    """

    def __init__(
        self,
        config: TransformerConfig,
        n_classes: int,
        parts: Parts = PAPERS,
        pool: Callable[..., Tensor] = mean_pool,
    ):
        super().__init__()
        check_sizes(n_classes=n_classes)
        self.encoder = Encoder(config, parts)
        self.pool = pool
        self.output = nn.Linear(config.d_model, n_classes)

    def forward(
        self, ids: Tensor, lengths: Tensor | None = None, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        x, weights = self.encoder(ids, lengths, need_weights)
        logits = self.output(self.pool(x, lengths))
        return (logits, weights) if need_weights else logits


class Tagger(nn.Module):
    """Name each position's class, after looking in both directions, or at the past if causal.

    Where a position holds several symbols, their embeddings are summed up.
    Shapes: ids (B, T) or (B, T, n) to logits (B, T, n_classes), and all weights (B, L, h, T, T) if
    they are needed.
    Raises: ValueError as `Encoder` does, or if ids have another number of axes.
    """

    def __init__(self, config: TransformerConfig, n_classes: int, is_causal: bool = False):
        super().__init__()
        check_sizes(n_classes=n_classes)
        self.is_causal = is_causal
        self.encoder = Encoder(config)
        self.output = nn.Linear(config.d_model, n_classes)

    def forward(self, ids: Tensor, need_weights: bool = False) -> Tensor | tuple[Tensor, Tensor]:
        if ids.dim() not in (2, 3) or 0 in ids.shape[1:]:
            raise ValueError(f"Expected ids (B, T) or (B, T, n), got {tuple(ids.shape)}.")
        embedding = self.encoder.embedding
        x = embedding.symbols(ids.flatten(1)).unflatten(1, (ids.shape[1], -1)).sum(dim=2)
        x = x if embedding.positions is None else embedding.positions(x)
        x, weights = self.encoder.run(
            embedding.dropout(x), is_causal=self.is_causal, need_weights=need_weights
        )
        logits = self.output(x)
        return (logits, weights) if need_weights else logits


class DecoderOnly(nn.Module):
    """Predict each next symbol from those before it: a language model (Radford et al., 2018).

    The encoder's blocks with a causal mask. The state lets a text go on where it was left.
    Shapes: ids (B, T) to logits (B, T, V) and the state, and all weights (B, L, h, T, T so far) if
    they are needed. The logits at step t are about the symbol at t + 1. In a batch, padding stands
    in front; lengths (B,) count what is real, the state's symbols too.
    Raises: ValueError if there is no symbol, lengths do not fit, learned positions end, or the
    state belongs to another batch.
    """

    def __init__(self, config: TransformerConfig, parts: Parts = PAPERS):
        super().__init__()
        self.config = config
        self.stack = Encoder(config, parts)
        self.output = output_layer(config, config.vocab_size, self.stack.embedding)

    def forward(
        self, ids: Tensor, state: State | None = None, need_weights: bool = False, lengths=None
    ) -> tuple[Tensor, State] | tuple[Tensor, State, Tensor]:
        state = empty_state(self.config, len(ids), self.output.weight) if state is None else state
        caches = as_caches(state, self.config.n_layers)
        logits, weights = self.read(ids, caches, need_weights, lengths)
        state = as_state(caches)
        return (logits, state, weights) if need_weights else (logits, state)

    def read(
        self, ids: Tensor, caches: Sequence[Cache], need_weights: bool = False, lengths=None
    ) -> tuple[Tensor, Tensor | None]:
        """Return the logits of what follows what the caches hold, one cache for each block."""
        start, mask = places(ids, caches[0].length, lengths)
        x = self.stack.embedding(ids, start)
        x, maps = self.stack.run(x, mask, is_causal=True, need_weights=need_weights, caches=caches)
        return self.output(x), maps
