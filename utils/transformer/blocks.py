"""Day 6: encoder and decoder blocks, from which all Transformers are built.

Shapes: sequences are (B, T, D), a source (B, S, D), weights of attention (B, h, T, S).
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from utils.arguments import check_choice, check_share, check_sizes
from utils.attention import Memory
from utils.positions import Rotary
from utils.self_attention import Cache, MultiHeadAttention
from utils.transformer.layers import (
    ACTIVATIONS,
    NORMS,
    POSITIONS,
    CrossAttention,
    FeedForward,
    Residual,
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
        if self.d_model % self.n_heads:
            raise ValueError(f"{self.n_heads} heads do not divide a width of {self.d_model}.")
        if self.n_heads % (self.n_kv_heads or self.n_heads):
            raise ValueError(
                f"{self.n_kv_heads} heads of keys do not divide {self.n_heads} of queries."
            )

    def attention(self, kind: type[MultiHeadAttention]) -> MultiHeadAttention:
        """Return an attention layer of these sizes; only self-attention has rotary positions."""
        D, h = self.d_model, self.n_heads
        turned = self.positions == "rotary" and kind is MultiHeadAttention
        rotary = Rotary(D // h) if turned else None
        return kind(D, h, n_kv_heads=self.n_kv_heads, dropout=self.dropout, rotary=rotary)

    def norm_at_the_end(self) -> nn.Module:
        """Return what follows the last block."""
        last_norm = self.norm == "pre" if self.last_norm is None else self.last_norm
        return nn.LayerNorm(self.d_model) if last_norm else nn.Identity()


class EncoderBlock(nn.Module):
    """Self-attention, then a feed-forward layer (Vaswani et al., 2017, §3.1, fig. 1 left).

    With is_causal it is the block of a decoder-only model (Radford et al., 2018).

    Shapes: x (B, T, D), mask broadcastable to (B, h, T, S), to outputs (B, T, D) and weights
    (B, h, T, S), or None unless they are needed; S = T, and what a cache holds.
    Raises: ValueError as `MultiHeadAttention` does.
    """

    library = nn.TransformerEncoderLayer
    n_sublayers = 2

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = config
        D = config.d_model
        self.self_attention = config.attention(MultiHeadAttention)
        self.feed_forward = FeedForward(D, config.d_ff, config.activation, config.dropout)
        self.residuals = nn.ModuleList(
            [Residual(D, config.norm, config.dropout) for _ in range(self.n_sublayers)]
        )

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        is_causal: bool = False,
        need_weights: bool = False,
        cache: Cache | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        around_attention, around_feed_forward = self.residuals
        y, weights = self.self_attention(
            around_attention.enter(x),
            mask=mask,
            is_causal=is_causal,
            need_weights=need_weights,
            cache=cache,
        )
        x = around_attention.leave(x, y)
        y = self.feed_forward(around_feed_forward.enter(x))
        return around_feed_forward.leave(x, y), weights

    def load_library(self, library: nn.Module) -> None:
        """Take the weights of the library's layer of the same kind.

        Raises: ValueError if it is of another kind or size, or norms or activates differently.
        """
        c = self.config
        with torch.device("meta"):
            twin = self.library(
                c.d_model, c.n_heads, c.d_ff, activation=c.activation, norm_first=c.norm == "pre"
            )
        wanted, found = _described(twin), _described(library)
        if found != wanted:
            unlike = [part for part in wanted if found.get(part) != wanted[part]]
            raise ValueError(
                f"Expected {self.library.__name__} with the config's sizes and choices; in the "
                f"given {type(library).__name__} these differ or are missing: "
                f"{', '.join(unlike) or 'it has more'}."
            )
        self.take(library)

    def take(self, library: nn.Module) -> None:
        self.self_attention.load_library(library.self_attn)
        for ours, theirs in (
            (self.feed_forward.W_1, library.linear1),
            (self.feed_forward.W_2, library.linear2),
            *((r.norm, getattr(library, f"norm{i}")) for i, r in enumerate(self.residuals, 1)),
        ):
            ours.load_state_dict(theirs.state_dict())


def _described(library: nn.Module) -> dict[str, object]:
    """Return what makes a layer of the library compute what it does, besides its numbers."""
    shapes = {name: tuple(weight.shape) for name, weight in library.state_dict().items()}
    settings = {
        "kind": type(library),
        "nhead": getattr(getattr(library, "self_attn", None), "num_heads", None),
        "norm_first": getattr(library, "norm_first", None),
        "activation": getattr(library, "activation", None),
        "layer_norm_eps": getattr(getattr(library, "norm1", None), "eps", None),
    }
    return settings | shapes


class DecoderBlock(EncoderBlock):
    """Causal self-attention, a look at the source, a feed-forward layer (ibid., fig. 1 right).

    The source is prepared once, by `remember`. Padding of the target needs no mask: it stands
    behind what is real, where a causal query does not look.

    Shapes: x (B, T, D), a source prepared from (B, S, D), to outputs (B, T, D) and two weights, or
    None unless they are needed: to itself (B, h, T, T and what a cache holds), to the source
    (B, h, T, S).
    Raises: ValueError as `MultiHeadAttention` does, or if there are more or fewer sources than x.
    """

    library = nn.TransformerDecoderLayer
    n_sublayers = 3

    def __init__(self, config: TransformerConfig):
        super().__init__(config)
        self.cross_attention = config.attention(CrossAttention)

    def remember(self, source: Tensor, mask: Tensor | None = None) -> Memory:
        """Prepare a source (B, S, D). Shapes: mask broadcastable to (B, h, T, S)."""
        return self.cross_attention.remember(source, mask)

    def forward(
        self,
        x: Tensor,
        memory: Memory,
        *,
        need_weights: bool = False,
        cache: Cache | None = None,
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        around_self, around_cross, around_feed_forward = self.residuals
        y, to_itself = self.self_attention(
            around_self.enter(x), is_causal=True, need_weights=need_weights, cache=cache
        )
        x = around_self.leave(x, y)
        y, to_source = self.cross_attention.read(around_cross.enter(x), memory, need_weights)
        x = around_cross.leave(x, y)
        y = self.feed_forward(around_feed_forward.enter(x))
        return around_feed_forward.leave(x, y), to_itself, to_source

    def take(self, library: nn.Module) -> None:
        super().take(library)
        self.cross_attention.load_library(library.multihead_attn)
