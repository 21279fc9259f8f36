"""Days 2 and 3: the recurrent layers, each beside the function that the library's layer calls."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.func import functional_call

from benchmarks.runner import Case
from utils.recurrent import GRU, LSTM, RNN, Recurrent

B, T, D, N = 32, 100, 128, 128
draw = partial(torch.randn, generator=torch.Generator().manual_seed(0))


def ours(layer: Recurrent) -> Callable[..., Tensor]:
    """Call a layer with the library's weights from outside, so that they are differentiated too."""

    def outputs(x: Tensor, W_x: Tensor, W_h: Tensor, b_x: Tensor, b_h: Tensor) -> Tensor:
        weights = {"W_x": W_x, "W_h": W_h, "b": b_x + b_h}
        if isinstance(layer, GRU):
            unreset = torch.cat([b_h[: 2 * N], torch.zeros(N)])
            weights |= {"b": b_x + unreset, "b_n": b_h[2 * N :]}
        return functional_call(layer, weights, x)[0]

    return outputs


def library(function: Callable[..., tuple], n_states: int) -> Callable[..., Tensor]:
    """Call what nn.RNN, nn.LSTM or nn.GRU call: one layer, one direction, training, batch first."""

    def outputs(x: Tensor, *weights: Tensor) -> Tensor:
        states = [torch.zeros(1, B, N)] * n_states
        state = states if n_states == 2 else states[0]
        return function(x, state, weights, True, 1, 0.0, True, False, True)[0]

    return outputs


def case(layer: type[Recurrent], function: Callable[..., tuple], bound: float) -> Case:
    rows, scale = layer.n_blocks * N, N**-0.5
    weights = [scale * draw(rows, D), scale * draw(rows, N), scale * draw(rows), scale * draw(rows)]
    return Case(
        f"{layer.__name__}, {B}×{T}×{D}, N = {N}",
        ours(layer(D, N)),
        library(function, 2 if layer is LSTM else 1),
        (draw(B, T, D), *weights),
        bound,
    )


CASES = [
    case(RNN, torch.rnn_tanh, bound=1.0),
    case(LSTM, torch.lstm, bound=1.5),
    case(GRU, torch.gru, bound=1.1),
]
