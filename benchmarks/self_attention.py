"""Day 5: multi-head attention beside nn.MultiheadAttention, with the same weights, in training."""

from functools import partial

import torch
from torch import Tensor, nn

from benchmarks.runner import Case, with_parameters
from utils.self_attention import MultiHeadAttention

B, T, D, HEADS = 8, 128, 256, 8
draw = partial(torch.randn, generator=torch.Generator().manual_seed(0))
INPUTS = draw(B, T, D), draw(3 * D, D) / D**0.5, draw(3 * D), draw(D, D) / D**0.5, draw(D)
OURS = ["W_in", "b_in", "W_o.weight", "W_o.bias"]
LIBRARY = ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]


def case(need_weights: bool, bound: float) -> Case:
    """Both return the weights of each head, or none; without, both call the fused kernel."""
    layer = nn.MultiheadAttention(D, HEADS, batch_first=True)
    how = {"need_weights": need_weights, "average_attn_weights": False}
    library = with_parameters(layer, LIBRARY, n_inputs=3, **how)

    def to_itself(x: Tensor, *parameters: Tensor) -> Tensor:
        return library(x, x, x, *parameters)

    ours = MultiHeadAttention(D, HEADS)
    return Case(
        f"MultiHeadAttention, {'with' if need_weights else 'without'} weights, {B}×{T}×{D}",
        with_parameters(ours, OURS, need_weights=need_weights),
        to_itself,
        INPUTS,
        bound,
    )


CASES = [case(need_weights=False, bound=0.9), case(need_weights=True, bound=1.0)]
