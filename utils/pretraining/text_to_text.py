"""Day 10: T5, an encoder and a decoder that take every task as text to text.

Shapes: source (B, S), padded behind its ends, lengths (B,); target (B, T). Inside (B, T, D).
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial

from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_sizes
from utils.language import RMSNorm
from utils.positions import Rotary
from utils.pretraining.relative import RelativeBias, UnscaledAttention
from utils.recurrent import Embedding
from utils.self_attention import BiasedAttention
from utils.seq2seq import EOS, PAD, shift
from utils.transformer import (
    CrossAttention,
    Decoder,
    Encoder,
    FeedForward,
    Parts,
    Transformer,
    TransformerConfig,
)
from utils.transformer.layers import Norm

PLAIN = partial(FeedForward, bias=False)  # T5 1.1 has a GatedFeedForward of "gelu_tanh" instead


@dataclass(frozen=True)
class TextToTextConfig(TransformerConfig):
    """The sizes and choices of a T5: norms come before the sublayers, positions into the scores.

    d_k: width of a head; h·d_k need not be d_model.
    n_decoder_layers: the decoder's blocks, if not as many as the encoder's.
    n_buckets, max_distance: as in `relative_buckets`.
    tied: the output shares the embedding's weights. Encoder and decoder always share theirs.
    damped: features are divided by √d_model before the output: the embedding's rows, which it may
        share, begin with a deviation of 1.
    start: what stands before the target: the decoder begins with it. end: what ends a target.
    Raises: ValueError as `TransformerConfig` does, or for norms, heads of keys, a second vocabulary
        or positions of another kind.
    """

    norm: str = "pre"
    positions: None = None
    d_k: int = 64
    n_decoder_layers: int | None = None
    n_buckets: int = 32
    max_distance: int = 128
    damped: bool = True
    start: int = PAD
    end: int = EOS

    def __post_init__(self):
        own = {field.name: getattr(self, field.name) for field in fields(TransformerConfig)}
        own |= {"n_heads": 1, "n_kv_heads": None}  # all is checked but that heads divide the width
        TransformerConfig(**own)
        check_sizes(n_heads=self.n_heads, d_k=self.d_k)
        if self.n_decoder_layers is not None:
            check_sizes(n_decoder_layers=self.n_decoder_layers)
        of_t5 = {"norm": "pre", "positions": None, "n_kv_heads": None, "target_vocab_size": None}
        for name, value in of_t5.items():
            if getattr(self, name) != value:
                raise ValueError(
                    f"T5 has {name}={value!r}, got {getattr(self, name)!r}: leave {name} out."
                )
        for name in ("start", "end"):
            symbol = getattr(self, name)
            if type(symbol) is not int or not 0 <= symbol < self.vocab_size:
                raise ValueError(
                    f"The {name} is a symbol from 0 to {self.vocab_size - 1}, got {symbol!r}."
                )
        if self.end in (self.start, PAD):
            raise ValueError(
                f"The end {self.end} is the start or padding, too: no target would be read to its "
                "end, so take a symbol of its own."
            )

    def attention(
        self, kind: Callable[..., nn.Module], rotary: Callable[[int], nn.Module] = Rotary
    ) -> nn.Module:
        kind = UnscaledAttention if kind is CrossAttention else kind
        return kind(self.d_model, self.n_heads, d_k=self.d_k, dropout=self.dropout)


class DampedOutput(nn.Module):
    """Logits W x / √d_model (Raffel et al., 2020, in the published code).

    Shapes: x (..., d_model) to (..., V).
    """

    def __init__(self, weight: nn.Parameter):
        super().__init__()
        self.weight = weight

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x * self.weight.shape[1] ** -0.5, self.weight)


class TextToText(Transformer):
    """T5: Day 6's encoder and decoder with other parts (Raffel et al., 2020, §2.1).

    RMSNorm before the sublayers, no biases, an embedding that is not scaled, and in place of
    positions a bias for each distance, one table for all of the encoder's layers and one for the
    decoder's.
    norm: makes the norm of a width. feed_forward: called as `FeedForward` is.
    Shapes: source (B, S), lengths (B,) and what the decoder reads (B, T), as `shift` makes it of a
    target, to logits (B, T, V).
    """

    def __init__(
        self,
        config: TextToTextConfig,
        norm: Norm = RMSNorm,
        feed_forward: Callable[..., nn.Module] = PLAIN,
    ):
        super(Transformer, self).__init__()  # the two halves have other parts
        c, self.config = config, config
        self.bos, self.eos = c.start, c.end

        def parts(is_causal: bool) -> Parts:
            bias = RelativeBias(c.n_heads, c.n_buckets, c.max_distance, is_causal)
            attention = partial(UnscaledAttention, attend=BiasedAttention(bias))
            return Parts(norm, feed_forward, attention, Embedding)

        self.encoder = Encoder(c, parts(is_causal=False))
        n_layers = c.n_decoder_layers or c.n_layers
        self.decoder = Decoder(replace(c, n_layers=n_layers), parts(is_causal=True))
        self.encoder.embedding.symbols = self.decoder.embedding.symbols
        if c.damped:
            self.decoder.output = DampedOutput(self.decoder.output.weight)

    def shift(self, target: Tensor) -> Tensor:
        """Return what the decoder reads (B, T): the start, then the target without its last."""
        return shift(target, self.bos)
