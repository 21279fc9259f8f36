"""Without positions, can self-attention tell which of two marks came first? With a causal mask?"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.data.batches import Batches
from utils.positions import SinusoidalPositions
from utils.self_attention import SelfAttentionTagger, causal_mask
from utils.training.loop import evaluate, fit
from utils.training.metrics import accuracy

PARAMETERS = {
    "layers": [1, 2],
    "causal": [False, True],
    "positions": [False, True],
    "seed": [0, 1, 2],
}
SHORT = {}
T = 12


class LastSays(nn.Module):
    """Read ids (B, T); the last position says which mark came first, logits (B, 2)."""

    def __init__(self, layers: int, causal: bool, positions: bool):
        super().__init__()
        where = SinusoidalPositions(16) if positions else None
        self.read = SelfAttentionTagger(7, 2, 16, 2, layers, positions=where)
        self.mask = causal_mask(T) if causal else None

    def forward(self, ids: Tensor) -> Tensor:
        return self.read(ids, self.mask)[:, -1]


def draw(n: int, seed: int) -> tuple[Tensor, Tensor]:
    """Ids (n, T) with one 1 and one 2 among the others, and whether the 1 came first."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(3, 7, (n, T), generator=generator)
    where = torch.rand(n, T - 1, generator=generator).argsort(dim=1)[:, :2]  # not the last place
    ids.scatter_(1, where, torch.tensor([[1, 2]]).expand(n, 2))
    return ids, (where[:, 0] < where[:, 1]).long()


def measure(layers: int, causal: bool, positions: bool, seed: int) -> dict:
    torch.manual_seed(seed)
    model = LastSays(layers, causal, positions)
    batches = Batches(*draw(3000, seed), batch_size=50, shuffle=True)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    fit(model, batches, F.cross_entropy, optimiser, epochs=4, seed=seed)
    found = evaluate(model, [draw(1000, seed + 1000)], F.cross_entropy, {"accuracy": accuracy})
    return {"right": found["accuracy"]}
