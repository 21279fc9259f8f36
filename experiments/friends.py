"""Two relations at once: how many heads does a look need, are keys and values two, and how fast?

Eight children, each with a name, a game, a friend and a rival. Each is to say which game its friend
plays, and which its rival: one layer of attention, and a small network at each position. If keys
and values are shared, one matrix makes both, and everything is a third wider: equal parameters.
Each is trained at two learning rates: what is hard to learn at one may be easy at another.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.data.batches import Batches
from utils.self_attention import dot_product_attention, merge_heads, split_heads
from utils.training.loop import evaluate, fit
from utils.training.metrics import accuracy
from utils.training.recipes import rise_and_fall

NETWORKS = {  # heads, and whether keys and values are shared
    "one head": (1, False),
    "two heads": (2, False),
    "two heads, shared": (2, True),
}
PARAMETERS = {
    "network": list(NETWORKS),
    "width": [12, 24, 48],
    "learning_rate": [1e-2, 3e-2, 1e-1, 3e-1],
    "epochs": 4,
    "seed": [0, 1, 2],
}
SHORT = {"epochs": 1}
T = 8  # children, and games


class Children(nn.Module):
    """Attention d_inner wide, all heads together; x (B, T, 4T) to logits (B, T, 2, T)."""

    def __init__(self, n_heads: int, d_inner: int, shared: bool):
        super().__init__()
        self.n_heads = n_heads
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
        return self.output(self.W_o(merge_heads(context))).unflatten(-1, (2, T))


def draw(n: int, seed: int) -> tuple[Tensor, Tensor]:
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


def measure(network: str, width: int, learning_rate: float, epochs: int, seed: int) -> dict:
    heads, shared = NETWORKS[network]
    torch.manual_seed(seed)
    model = Children(heads, width * 4 // 3 if shared else width, shared)
    batches = Batches(*draw(4000, seed), batch_size=50, shuffle=True)
    optimiser, schedule = rise_and_fall(model, learning_rate, epochs * len(batches))
    fit(model, batches, loss, optimiser, epochs=epochs, seed=seed, schedule=schedule)
    test = draw(1000, seed + 1000)
    found = evaluate(model, [test], loss, {"accuracy": accuracy})
    attention = sum(p.numel() for name, p in model.named_parameters() if "output" not in name)
    return {"parameters": attention, "right": found["accuracy"], **weights_on(model, test[0])}


@torch.no_grad()
def weights_on(model: Children, x: Tensor) -> dict[str, list[float]]:
    """Mean weight of each head on the friend and on the rival."""
    _, weights = model.look(x, need_weights=True)
    names, _, friend, rival = x.split(T, dim=-1)
    places = {"on friend": friend @ names.mT, "on rival": rival @ names.mT}  # (B, T, T)
    return {
        name: (weights * place[:, None]).sum(-1).mean((0, 2)).tolist()
        for name, place in places.items()
    }
