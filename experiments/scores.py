"""What additive and dot-product scores cost: operations, bytes, seconds, forward and backward."""

import torch

from utils.attention import AdditiveScore, Attention, ScaledDotScore
from utils.measure.costs import peak_bytes, seconds, work

PARAMETERS = {"score": ["additive", "dot"], "n": [64, 128, 256, 512, 1024]}
SHORT = {}
SECONDS = ("step_seconds",)
D = 64


def measure(score: str, n: int) -> dict:
    torch.manual_seed(0)
    look = Attention(AdditiveScore(D, D, D) if score == "additive" else ScaledDotScore())
    x = torch.randn(1, n, D, requires_grad=True)

    def forward() -> None:
        with torch.no_grad():
            look(x, x, x)

    def step() -> None:
        look(x, x, x)[0].sum().backward()

    return {
        "work": work(forward).total,
        "step_work": work(step).total,
        "bytes": peak_bytes(forward),
        "step_bytes": peak_bytes(step),
        "step_seconds": seconds(step, repeats=10),
    }
