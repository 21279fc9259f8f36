"""The forms in the Transformer's blocks."""

import inspect
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.self_attention import dot_product_attention
from utils.transformer import DecoderBlock, DecoderOnly, EncoderBlock


class FormAttention(nn.Module):
    """A form of attention, called as `dot_product_attention` is: a layer's `attend`.

    form: called with query, key and value (B, h, T, d_k), with `key_mask=` where there is padding
        and with `is_causal=True` where the future is masked. If it is a module, its parameters
        belong to this one.

    Heads that share keys each get a copy of them. Where a cache holds what was before, a causal
    form gets the queries behind zeros, at the end of the sequence: so a step costs it a whole pass.
    Shapes: mask (B, 1, 1, S) or None, to a context (B, h, T, d_v) and None for weights.
    Raises: ValueError if asked for weights, for dropout, for another mask than one of padding, for
    a causal form where there is none, or if padding stands in front of a text and the form's
    arguments say that it counts positions from the first (as `fixed_attention`'s `n_summary`, and
    global positions).
    """

    def __init__(self, form: Callable[..., Tensor]):
        super().__init__()
        self.form = form
        called = form.forward if isinstance(form, nn.Module) else form
        parameters = inspect.signature(called).parameters
        self.has_causal = "is_causal" in parameters
        seen_by_all = getattr(parameters.get("global_positions"), "default", ())
        self.counts = "n_summary" in parameters or len(seen_by_all) > 0

    def forward(
        self, query, key, value, mask=None, need_weights=False, dropout=0.0, is_causal=False
    ) -> tuple[Tensor, None]:
        (B, h, T, _), S = query.shape, key.shape[2]
        check_form(self.has_causal, is_causal, dropout, need_weights, mask, (B, 1, 1, S))
        if self.counts and mask is not None and not torch.compiler.is_compiling():
            _check_no_padding_in_front(mask)
        options = {} if mask is None else {"key_mask": mask[:, 0, 0]}
        if is_causal:
            options["is_causal"] = True
            query = F.pad(query, (0, 0, S - T, 0))
        if key.shape[1] != h:
            times = h // key.shape[1]
            key, value = (x.repeat_interleave(times, dim=1) for x in (key, value))
        return self.form(query, key, value, **options)[:, :, -T:], None


def _check_no_padding_in_front(mask: Tensor) -> None:
    if (mask[..., 1:] & ~mask[..., :-1]).any():
        raise ValueError(
            "This form counts positions from the first, so padding in front of a text would "
            "change it: give the model texts of one length, or padding behind them."
        )


def use_form(model: nn.Module, make: Callable[[int], Callable[..., Tensor]]) -> None:
    """Let all of a model's blocks attend to their sequence in another form; their weights stay.

    make: given a block's number, from 0, returns its form.
    Raises: ValueError if there is no block, a block adds something to its scores, as a bias for
        each distance, or a form can't do what a block asks of it.
    """
    blocks = [module for module in model.modules() if isinstance(module, EncoderBlock)]
    forms = [FormAttention(make(number)) for number in range(len(blocks))]
    _check(model, blocks, forms)
    for block, form in zip(blocks, forms, strict=True):
        block.self_attention.attend = form


def _check(model: nn.Module, blocks: list[EncoderBlock], forms: list[FormAttention]) -> None:
    if not blocks:
        raise ValueError("The model has no EncoderBlock, so there is nothing to exchange.")
    for block, form in zip(blocks, forms, strict=True):
        attend = block.self_attention.attend
        if attend is not dot_product_attention and not isinstance(attend, FormAttention):
            raise ValueError(
                f"A form would take the place of a {type(attend).__name__} and drop what that adds "
                "to the scores: build the model without it."
            )
        around = [part for part in model.modules() if block in part.modules()]
        is_causal = any(
            isinstance(part, DecoderBlock | DecoderOnly) or getattr(part, "is_causal", False)
            for part in around
        )
        check_form(form.has_causal, is_causal, block.self_attention.dropout)


def check_form(
    has_causal: bool,
    is_causal: bool,
    dropout: float,
    need_weights: bool = False,
    mask: Tensor | None = None,
    mask_shape: tuple[int, ...] = (),
) -> None:
    """Raise a ValueError if a form of attention can't do what a layer asks of it."""
    if need_weights:
        raise ValueError("A form has no weights to show: leave need_weights out.")
    if dropout:
        raise ValueError(
            "A form makes no weights that could be dropped: build the model with dropout=0.0, or "
            "set the `dropout` of its attention layers to 0."
        )
    if is_causal and not has_causal:
        raise ValueError("This form has no causal variant: each query sees the future.")
    if mask is not None and mask.shape != mask_shape:
        raise ValueError(
            f"A form takes a mask of padding, (B, 1, 1, S) = {mask_shape}, got {tuple(mask.shape)}."
        )
