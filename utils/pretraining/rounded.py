"""Day 11: weights in 8 bits: whole numbers, and a scale for each row.

Shapes: a weight is (n, d_in), its whole numbers too, its scale (n, 1); inputs are (..., d_in).
"""

from copy import deepcopy
from functools import cache
from numbers import Integral
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from utils.arguments import check_no_memory, check_plain, check_width, described
from utils.self_attention import MultiHeadAttention
from utils.self_attention.multi_head import split_heads
from utils.transformer import Encoder
from utils.transformer.layers import at_least_float32

# Rounding -----------------------------------------------------------------------------------------


class Rounded(NamedTuple):
    """What stands for a weight: scale · whole."""

    whole: Tensor  # int8
    scale: Tensor


def round_weight(weight: Tensor, bits: int = 8, by_row: bool = True) -> Rounded:
    """Write a weight in whole numbers from -m to m, m = 2^(bits - 1) - 1, and a scale.

    The scale is the largest number of a row, or of all, divided by m, so that 0 stays 0, and what
    is halfway between two goes to the even one (Dettmers et al., 2022, §2.1, "absmax"; by row, as
    ibid., §3.1). A row of zeros has a scale of 1. The scale of a weight in half precision is in
    float32.
    Shapes: the scale is (n, 1), or (1, 1) if not by row.
    Raises: ValueError if this is no matrix of finite numbers, or bits are not from 2 to 8.
    """
    if weight.dim() != 2 or not weight.is_floating_point() or not weight.numel():
        raise ValueError(f"Expected a matrix of real numbers, got {described(weight)}.")
    if not weight.isfinite().all():
        raise ValueError("A weight is NaN or infinite: no scale holds it.")
    if not isinstance(bits, Integral) or not 2 <= bits <= 8:
        raise ValueError(f"bits is a whole number from 2 to 8, got {bits!r}.")
    return _rounded(weight, 2 ** (bits - 1) - 1, 1 if by_row else (0, 1))


def _rounded(x: Tensor, most: int, over: int | tuple[int, int]) -> Rounded:
    x = at_least_float32(x)  # else x / scale may reach 128, which int8 takes for -128
    scale = x.abs().amax(dim=over, keepdim=True) / most
    scale = torch.where(scale == 0, 1, scale)  # NaN stays
    return Rounded((x / scale).round().clamp(-most, most).to(torch.int8), scale)


class Widened(nn.Module):
    """Keeps a weight in whole numbers: a parametrisation that makes scale · whole when asked."""

    def __init__(self, weight: Tensor, bits: int, by_row: bool):
        super().__init__()
        self.how = bits, by_row
        self.register_buffer("like", weight.new_empty(0), persistent=False)  # its type of numbers

    def right_inverse(self, weight: Tensor) -> Rounded:
        return round_weight(weight, *self.how)

    def forward(self, whole: Tensor, scale: Tensor) -> Tensor:
        return (scale * whole).to(self.like)


def with_rounded_weights(model: nn.Module, bits: int = 8, by_row: bool = True) -> nn.Module:
    """Return a copy of a model whose matrices and tables are kept in whole numbers.

    One that two layers share is kept once. Biases and gains stay as they are. Nothing of it learns.
    Raises: ValueError as `round_weight` does.
    """
    model, kept = deepcopy(model).requires_grad_(False), {}
    for module in [*model.modules()]:
        for name, weight in [*module.named_parameters(recurse=False)]:
            if weight.dim() == 2:
                parametrize.register_parametrization(module, name, Widened(weight, bits, by_row))
                shared = kept.setdefault(id(weight), (weight, module.parametrizations[name]))[1]
                module.parametrizations[name] = shared
    return model


# Products of whole numbers ------------------------------------------------------------------------


def whole_product(x: Tensor, weight: Rounded, bias: Tensor | None = None) -> Tensor:
    """Return x Wᵀ + b from products of int8: each input is rounded as a row too (ibid., §3.1).

    Shapes: x (B, ..., d_in) to (B, ..., n), in x's type of numbers.
    Raises: ValueError for inputs of another width, or where the processor's sums run over.
    """
    check_width(x, weight.whole.shape[1])
    if not torch.compiler.is_compiling():  # then it was asked when the layer was made
        _check_exact()
    rows = _rounded(x.flatten(0, -2), 127, 1)
    sums = torch._int_mm(rows.whole, weight.whole.T)  # in int32
    y = rows.scale * weight.scale.T * sums
    return (y if bias is None else y + bias).unflatten(0, x.shape[:-1]).to(x.dtype)


@cache
def has_exact_products() -> bool:
    """Whether sums of products of int8 are right here.

    Where oneDNN has no instruction for them (VNNI, or its like), it adds two products in 16 bits,
    and the largest run over in silence (github.com/pytorch/pytorch/issues/136746).
    """
    largest = torch.full((64, 64), 127, dtype=torch.int8)
    return bool((torch._int_mm(largest, largest) == 64 * 127**2).all())


def _check_exact() -> None:
    if not has_exact_products():
        raise ValueError(
            "Here PyTorch adds products of int8 in 16 bits, where sums run over: widen the weights "
            "instead."
        )


class WholeLinear(nn.Module):
    """A linear layer that multiplies whole numbers, by `whole_product`.

    Raises: ValueError as `round_weight` does, or where the processor's sums run over.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None):
        super().__init__()
        _check_exact()
        for name, numbers in round_weight(weight.detach())._asdict().items():
            self.register_buffer(name, numbers)
        self.register_buffer("bias", None if bias is None else bias.detach())

    def forward(self, x: Tensor) -> Tensor:
        return whole_product(x, Rounded(self.whole, self.scale), self.bias)


class WholeAttention(MultiHeadAttention):
    """Self-attention whose products with weights are of whole numbers; scores are not.

    Raises: ValueError if the layer is of another kind.
    """

    def __init__(self, layer: MultiHeadAttention):
        check_plain(layer, MultiHeadAttention)
        how = {"dropout": layer.dropout, "rotary": layer.rotary, "attend": layer.attend}
        super().__init__(layer.d_model, layer.n_heads, n_kv_heads=layer.n_kv_heads, **how)
        del self.W_in, self.b_in  # a parameter's name is taken
        self.W_in = WholeLinear(layer.W_in, layer.b_in)
        self.W_o = WholeLinear(layer.W_o.weight, layer.W_o.bias)

    def project(self, x: Tensor, memory: None) -> tuple[Tensor, ...]:
        check_no_memory(memory)
        heads = self.n_heads, self.n_kv_heads, self.n_kv_heads
        parts = self.W_in(x).split(self.rows, dim=-1)
        return tuple(split_heads(y, n) for y, n in zip(parts, heads, strict=True))


def with_whole_products(encoder: Encoder) -> Encoder:
    """Return a copy of an encoder whose blocks multiply whole numbers with their weights.

    Its feed-forward layers are plain ones, of two matrices.
    Raises: ValueError as `WholeAttention` does.
    """
    encoder = deepcopy(encoder)
    for block in dict.fromkeys(encoder.blocks):  # a shared one is there several times
        block.self_attention = WholeAttention(block.self_attention)
        layer = block.feed_forward
        layer.W_1, layer.W_2 = (WholeLinear(W.weight, W.bias) for W in (layer.W_1, layer.W_2))
    return encoder
