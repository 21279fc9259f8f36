"""Day 14: networks that forecast: an LSTM, a Transformer, and one that reads patches.

Shapes: past (B, S), known inputs (B, S + T, K), or None if there are none, to forecasts (B, T, Q),
as in `linear`. LSTM and Transformer read S + T steps, of which the last T hide their values: a
forecast fills them in, as Day 10's encoder fills in words.
"""

from dataclasses import replace

import torch
from torch import Tensor, nn

from utils.arguments import check_sizes
from utils.forecasting.linear import Forecaster, WithEffects
from utils.transformer import Encoder, TransformerConfig
from utils.transformer.config import PAPERS


def hide_future(past: Tensor, known: Tensor | None, T: int) -> Tensor:
    """Return the steps that a network reads: value, whether it is hidden, and the known inputs.

    Shapes: past (B, S), known (B, S + T, K) or None, to (B, S + T, 2 + K). A hidden value is 0.
    """
    hidden = past.new_zeros(len(past), T)
    values = torch.cat([past, hidden], dim=1)
    flags = torch.cat([torch.zeros_like(past), hidden + 1], dim=1)
    steps = torch.stack([values, flags], dim=2)
    return steps if known is None else torch.cat([steps, known.to(steps)], dim=2)


class LSTMForecaster(Forecaster):
    """An LSTM reads the past, then goes on over the steps that are to be filled in.

    It is the library's layer, which is faster than Day 3's and gives the same numbers.

    hidden_size: N, of the state.
    """

    def __init__(
        self, S: int, T: int, *, hidden_size: int = 32, n_known: int = 0, n_outputs: int = 1
    ):
        super().__init__(S, T, n_known=n_known, n_outputs=n_outputs)
        self.lstm = nn.LSTM(2 + n_known, hidden_size, batch_first=True)
        self.output = nn.Linear(hidden_size, n_outputs)

    def forward(self, past: Tensor, known: Tensor | None = None) -> Tensor:
        self.check(past, known)
        states, _ = self.lstm(hide_future(past, known, self.T))  # (B, S + T, N)
        return self.output(states[:, self.S :])


class TransformerForecaster(Forecaster):
    """Day 6's encoder: every step may look at every other; the hidden ones are read off.

    config: sizes and choices; its vocabulary isn't used, and learned positions are as many as there
        are steps.
    Raises: ValueError as `Forecaster` and `Encoder` do.
    """

    def __init__(
        self, config: TransformerConfig, S: int, T: int, *, n_known: int = 0, n_outputs: int = 1
    ):
        super().__init__(S, T, n_known=n_known, n_outputs=n_outputs)
        self.encoder = encoder(config, S + T, 2 + n_known)
        self.output = nn.Linear(config.d_model, n_outputs)

    def forward(
        self, past: Tensor, known: Tensor | None = None, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        """With need_weights, return all weights of attention too: (B, L, h, S + T, S + T)."""
        self.check(past, known)
        steps, weights = self.encoder(
            hide_future(past, known, self.T), need_weights=need_weights
        )  # (B, S + T, D)
        forecast = self.output(steps[:, self.S :])
        return (forecast, weights) if need_weights else forecast


def weights_by_lag(weights: Tensor, S: int) -> Tensor:
    """Return how much forecasts look so many steps back, the mean over them, for lags from 1 on.

    Looks at other hidden steps are left out; so is a lag that reaches beyond the past, for the
    steps from where it does.
    Shapes: weights (…, S + T, S + T) to (…, S).
    Raises: ValueError if no step of these is left to forecast.
    """
    check_sizes(S=S)
    if weights.shape[-1] <= S:
        raise ValueError(f"Expected weights of more than {S} steps, got {tuple(weights.shape)}.")
    T = weights.shape[-1] - S
    to_past = weights[..., S:, :S]  # (…, T, S)
    lags = S + torch.arange(T)[:, None] - torch.arange(S)  # (T, S)
    return torch.stack([to_past[..., lags == lag].mean(dim=-1) for lag in range(1, S + 1)], dim=-1)


class PatchForecaster(WithEffects):
    """Patches of the past are the tokens of an encoder (PatchTST; Nie et al., 2023, §3.1).

    As Day 12's patches of a picture: one matrix makes a vector of each, positions are learned, and
    here one matrix reads the forecast off all of them. The paper's encoder normalises over the
    batch; this one is Day 6's. Known inputs have their effect as in `WithEffects`.

    patch_size, stride: steps of a patch, and from one patch to the next.
    Raises: ValueError as `Forecaster` and `cut_patches` do.
    """

    def __init__(
        self,
        config: TransformerConfig,
        S: int,
        T: int,
        *,
        patch_size: int = 14,
        stride: int = 7,
        n_known: int = 0,
        n_outputs: int = 1,
    ):
        super().__init__(S, T, n_known=n_known, n_outputs=n_outputs)
        self.patch_size, self.stride = patch_size, stride
        n_patches = cut_patches(torch.zeros(1, S), patch_size, stride).shape[1]
        self.encoder = encoder(replace(config, positions="learned"), n_patches, patch_size)
        self.output = nn.Linear(n_patches * config.d_model, T * n_outputs)

    def from_past(self, past: Tensor) -> Tensor:
        x, _ = self.encoder(cut_patches(past, self.patch_size, self.stride))  # (B, n_patches, D)
        return self.output(x.flatten(1)).unflatten(1, (self.T, self.n_outputs))


def cut_patches(past: Tensor, patch_size: int, stride: int) -> Tensor:
    """Cut a past into patches, its last value repeated `stride` times (Nie et al., 2023, §3.1).

    Shapes: past (B, S) to (B, N, patch_size), N = ⌊(S - patch_size) / stride⌋ + 2.
    Raises: ValueError if a size is below 1, these are no pasts (B, S), or a patch is longer than
        they are.
    """
    check_sizes(patch_size=patch_size, stride=stride)
    if past.dim() != 2:
        raise ValueError(f"Expected pasts (B, S), got {tuple(past.shape)}.")
    if patch_size > past.shape[1]:
        raise ValueError(f"A patch of {patch_size} is longer than a past of {past.shape[1]} steps.")
    longer = torch.cat([past, past[:, -1:].expand(-1, stride)], dim=1)
    return longer.unfold(1, patch_size, stride)


def encoder(config: TransformerConfig, n_positions: int, n_inputs: int) -> Encoder:
    """Return Day 6's encoder of positions that are n_inputs numbers each, in place of words."""
    parts = PAPERS._replace(embedding=lambda _, D: nn.Linear(n_inputs, D))
    return Encoder(replace(config, max_len=n_positions), parts)
