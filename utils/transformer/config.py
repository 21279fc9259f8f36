"""Day 6: the sizes and choices of a Transformer, and what makes the parts of its blocks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from torch import nn

from utils.arguments import check_choice, check_head_counts, check_share, check_sizes
from utils.positions import Rotary
from utils.self_attention import MultiHeadAttention
from utils.transformer.layers import (
    ACTIVATIONS,
    NORMS,
    POSITIONS,
    CrossAttention,
    FeedForward,
    Norm,
    ScaledEmbedding,
)


@dataclass(frozen=True)
class TransformerConfig:
    """The sizes and choices of a Transformer. The defaults are the paper's base model.

    vocab_size: V, of the source; of the target too, if that has none of its own. Then, if tied, one
        table serves both (Vaswani et al., 2017, §3.4).
    tied: the output shares the embedding's weights (Press & Wolf, 2017).
    n_layers: L, blocks of the encoder, and of the decoder.
    n_kv_heads: heads of keys and values, where they are fewer than n_heads (Ainslie et al., 2023).
    norm: "post" as in the paper, or "pre" (Xiong et al., 2020).
    last_norm: whether a norm follows the last block. None: only if norm is "pre", since nothing
        else would bound what leaves it. `nn.Transformer` always has one.
    positions: "sinusoidal", "learned" (up to max_len), "rotary", or None.
    dropout: share that is dropped of each sublayer's output, of the embedded input (§5.4), and, as
        in the library, of attention weights and inside the feed-forward layers.
    Raises: ValueError if a size is below 1, heads do not divide, or a choice is unknown.
    """

    vocab_size: int
    target_vocab_size: int | None = None
    tied: bool = True
    d_model: int = 512
    n_heads: int = 8
    n_kv_heads: int | None = None
    d_ff: int = 2048
    n_layers: int = 6
    activation: str = "relu"
    norm: str = "post"
    last_norm: bool | None = None
    positions: str | None = "sinusoidal"
    max_len: int = 512
    dropout: float = 0.1

    def __post_init__(self):
        names = "vocab_size", "d_model", "n_heads", "d_ff", "n_layers", "max_len"
        check_sizes(**{name: getattr(self, name) for name in names})
        for name in ("target_vocab_size", "n_kv_heads"):
            if getattr(self, name) is not None:
                check_sizes(**{name: getattr(self, name)})
        check_choice("activation", self.activation, ACTIVATIONS)
        check_choice("norm", self.norm, NORMS)
        check_choice("positions", self.positions, POSITIONS)
        check_share("dropout", self.dropout)
        check_head_counts(self.d_model, self.n_heads, self.n_kv_heads)

    def attention(
        self, kind: Callable[..., nn.Module], rotary: Callable[[int], nn.Module] = Rotary
    ) -> nn.Module:
        """Return an attention layer of these sizes; only self-attention has rotary positions."""
        D, h = self.d_model, self.n_heads
        turned = self.positions == "rotary" and kind is not CrossAttention
        turn = rotary(D // h) if turned else None
        return kind(D, h, n_kv_heads=self.n_kv_heads, dropout=self.dropout, rotary=turn)

    def norm_at_the_end(self, norm: Norm) -> nn.Module:
        """Return what follows the last block."""
        last_norm = self.norm == "pre" if self.last_norm is None else self.last_norm
        return norm(self.d_model) if last_norm else nn.Identity()


class Parts(NamedTuple):
    """What makes the parts of a model, where they are others than the paper's.

    norm: called with the width, as `nn.RMSNorm` is.
    feed_forward: called as `FeedForward` is.
    attention: called as `MultiHeadAttention` is, for self-attention; with another way to attend it
        is `partial(MultiHeadAttention, attend=…)`.
    embedding: called with vocab_size and d_model, as `ScaledEmbedding` is.
    rotary: called with the width of a head, as `positions.Rotary` is; for rotary positions alone.
    """

    norm: Norm = nn.LayerNorm
    feed_forward: Callable[..., nn.Module] = FeedForward
    attention: Callable[..., nn.Module] = MultiHeadAttention
    embedding: Callable[[int, int], nn.Module] = ScaledEmbedding
    rotary: Callable[[int], nn.Module] = Rotary


PAPERS = Parts()
