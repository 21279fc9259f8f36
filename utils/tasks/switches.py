"""Day 14's last task: a level without noise, which a switch turns over on days known beforehand.

The level of a day is the number of switches so far, modulo 2. A network sees the level of S days
and the switches of S + T, and forecasts the level of the last T.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.arguments import check_choice, check_sizes
from utils.forecasting import (
    Forecaster,
    LinearForecaster,
    LSTMForecaster,
    TransformerForecaster,
)
from utils.transformer import TransformerConfig

S, T, B = 14, 14, 64
RATE = 3e-3
CONFIG = TransformerConfig(
    1, d_model=32, n_heads=4, d_ff=64, n_layers=1, norm="pre", positions="learned", dropout=0.0
)
KINDS = {
    "linear": lambda: LinearForecaster(S, T, n_known=1),
    "LSTM": lambda: LSTMForecaster(S, T, hidden_size=48, n_known=1),
    "Transformer": lambda: TransformerForecaster(CONFIG, S, T, n_known=1),
}


def switched(n: int) -> tuple[Tensor, Tensor]:
    """Draw n series: switches (n, S + T), thrown on every other day on average, and levels."""
    check_sizes(n=n)
    switches = torch.randint(2, (n, S + T)).float()
    return switches, switches.cumsum(dim=1) % 2


def train_and_test(kind: str, *, steps: int, seed: int, tested: int = 2000) -> Tensor:
    """Train a network on new series in each step; return how often it is correct on others.

    Shapes: returns (T,), the share of `tested` series for each day ahead.
    Raises: ValueError if there is no such kind.
    """
    check_choice("kind", kind, KINDS)
    check_sizes(steps=steps, tested=tested)
    torch.manual_seed(seed)
    model = KINDS[kind]()
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    for _ in range(steps):
        logits, levels = forecast(model, B)
        loss = F.binary_cross_entropy_with_logits(logits, levels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        logits, levels = forecast(model, tested)
    return ((logits > 0) == levels.bool()).float().mean(dim=0)


def forecast(model: Forecaster, n: int) -> tuple[Tensor, Tensor]:
    """Return the logits that n new series are up, and their levels: (n, T) each."""
    switches, levels = switched(n)
    return model(levels[:, :S], switches[:, :, None])[:, :, 0], levels[:, S:]
