"""Day 5: a model of self-attention alone, without what makes a Transformer of it."""

import torch
from torch import Tensor, nn

from utils.arguments import check_mask, check_sizes
from utils.recurrent import Embedding
from utils.self_attention.multi_head import MultiHeadAttention
from utils.seq2seq import PAD


class SelfAttentionTagger(nn.Module):
    """Say something about each symbol: n_layers of self-attention, and a linear output.

    Each layer adds what it found to what was there; without `residual`, it puts it in its place.

    positions: added to the embedded symbols, as `positions.LearnedPositions` does.
    rotary: turns queries and keys of each layer, as in `MultiHeadAttention`.

    Shapes: ids (B, T), padded with PAD, and a mask broadcastable to (B, L, h, T, T), L = n_layers,
    to logits (B, T, n_classes), and, when they are needed, the weights (B, L, h, T, T).
    Raises: ValueError if sizes disagree, or for ids and mask as embedding and attention do.
    """

    def __init__(
        self,
        vocab_size: int,
        n_classes: int,
        d_model: int,
        n_heads: int,
        n_layers: int,
        *,
        positions: nn.Module | None = None,
        rotary: nn.Module | None = None,
        residual: bool = True,
    ):
        super().__init__()
        check_sizes(n_classes=n_classes, n_layers=n_layers)
        self.embedding = Embedding(vocab_size, d_model)
        self.positions = nn.Identity() if positions is None else positions
        self.layers = nn.ModuleList(
            [MultiHeadAttention(d_model, n_heads, rotary=rotary) for _ in range(n_layers)]
        )
        self.output = nn.Linear(d_model, n_classes)
        self.residual = residual

    def forward(
        self, ids: Tensor, mask: Tensor | None = None, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        x, weights = self.positions(self.embedding(ids)), []
        for allowed, layer in zip(self.masks(ids, mask), self.layers, strict=True):
            found, looked = layer(x, mask=allowed, need_weights=need_weights)
            x = x + found if self.residual else found
            weights.append(looked)
        logits = self.output(x)
        return (logits, torch.stack(weights, dim=1)) if need_weights else logits

    def masks(self, ids: Tensor, mask: Tensor | None) -> list[Tensor]:
        """Return a mask (B, h or 1, T or 1, T) for each layer: no padding, and what is given."""
        real, L = (ids != PAD)[:, None, None], len(self.layers)
        if mask is None:
            return [real] * L
        (B, T), h = ids.shape, self.layers[0].n_heads
        check_mask(mask, (B, L, h, T, T))
        return [real & allowed for allowed in mask.expand(B, L, h, T, T).unbind(1)]
