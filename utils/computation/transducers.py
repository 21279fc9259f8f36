"""Day 15: networks that answer after each symbol, and parity with weights that are set by hand.

Shapes: ids (B, T), answers as logits (B, T, C).
"""

import torch
from torch import Tensor, nn

from utils.arguments import check_ids, check_sizes
from utils.recurrent import RNN, Embedding, Recurrent

SHARP = 20.0  # a weight that makes a step of a tanh: tanh(SHARP / 2) differs from 1 by 4e-9


class Transducer(nn.Module):
    """Read symbols, and give an answer after each of them.

    layer: what reads embedded symbols, as `recurrent.RNN` or `linear_recurrence.LinearRecurrence`.
    Shapes: ids (B, T) to logits (B, T, n_classes).
    Raises: ValueError if a size is below 1, or ids are not whole numbers from 0 to vocab_size - 1.
    """

    def __init__(self, vocab_size: int, d_model: int, layer: nn.Module, n_classes: int):
        super().__init__()
        check_sizes(n_classes=n_classes)
        self.embedding = Embedding(vocab_size, d_model)
        self.layer = layer
        self.output = nn.Linear(layer.output_size, n_classes)

    def forward(self, ids: Tensor) -> Tensor:
        return self.output(self.layer(self.embedding(ids))[0])


@torch.no_grad()
def by_hand(
    layer: nn.Module, embedding: list[list[float]], output: list[list[float]], bias: list[float]
) -> Transducer:
    """Return a transducer of a layer whose weights are set, with these weights around it.

    Shapes: embedding (V, D), output (C, N), bias (C,).
    """
    machine = Transducer(len(embedding), len(embedding[0]), layer, len(output))
    machine.embedding.weight.copy_(torch.tensor(embedding))
    machine.output.weight.copy_(torch.tensor(output))
    machine.output.bias.copy_(torch.tensor(bias))
    return machine.requires_grad_(False).eval()


@torch.no_grad()
def set_weights(layer: nn.Module, **weights: object) -> nn.Module:
    """Give a layer these numbers, all others 0, and return it.

    Raises: ValueError if it has no weight of a name, or numbers of another shape are given.
    """
    known = dict(layer.named_parameters())
    for name, numbers in weights.items():
        wanted = tuple(known[name].shape) if name in known else "no such weight"
        if wanted != tuple(torch.as_tensor(numbers).shape):
            raise ValueError(f"{name}: got {tuple(torch.as_tensor(numbers).shape)} for {wanted}.")
    for name, weight in known.items():
        weight.copy_(torch.as_tensor(weights.get(name, 0.0)))
    return layer


def check_word(ids: Tensor, n_symbols: int) -> None:
    """Raise a ValueError if ids are not (B, T) from 0 to n_symbols - 1, or there is no symbol."""
    check_ids(ids, n_symbols)
    if ids.shape[1] == 0:
        raise ValueError(f"There is no symbol to read in ids of shape {tuple(ids.shape)}.")


# Parity -------------------------------------------------------------------------------------------


class FoldedRNN(Recurrent):
    """h_t = |W_x x_t + W_h h_{t-1} + b|: an RNN whose activation folds the line at 0.

    Shapes: x (B, T, D), state h (B, N), to outputs (B, T, N) and the last state (B, N).
    """

    n_blocks = 1
    library_mode = "of no such kind"

    def step(self, projected: Tensor, h: Tensor) -> Tensor:
        return (projected + h @ self.W_h.T).abs()


def parity_rnn(W_x: float = -1.0, W_h: float = 1.0, b: float = 0.0) -> Transducer:
    """Return one unit with three weights: with -1, 1 and 0, h_t = |h_{t-1} - x_t| is the parity.

    Whole numbers stay whole, so that it is exact for words of any length.
    """
    layer = set_weights(FoldedRNN(1, 1), W_x=[[W_x]], W_h=[[W_h]], b=[b])
    return by_hand(layer, [[0.0], [1.0]], [[0.0], [1.0]], [0.5, 0.0])


def parity_tanh(sharp: float = SHARP) -> Transducer:
    """Return the book's RNN with two units that finds parity: one says "or", the other "and".

    They read the symbol and the last parity, p = (or - and) / 2, and saturate at -1 or 1, so the
    next step takes away what noise or rounding adds to a state.
    """
    half = sharp / 2
    layer = set_weights(
        RNN(1, 2),
        W_x=[[sharp], [sharp]],
        W_h=[[half, -half], [half, -half]],
        b=[-half, -3 * half],
    )
    return by_hand(layer, [[0.0], [1.0]], [[0.0, 0.0], [0.5, -0.5]], [0.5, 0.0])
