"""The forms in the Transformer's blocks."""

import inspect
from collections.abc import Callable

from torch import Tensor, nn

from utils.self_attention import Cache, MultiHeadAttention, merge_heads
from utils.transformer import EncoderBlock


class FormAttention(nn.Module):
    """An attention layer's projections, with another form of attention between them.

    layer: where the projections are, and stay: nothing is copied.
    form: called with query, key and value (B, h, T, d_k), with `key_mask=` where there is padding
        and with `is_causal=True` where the future is masked. If it is a module, its parameters
        belong to this layer.

    Shapes: x (B, T, d_model), mask (B, 1, 1, T), to outputs (B, T, d_model) and None for weights.
    Raises: ValueError if asked for weights, for a memory or a cache, for another mask than one of
    padding, or for a causal form where there is none.
    """

    def __init__(self, layer: MultiHeadAttention, form: Callable[..., Tensor]):
        super().__init__()
        self.layer, self.form = layer, form

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        mask: Tensor | None = None,
        *,
        is_causal: bool = False,
        need_weights: bool = False,
        cache: Cache | None = None,
    ) -> tuple[Tensor, None]:
        if need_weights or memory is not None or cache is not None:
            raise ValueError(
                "A form attends to its own sequence, in one go: it has neither weights to show, "
                "nor a memory, nor a cache."
            )
        options = {}
        if mask is not None:
            if mask.shape != (len(x), 1, 1, x.shape[1]):
                raise ValueError(
                    "A form takes a mask of padding, (B, 1, 1, T) = "
                    f"{(len(x), 1, 1, x.shape[1])}, got {tuple(mask.shape)}."
                )
            options["key_mask"] = mask[:, 0, 0]
        if is_causal:
            called = self.form.forward if isinstance(self.form, nn.Module) else self.form
            if "is_causal" not in inspect.signature(called).parameters:
                raise ValueError("This form has no causal variant: each query sees the future.")
            options["is_causal"] = True
        q, k, v = self.layer.project(x, None)
        if self.layer.rotary is not None:
            q, k = self.layer.rotary(q), self.layer.rotary(k)
        return self.layer.W_o(merge_heads(self.form(q, k, v, **options))), None


def use_form(model: nn.Module, make: Callable[[int], Callable[..., Tensor]]) -> None:
    """Let all of a model's encoder blocks attend in another form; their weights stay.

    make: given a block's number, from 0, returns its form.
    Raises: ValueError if the model has no such block.
    """
    blocks = [module for module in model.modules() if isinstance(module, EncoderBlock)]
    if not blocks:
        raise ValueError("The model has no EncoderBlock, so there is nothing to exchange.")
    for number, block in enumerate(blocks):
        layer = block.self_attention
        layer = layer.layer if isinstance(layer, FormAttention) else layer
        block.self_attention = FormAttention(layer, make(number))
