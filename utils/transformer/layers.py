"""Day 6: what a Transformer's blocks are made of, besides self-attention.

Shapes: sequences are (B, T, D), a source to attend to (B, S, D), heads (B, h, T, d_k).
"""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_choice, check_sequences, check_sizes, check_width
from utils.attention import Memory
from utils.positions import LearnedPositions, SinusoidalPositions
from utils.recurrent import Embedding
from utils.self_attention import MultiHeadAttention


def squared_relu(x: Tensor) -> Tensor:
    """Return max(x, 0)² (So et al., 2021, §3)."""
    return F.relu(x).square()


ACTIVATIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "relu_squared": squared_relu,
    "silu": F.silu,
}
NORMS = ("post", "pre")
POSITIONS = ("sinusoidal", "learned", "rotary", None)
Norm = Callable[[int], nn.Module]  # of a width


# From ids to vectors ------------------------------------------------------------------------------


class ScaledEmbedding(Embedding):
    """An embedding multiplied by √d_model (Vaswani et al., 2017, §3.4).

    The table begins with a deviation of 1/√d_model, as suits the output that may share it. The
    factor brings its rows to the size of the positions, which are added next.
    Shapes: ids (B, T) to (B, T, d_model).
    Raises: ValueError if a size is below 1, or ids are not whole numbers from 0 to vocab_size - 1.
    """

    def __init__(self, vocab_size: int, d_model: int):
        super().__init__(vocab_size, d_model)
        nn.init.normal_(self.weight, std=d_model**-0.5)

    def forward(self, ids: Tensor) -> Tensor:
        return math.sqrt(self.embedding_dim) * super().forward(ids)


class InputEmbedding(nn.Module):
    """What enters the first block: symbols and their positions, and dropout (ibid., §3.4, §5.4).

    positions: "sinusoidal", "learned" for max_len of them, or "rotary" or None, which add nothing
        here: rotary ones turn the queries and keys of each block.
    symbols: makes the embedding of vocab_size and d_model.
    Shapes: ids (B, T), at the positions from `start`, or each `start` (B,), on, to (B, T, d_model).
    Raises: ValueError if there is no symbol, for ids as the embedding does, or beyond max_len.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        positions: str | None,
        max_len: int,
        dropout: float,
        symbols: Callable[[int, int], nn.Module] = ScaledEmbedding,
    ):
        super().__init__()
        check_choice("positions", positions, POSITIONS)
        self.symbols = symbols(vocab_size, d_model)
        self.positions = None
        if positions == "sinusoidal":
            self.positions = SinusoidalPositions(d_model)
        elif positions == "learned":
            self.positions = LearnedPositions(max_len, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor, start: int | Tensor = 0) -> Tensor:
        x = self.symbols(ids)
        check_sequences(x, x.shape[2], None)
        return self.dropout(x if self.positions is None else self.positions(x, start))


# Between the layers -------------------------------------------------------------------------------


def at_least_float32(x: Tensor) -> Tensor:
    """Leave half precision, which holds neither large squares nor a sum over a long sequence."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


class LayerNorm(nn.Module):
    """Give each position mean 0 and variance 1 over its width, then a gain and a bias (Ba, 2016).

    g ⊙ (x - μ) / √(σ² + ε) + b, where σ² is the mean squared deviation, divided by D, not D - 1.
    nn.LayerNorm gives the same numbers from one kernel, so the blocks use that.
    Shapes: x (..., d_model) to the same.
    Raises: ValueError if d_model is below 1, or x has another width.
    """

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        check_sizes(d_model=d_model)
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))  # the gain g
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        check_width(x, len(self.weight))
        wide = at_least_float32(x)
        deviation = wide - wide.mean(dim=-1, keepdim=True)
        variance = deviation.square().mean(dim=-1, keepdim=True)
        return (self.weight * deviation / (variance + self.eps).sqrt() + self.bias).to(x.dtype)


class Residual(nn.Module):
    """What a sublayer adds to its input, and where the sum is normalised.

    "post": LayerNorm(x + f(x)), the Transformer as published (Vaswani et al., 2017, §3.1).
    "pre": x + f(LayerNorm(x)), which leaves a path from end to end free (Xiong et al., 2020, §3).
    `enter` gives what f reads, `leave` puts what f made of it, after dropout, to x.
    layer: makes the norm of a width. Shapes: (B, T, d_model) to the same.
    Raises: ValueError if the norm is unknown.
    """

    def __init__(self, d_model: int, norm: str, dropout: float, layer: Norm = nn.LayerNorm):
        super().__init__()
        check_choice("norm", norm, NORMS)
        self.pre = norm == "pre"
        self.norm = layer(d_model)
        self.dropout = nn.Dropout(dropout)

    def enter(self, x: Tensor) -> Tensor:
        return self.norm(x) if self.pre else x

    def leave(self, x: Tensor, y: Tensor) -> Tensor:
        x = x + self.dropout(y)
        return x if self.pre else self.norm(x)


# Sublayers ----------------------------------------------------------------------------------------


class FeedForward(nn.Module):
    """The same small network at each position: W_2 f(W_1 x + b_1) + b_2 (ibid., eq. 2).

    f is the activation: "relu" in the paper, "gelu" in BERT, "gelu_tanh" in GPT-2, which takes the
    tanh for the normal distribution's integral. Without bias, b_1 and b_2 are left out.
    Shapes: x (B, T, d_model) to the same, d_ff wide in between.
    Raises: ValueError if a size is below 1, or the activation is unknown.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        activation: str = "relu",
        dropout: float = 0.0,
        bias: bool = True,
    ):
        super().__init__()
        check_sizes(d_model=d_model, d_ff=d_ff)
        check_choice("activation", activation, ACTIVATIONS)
        self.W_1 = nn.Linear(d_model, d_ff, bias)
        self.activation = ACTIVATIONS[activation]
        self.dropout = nn.Dropout(dropout)
        self.W_2 = nn.Linear(d_ff, d_model, bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.W_2(self.dropout(self.activation(self.W_1(x))))


class CrossAttention(MultiHeadAttention):
    """Multi-head attention to another sequence, which is projected once for all that look at it.

    `read` of what `remember` returns equals `forward` with that sequence as memory.
    Shapes: memory (B, S, d_model) to keys and values (B, n_kv_heads, S, d_k); x (B, T, d_model) to
    outputs of the same shape and weights (B, h, T, S), or None unless they are needed.
    Raises: ValueError if the memory is empty or has another width, or sizes disagree.
    """

    library = nn.MultiheadAttention

    def remember(self, memory: Tensor, mask: Tensor | None = None) -> Memory:
        """Prepare a source. Shapes: mask broadcastable to (B, h, T, S)."""
        check_sequences(memory, self.d_model, None)
        return Memory(*self.keys_and_values(memory), mask)

    def read(
        self, x: Tensor, memory: Memory, need_weights: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        keys, values, mask = memory
        return self(x, (keys, values), mask, need_weights=need_weights)
