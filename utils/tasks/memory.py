"""Keeping as a task: the first symbol of a sequence, how far a gradient reaches, what is held."""

from collections.abc import Callable, Iterable, Mapping

import torch
from torch import Tensor, nn

from utils.data.sequences import delayed_recall
from utils.recurrent import LSTM, LanguageModel, Recurrent, SequenceClassifier
from utils.training.loop import evaluate, fit
from utils.training.metrics import accuracy
from utils.training.recipes import clip_gradients, rise_and_fall, tag_loss

SYMBOLS = 8  # that are to be repeated; the sign to begin is one more


def gradient_by_distance(layer: Recurrent, steps: int, seed: int) -> Tensor:
    """Norm of the last state's gradient by the memory k steps before, over that at k = 0.

    The memory is h, or the c of an LSTM; 8 random sequences are read. Shape: (steps,), the first
    for k = 0.
    """
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(steps, 8, layer.input_size, generator=generator).double()
    state, memories = layer.initial_state(8), []
    for x_t in x:
        state = layer.cell(x_t, state)
        memories.append(state[-1] if isinstance(state, tuple) else state)
    direction = torch.randn(8, layer.hidden_size, generator=generator).double()
    gradients = torch.autograd.grad((layer.hidden(state) * direction).sum(), memories)
    norms = torch.stack([gradient.norm() for gradient in gradients]).flip(0)
    return norms / norms[0]


def fades(build: Callable[[], Recurrent], steps: int = 100) -> Tensor:
    """Gradient by distance of an untrained layer in double precision: four draws, (4, steps)."""
    norms = []
    for seed in range(4):
        torch.manual_seed(seed)
        norms.append(gradient_by_distance(build().double(), steps, seed))
    return torch.stack(norms)


def cell_jacobians(lstm: LSTM, x: Tensor, direct_only: bool) -> tuple[Tensor, Tensor]:
    """d c_T / d c_0 (N, N), and the product of all forget gates (N,), of one sequence x (T, D).

    The state before x is what ten steps on its first input have left. direct_only: h is held fixed.
    """
    state = lstm.initial_state(1)
    for _ in range(10):
        shown = lstm.gates(x[:1], state)[3].detach()
        state = lstm.cell(x[:1], state)
    products = []

    def read(c: Tensor) -> Tensor:
        h, product = shown * c.tanh(), torch.ones_like(c)
        for x_t in x[:, None]:
            h = h.detach() if direct_only else h
            product = product * lstm.gates(x_t, (h, c))[1]
            h, c = lstm.cell(x_t, (h, c))
        products.append(product[0].detach())
        return c[0]

    jacobian = torch.autograd.functional.jacobian(read, state[1].detach())
    return jacobian[:, 0], products[0]


def second_way(lstm: LSTM, x: Tensor) -> float:
    """Size of what does not come along the road, relative to what does (Frobenius norms).

    Shapes: x (T, D), one sequence.
    """
    lstm, x = lstm.double(), x.detach().double()
    direct, _ = cell_jacobians(lstm, x, direct_only=True)
    full, _ = cell_jacobians(lstm, x, direct_only=False)
    return ((full - direct).norm() / direct.norm()).item()


def beside_the_road(steps: int) -> list[float]:
    """The `second_way` of three untrained layers with a forget bias of 1, over random inputs."""
    found = []
    for seed in (0, 1, 2):
        torch.manual_seed(seed)
        lstm = LSTM(8, 53, forget_bias=1)
        found.append(second_way(lstm, torch.randn(steps, 8)))
    return found


def train_recall(
    model: nn.Module,
    length: int,
    *,
    mixed_lengths: bool = False,
    learning_rate: float = 3e-3,
    seed: int = 0,
    rounds: int = 20,
) -> tuple[int, float]:
    """Train a model on ids (B, T) to say at the end of a sequence which symbol was its first.

    Adam (Kingma and Ba, 2015), gradients clipped to a norm of 1; validated after each round of 50
    batches, and stopped once 99.5 % are right.

    mixed_lengths: each batch has a length of its own, between 2 and `length`, the short ones being
        as frequent as the long ones (uniform in the logarithm); otherwise all have `length`.
    Returns: the steps that were taken, and the accuracy on new sequences of `length`.
    """
    optimiser = torch.optim.Adam(model.parameters(), lr=learning_rate)
    clip_gradients(optimiser, 1.0)
    generator = torch.Generator().manual_seed(seed)
    validation = [recall_ids(500, length, seed + 1_000_000)]
    for done in range(1, rounds + 1):  # noqa: B007, it says when the loop was left
        lengths = torch.full((50,), length)
        if mixed_lengths:
            lengths = (2 * (length / 2) ** torch.rand(50, generator=generator)).round().int()
        seeds = torch.randint(1_000_000, (50,), generator=generator)
        batches = [
            recall_ids(64, *drawn) for drawn in zip(lengths.tolist(), seeds.tolist(), strict=True)
        ]
        fit(model, batches, nn.CrossEntropyLoss(), optimiser, epochs=1, seed=seed)
        reached = evaluate(model, validation, nn.CrossEntropyLoss(), {"accuracy": accuracy})
        if reached["accuracy"] >= 0.995:
            break
    test = [recall_ids(1000, length, seed + 2_000_000)]
    means = evaluate(model, test, nn.CrossEntropyLoss(), {"accuracy": accuracy})
    return 50 * done, means["accuracy"]


def recall_ids(n: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
    """`delayed_recall` as ids (n, length), for a model that embeds its symbols."""
    sequences, first = delayed_recall(n, length, seed)
    return sequences.argmax(1), first


def telling_unit(held: Tensor, first: Tensor) -> tuple[int, float]:
    """The unit whose last value tells the first symbols apart best, and for what share it does.

    It is told by the nearest of the symbols' means. Shapes: held (B, T, N), first (B,).
    """
    last, symbols = held[:, -1], first.unique()
    means = torch.stack([last[first == symbol].mean(dim=0) for symbol in symbols])  # (symbols, N)
    nearest = (last[:, None] - means).abs().argmin(dim=1)  # (B, N)
    right = (symbols[nearest] == first[:, None]).double().mean(dim=0)
    return right.argmax().item(), right.max().item()


def seeds_that_learn(rows: Iterable[Mapping]) -> dict[str, dict[int, int]]:
    """{layer: {length: how many seeds name over 90 % of the first symbols}} of a stored table."""
    found: dict[str, dict[int, int]] = {}
    for row in rows:
        of = found.setdefault(row["layer"], {})
        of[row["length"]] = of.get(row["length"], 0) + (row["test"] > 0.9)
    return found


def perplexities(rows: Iterable[Mapping]) -> dict[str, Tensor]:
    """{layer: perplexity on validation text (seeds, learning rates)} of a stored table."""
    found: dict[str, dict[float, list[float]]] = {}
    for row in rows:
        rates = found.setdefault(row["layer"], {})
        rates.setdefault(row["learning_rate"], []).append(row["validation"])
    return {layer: torch.tensor(list(of.values())).T.exp() for layer, of in found.items()}


def recall_after(model: SequenceClassifier, length: int, ramp: int) -> tuple[float, float]:
    """Share of first symbols named right, and of a cell what the forget gates leave, at best.

    From step `ramp` on nothing more is written into the cell: i ⊙ g is left out. 200 sequences.
    """
    ids, first = recall_ids(200, length, seed=5_000_000)
    (h, c), log_left = model.layer.initial_state(200), 0.0
    with torch.no_grad():
        for t, x_t in enumerate(model.embedding(ids).unbind(1)):
            i, f, g, o = model.layer.gates(x_t, (h, c))
            c = f * c + (i * g if t < ramp else 0)
            h, log_left = o * c.tanh(), log_left + f.log()
        return accuracy(model.output(h), first), log_left.exp().amax(1).mean().item()


def say_after_me(n: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
    """Symbols, a sign, the symbols again but for the last (n, 2·length); and what is to be said."""
    generator = torch.Generator().manual_seed(seed)
    symbols = torch.randint(SYMBOLS, (n, length), generator=generator)
    sign = torch.full((n, 1), SYMBOLS)
    return torch.cat([symbols, sign, symbols[:, :-1]], dim=1), symbols


class Repeater(nn.Module):
    """A language model that is asked from the sign on. Ids (B, 2T) to logits (B, T, 9)."""

    def __init__(self, hidden_size: int):
        super().__init__()
        self.model = LanguageModel(SYMBOLS + 1, 16, LSTM(16, hidden_size))

    def forward(self, ids: Tensor) -> Tensor:
        return self.model(ids)[0][:, ids.shape[1] // 2 :]


def trained_repeater(hidden_size: int, steps: int = 300) -> Repeater:
    """Train on sentences of 1 to 12 symbols, each length as often as the others."""
    torch.manual_seed(0)
    model = Repeater(hidden_size)
    optimiser, schedule = rise_and_fall(model, 1e-2, steps)
    batches = [say_after_me(64, 1 + 7 * k % 12, seed=k) for k in range(steps)]
    fit(model, batches, tag_loss, optimiser, epochs=1, schedule=schedule)
    return model


@torch.no_grad()
def right_symbols(repeater: Repeater, length: int) -> Tensor:
    """Whether each symbol of 500 new sentences is repeated right. Shape: (500, length)."""
    ids, symbols = say_after_me(500, length, seed=1_000_000 + length)
    return repeater(ids).argmax(2) == symbols
