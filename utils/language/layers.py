"""Day 9: the parts that today's blocks have in place of Day 6's, handed in by `transformer.Parts`.

Shapes: sequences are (B, T, D), heads (B, h, T, d_k).
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from utils.arguments import check_choice, check_sizes, check_width
from utils.recurrent import Embedding
from utils.self_attention import MultiHeadAttention
from utils.transformer.layers import ACTIVATIONS, at_least_float32


class RMSNorm(nn.Module):
    """Divide each position by its root mean square, then multiply by a gain.

    g ⊙ x / √(mean(x²) + ε) (Zhang & Sennrich, 2019, eq. 4): no mean is taken away, and there is no
    bias.
    nn.RMSNorm gives the same numbers.
    Shapes: x (..., d_model) to the same.
    Raises: ValueError if d_model is below 1, or x has another width.
    """

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        check_sizes(d_model=d_model)
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))  # the gain g

    def forward(self, x: Tensor) -> Tensor:
        check_width(x, len(self.weight))
        wide = at_least_float32(x)
        mean_square = wide.square().mean(dim=-1, keepdim=True)
        return (self.weight * wide * (mean_square + self.eps).rsqrt()).to(x.dtype)


class GatedFeedForward(nn.Module):
    """A feed-forward layer in which one product opens the other: W_down (f(W_gate x) ⊙ W_up x).

    With f = "silu" it is SwiGLU, with "gelu" GEGLU, with "relu" ReGLU (Shazeer, 2020, §2), without
    biases as there. It has three matrices: `gated_width` gives the width at which they have as
    many parameters as the plain layer's two.
    Shapes: x (B, T, d_model) to the same, d_ff wide in between.
    Raises: ValueError if a size is below 1, or the activation is unknown.
    """

    def __init__(self, d_model: int, d_ff: int, activation: str = "silu", dropout: float = 0.0):
        super().__init__()
        check_sizes(d_model=d_model, d_ff=d_ff)
        check_choice("activation", activation, ACTIVATIONS)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)
        self.activation = ACTIVATIONS[activation]
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        gate = self.activation(self.W_gate(x))
        return self.W_down(self.dropout(gate * self.W_up(x)))


def gated_width(d_ff: int, multiple: int = 1) -> int:
    """Return 2/3 of d_ff, rounded up to a multiple (Shazeer, 2020, §2; Touvron et al., 2023, §2.2).

    A gated layer of this width has the parameters of a plain one of d_ff: 3·D·(2/3·F) = 2·D·F.
    Raises: ValueError if d_ff or multiple is below 1.
    """
    check_sizes(d_ff=d_ff, multiple=multiple)
    return -(-2 * d_ff // (3 * multiple)) * multiple


class QKNormAttention(MultiHeadAttention):
    """Multi-head attention whose queries and keys are normalised, head by head.

    The norm of each query and key comes before positions turn them, so that no score grows with
    the length of a vector (Henry et al., 2020; Dehghani et al., 2023, §2, with LayerNorm). All
    heads share one gain of queries and one of keys. All else is `MultiHeadAttention`'s.
    norm: makes the norm of a head's width.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        norm: Callable[[int], nn.Module] = RMSNorm,
        **how: object,
    ):
        super().__init__(d_model, n_heads, **how)
        self.norm_q, self.norm_k = norm(d_model // n_heads), norm(d_model // n_heads)

    def project(self, x: Tensor, memory: Tensor | tuple | None) -> tuple[Tensor, ...]:
        q, k, v = super().project(x, memory)
        return self.norm_q(q), self.norm_k(k), v


class UnscaledEmbedding(Embedding):
    """An embedding that nothing is multiplied with: its rows begin small (Radford et al., 2018).

    Their deviation is 0.02, as in GPT's §4.1, so that an output that shares them begins near 0.
    Shapes: ids (B, T) to (B, T, d_model).
    Raises: ValueError if a size is below 1, or ids are not whole numbers from 0 to vocab_size - 1.
    """

    def __init__(self, vocab_size: int, d_model: int):
        super().__init__(vocab_size, d_model)
        nn.init.normal_(self.weight, std=0.02)
