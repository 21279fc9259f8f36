"""Day 6: encoder and decoder blocks, from which all Transformers are built.

Shapes: sequences are (B, T, D), a source (B, S, D), weights of attention (B, h, T, S).
"""

import torch
from torch import Tensor, nn

from utils.attention import Memory
from utils.self_attention import Cache
from utils.transformer.config import PAPERS, Parts, TransformerConfig
from utils.transformer.layers import ACTIVATIONS, CrossAttention, FeedForward, Residual


class EncoderBlock(nn.Module):
    """Self-attention, then a feed-forward layer (Vaswani et al., 2017, §3.1, fig. 1 left).

    With is_causal it is the block of a decoder-only model (Radford et al., 2018).

    Shapes: x (B, T, D), mask broadcastable to (B, h, T, S), to outputs (B, T, D) and weights
    (B, h, T, S), or None unless they are needed; S = T, and what a cache holds.
    Raises: ValueError as `MultiHeadAttention` does.
    """

    library = nn.TransformerEncoderLayer
    n_sublayers = 2

    def __init__(self, config: TransformerConfig, parts: Parts = PAPERS):
        super().__init__()
        c, self.config = config, config
        self.self_attention = config.attention(parts.attention, parts.rotary)
        self.feed_forward = parts.feed_forward(c.d_model, c.d_ff, c.activation, c.dropout)
        self.residuals = nn.ModuleList(
            [Residual(c.d_model, c.norm, c.dropout, parts.norm) for _ in range(self.n_sublayers)]
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

        Raises: ValueError if it is of another kind or size, or norms or activates differently, or
        if this block has other parts than the paper's.
        """
        self.check_library(library)
        self.load_weights(library)

    def check_library(self, library: nn.Module) -> None:
        """Raise a ValueError if the library's layer computes something else."""
        c = self.config
        if "library" not in vars(type(self)):
            raise ValueError(
                f"A {type(self).__name__} computes something else than the library's blocks: load "
                f"those into {EncoderBlock.__name__} or {DecoderBlock.__name__}."
            )
        with torch.device("meta"):
            twin = self.library(
                c.d_model,
                c.n_heads,
                c.d_ff,
                activation=ACTIVATIONS[c.activation],
                norm_first=c.norm == "pre",
            )
        wanted, found = _described(twin), _described(library)
        if found != wanted:
            unlike = [part for part in wanted if found.get(part) != wanted[part]]
            raise ValueError(
                f"Expected {self.library.__name__} with the config's sizes and choices; in the "
                f"given {type(library).__name__} these differ or are missing: "
                f"{', '.join(unlike) or 'it has more'}."
            )
        norms = {
            (type(r.norm), getattr(r.norm, "eps", None), len(r.norm.state_dict()), r.pre)
            for r in self.residuals
        }
        f = self.feed_forward
        feed_forward = type(f), getattr(f, "activation", None), len(f.state_dict())
        papers = (
            {(nn.LayerNorm, twin.norm1.eps, 2, twin.norm_first)},  # a weight and a bias
            (FeedForward, twin.activation, 4),
        )
        if (norms, feed_forward) != papers:
            raise ValueError(
                "This block has another norm, ε or feed-forward layer than the library's: build it "
                "without Parts to load that."
            )

    def load_weights(self, library: nn.Module) -> None:
        """Take the weights of a layer that has been checked."""
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
        "norm_first": getattr(library, "norm_first", None),
        "activation": getattr(library, "activation", None),
    }
    for name, part in library.named_modules():
        if hasattr(part, "eps"):
            settings[f"layer_norm_eps of {name}"] = part.eps
        if hasattr(part, "num_heads"):
            settings[f"nhead of {name}"] = part.num_heads
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

    def __init__(self, config: TransformerConfig, parts: Parts = PAPERS):
        super().__init__(config, parts)
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

    def load_weights(self, library: nn.Module) -> None:
        super().load_weights(library)
        self.cross_attention.load_library(library.multihead_attn)
