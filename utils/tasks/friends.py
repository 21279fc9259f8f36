"""Two relations at once: which games do a child's friend and its rival play?

Children have names, games, friends and rivals. Each is to name the game of its friend and that of
its rival: one layer of attention, and a small network at each position. If keys and values are
shared, one matrix makes both, and everything is a third wider: equal parameters.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.self_attention import dot_product_attention, merge_heads, split_heads
from utils.training.loop import fit
from utils.training.metrics import accuracy
from utils.training.recipes import clip_gradients

NETWORKS = {  # heads, and whether keys and values are shared
    "one head": (1, False),
    "two heads": (2, False),
    "two heads, shared": (2, True),
}
BATCH, ROUND, ROUNDS = 50, 20, 60  # groups in a batch, batches in a round, rounds at most


class Children(nn.Module):
    """Attention, all heads together `width` wide; x (B, T, 4T) to logits (B, T, 2, T).

    T: children in a group, and games. network: a key of NETWORKS.
    """

    def __init__(self, T: int, network: str, width: int):
        super().__init__()
        self.T, (self.n_heads, shared) = T, NETWORKS[network]
        d_inner = width * 4 // 3 if shared else width
        self.W_q, self.W_k = (nn.Linear(4 * T, d_inner, bias=False) for _ in range(2))
        self.W_v = self.W_k if shared else nn.Linear(4 * T, d_inner, bias=False)
        self.W_o = nn.Linear(d_inner, 4 * T, bias=False)
        self.output = nn.Sequential(nn.ReLU(), nn.Linear(4 * T, 2 * T))

    def look(self, x: Tensor, need_weights: bool = False) -> tuple[Tensor, Tensor | None]:
        """Return what is found (B, h, T, d) and, if they are needed, the weights (B, h, T, T)."""
        q, k, v = (split_heads(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        return dot_product_attention(q, k, v, need_weights=need_weights)

    def forward(self, x: Tensor) -> Tensor:
        context, _ = self.look(x)
        return self.output(self.W_o(merge_heads(context))).unflatten(-1, (2, self.T))


def draw(n: int, T: int, seed: int) -> tuple[Tensor, Tensor]:
    """Name, game, friend and rival (n, T, 4T), and the games of friend and rival (n, T, 2)."""
    generator = torch.Generator().manual_seed(seed)
    names = torch.rand(n, T, generator=generator).argsort(dim=1)
    games = torch.randint(T, (n, T), generator=generator)
    where = torch.rand(n, T, T, generator=generator).argsort(dim=2)[..., :2]  # friend and rival
    called, wanted = (row[:, None].expand(-1, T, -1).gather(2, where) for row in (names, games))
    parts = (names, games, *called.unbind(-1))
    return torch.cat([F.one_hot(part, T) for part in parts], dim=-1).float(), wanted


def loss(logits: Tensor, wanted: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 2), wanted.flatten())


class Fresh:
    """A round of batches of groups that were never drawn before."""

    def __init__(self, T: int):
        self.T = T

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        for _ in range(ROUND):
            yield draw(BATCH, self.T, int(torch.randint(2**31, ())))


def steps_until(right: float, model: Children, learning_rate: float, seed: int) -> int:
    """Steps of Adam until a round's answers are correct to this share; of all rounds at most."""
    optimiser = torch.optim.Adam(model.parameters(), lr=learning_rate)
    clip_gradients(optimiser, 1.0)
    for round_ in range(ROUNDS):
        history = fit(
            model,
            Fresh(model.T),
            loss,
            optimiser,
            epochs=1,
            seed=ROUNDS * seed + round_,
            metrics={"right": accuracy},
        )
        if history.train["right"][0] >= right:
            return ROUND * (round_ + 1)
    return ROUND * ROUNDS
