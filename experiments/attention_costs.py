"""What attention costs as sequences grow: operations, bytes and seconds, of each form.

One head of one sequence, without projections. "work" and "bytes" are of a forward pass without a
graph, "step_work" and "step_bytes" of a forward and a backward pass, which begins with a gradient
of ones and ends with those of the queries, keys, values and the Linformer's two matrices. Bytes are
the most that were held at once beside the inputs. Seconds are of processor time on one thread, the
least of a few repeats.

All forms see both ways, but "linear, chunked" and "linear, recurrent" are causal. The strides of
"strided" and "fixed" are √T; tiles, blocks and chunks are as wide as the window. The Linformer is
made for the length: its matrices are (n_features, T).
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.efficient import (
    Linformer,
    Performer,
    bigbird_attention,
    chunked_form,
    elu_features,
    fixed_attention,
    linear_attention,
    recurrent_form,
    strided_attention,
    tiled_attention,
    window_attention,
)
from utils.efficient.blocks import attend
from utils.measure.costs import peak_bytes, seconds, work

METHODS = {
    "full": lambda T, d_k, window, n_features: attend,
    "fused": lambda T, d_k, window, n_features: F.scaled_dot_product_attention,
    "tiled": lambda T, d_k, window, n_features: partial(tiled_attention, tile=window),
    "window": lambda T, d_k, window, n_features: partial(window_attention, window=window),
    "strided": lambda T, d_k, window, n_features: partial(strided_attention, stride=round(T**0.5)),
    "fixed": lambda T, d_k, window, n_features: partial(fixed_attention, stride=round(T**0.5)),
    "bigbird": lambda T, d_k, window, n_features: partial(bigbird_attention, block=window),
    "linformer": lambda T, d_k, window, n_features: Linformer(T, n_features),
    "performer": lambda T, d_k, window, n_features: Performer(d_k, n_features),
    "linear": lambda T, d_k, window, n_features: linear_attention,
    "linear, chunked": lambda T, d_k, window, n_features: on_features(
        partial(chunked_form, chunk=window)
    ),
    "linear, recurrent": lambda T, d_k, window, n_features: on_features(recurrent_form),
}
PARAMETERS = {
    "method": list(METHODS),
    "T": [256, 512, 1024, 2048, 4096, 8192],
    "d_k": 64,
    "window": 64,
    "n_features": 64,
}
SHORT = {"T": 128}
SECONDS = ("seconds", "step_seconds")


def on_features(form: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda query, key, value: form(elu_features(query), elu_features(key), value)


def measure(method: str, T: int, **sizes: int) -> dict:
    torch.manual_seed(0)
    form = METHODS[method](T, **sizes)
    heads = torch.randn(3, 1, 1, T, sizes["d_k"]).requires_grad_().unbind()
    parameters = list(form.parameters()) if isinstance(form, nn.Module) else []

    def forward() -> None:
        with torch.no_grad():
            form(*heads)

    def step() -> None:
        y = form(*heads)
        torch.autograd.grad(y, [*heads, *parameters], torch.ones_like(y))

    numbers = {}
    for prefix, action in (("", forward), ("step_", step)):
        numbers |= {
            f"{prefix}work": work(action).total,
            f"{prefix}bytes": peak_bytes(action),
            f"{prefix}seconds": seconds(action),
        }
    return numbers
