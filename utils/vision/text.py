"""Day 12: CLIP's encoder of texts: it reads forward, and what stands at a text's end is its vector.

Shapes: ids (B, T), padded behind; lengths (B,) count what is real. Inside, sequences are (B, T, D).
"""

import torch
from torch import Tensor, nn

from utils.arguments import check_ids, check_sequences, described, is_whole
from utils.transformer import EncoderOnly, Parts, TransformerConfig
from utils.transformer.config import PAPERS
from utils.transformer.layers import FeedForward


def quick_gelu(x: Tensor) -> Tensor:
    """Return x·σ(1.702 x), which is near GELU (Hendrycks & Gimpel, 2016, §2), and CLIP's."""
    return x * torch.sigmoid(1.702 * x)


class QuickFeedForward(FeedForward):
    """A feed-forward layer with `quick_gelu`, whatever activation the config has.

    It goes into `Parts` as the feed-forward layer. Shapes: x (B, T, d_model) to the same.
    """

    def __init__(self, *sizes: object):
        super().__init__(*sizes)
        self.activation = quick_gelu


def last_pool(x: Tensor, lengths: Tensor) -> Tensor:
    """Return what stands at the last real place. Shapes: x (B, T, D), lengths (B,) to (B, D).

    Raises: ValueError if there is no step, or the lengths do not fit.
    """
    check_sequences(x, x.shape[-1], lengths)
    return x[torch.arange(len(x), device=x.device), lengths - 1]


def lengths_to(ids: Tensor, end: int | None) -> Tensor:
    """Return how long each text is, as far as the symbol that ends it. Shapes: ids (B, T) to (B,).

    end: that symbol's number, of which the first counts; None if it is the largest in each text.
    Raises: ValueError if ids are not whole numbers (B, T) of a text at least, or one has no end.
    """
    if not is_whole(ids) or ids.dim() != 2 or not ids.numel():
        raise ValueError(f"Expected whole ids (B, T) of at least one text, got {described(ids)}.")
    if end is None:
        check_ids(ids, int(ids.max()) + 1)
        return 1 + ids.argmax(dim=1)
    check_ids(ids, max(end, int(ids.max())) + 1)
    ends = ids == end
    if not ends.any(dim=1).all():
        text = int(ends.any(dim=1).int().argmin())
        raise ValueError(f"Text {text} lacks the number {end}, which ends a text: put it there.")
    return 1 + ends.int().argmax(dim=1)


class CausalTextEncoder(EncoderOnly):
    """Read a text from left to right; its end has seen all of it (Radford et al., 2021, §2.4).

    Day 6's encoder with a causal mask; one matrix without a bias takes what stands at the end to
    the space that pictures share.

    width: E, of that space.
    end: the number of the symbol that ends a text, as `lengths_to` takes it.
    Shapes: ids (B, T), and lengths (B,), or as far as the ends, to vectors (B, E), and all weights
        (B, L, h, T, T) if they are needed.
    Raises: ValueError as `Encoder` does, or if a text has no end.
    """

    def __init__(
        self, config: TransformerConfig, width: int, parts: Parts = PAPERS, end: int | None = None
    ):
        super().__init__(config, width, parts, last_pool)
        self.output = nn.Linear(config.d_model, width, bias=False)
        self.end = end

    def forward(
        self, ids: Tensor, lengths: Tensor | None = None, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        x = self.encoder.embedding(ids)
        lengths = lengths_to(ids, self.end) if lengths is None else lengths
        x, weights = self.encoder.run(x, is_causal=True, need_weights=need_weights)
        vectors = self.output(self.pool(x, lengths))
        return (vectors, weights) if need_weights else vectors
