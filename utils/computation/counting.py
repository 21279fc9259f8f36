"""Day 15: recurrent networks that count and add, with weights that are set by hand."""

import torch

from utils.arguments import check_at_least
from utils.computation.transducers import SHARP, Transducer, by_hand, set_weights
from utils.recurrent import LSTM, RNN

OPEN = 100.0  # opens a gate: sigmoid and tanh of it are 1 to the last bit


def counter_lstm(n_letters: int = 2) -> Transducer:
    """Return an LSTM with a cell for each letter that reads aⁿbⁿ, or aⁿbⁿcⁿ with three letters.

    All gates are open, so each cell adds up what is written (Gers & Schmidhuber, 2001; Weiss et
    al., 2018): cell j < n_letters - 1 counts how many more there were of letter j than of
    letter j + 1, the last cell counts the second letter. The answers are those of
    `data.formal.Blocks`. From h = tanh(c), which is 0 or at least 0.76, the output reads which
    counters are 0.
    Raises: ValueError if there are not two letters.
    """
    check_at_least(2, "n_letters", n_letters)
    L, N = n_letters, n_letters
    g = torch.zeros(N, L)  # what each letter writes into each cell
    for j in range(L - 1):
        g[j, j], g[j, j + 1] = OPEN, -OPEN
    g[-1, 1] = OPEN
    W_x, b = torch.zeros(4 * N, L), torch.zeros(4 * N)
    W_x[2 * N : 3 * N] = g
    b[: 2 * N], b[3 * N :] = OPEN, OPEN  # i, f and o
    layer = set_weights(LSTM(L, N), W_x=W_x, W_h=torch.zeros(4 * N, N), b=b)
    return by_hand(layer, torch.eye(L).tolist(), *_which_is_next(L))


def _which_is_next(L: int) -> tuple[list[list[float]], list[float]]:
    """The weights and biases of the L + 1 answers: the first difference that is not 0 is next."""
    first = [0.0] * (L - 1) + [-2.0]  # only as long as there is no second letter
    letters = [[-2.0] * j + [1.0] + [0.0] * (L - 2 - j) + [1.0] for j in range(L - 1)]
    end = [-2.0] * (L - 1) + [1.0]
    return [first, *letters, end], [1.0] + [-1.0] * (L - 1) + [0.0]


def adding_rnn(sharp: float = SHARP) -> Transducer:
    """Return an RNN with four units that adds two binary numbers, the lowest digits first.

    Its symbols and answers are those of `data.formal.Addition`. With a carry there are 0 to 3 ones
    to add: unit i of the first three says whether there are at least i. Two or more make the next
    carry. The fourth unit is always -1, so that carry = (h_2 - h_4) / 2 is 0 at first.
    """
    half = sharp / 2
    carry = [0.0, half, 0.0, -half]
    layer = set_weights(
        RNN(1, 4),
        W_x=[[sharp], [sharp], [sharp], [0.0]],
        W_h=[carry, carry, carry, [0.0] * 4],
        b=[-half, -3 * half, -5 * half, -sharp],
    )
    ones = [[0.0], [1.0], [1.0], [2.0]]
    return by_hand(layer, ones, [[0.0] * 4, [0.5, -0.5, 0.5, 0.0]], [0.0, 0.0])
