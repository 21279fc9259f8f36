"""How far does a change reach through two layers of windows?"""

import torch

from utils.exercises.checking import Prediction, random
from utils.self_attention import MultiHeadAttention, causal_mask


def rows_that_change(window: int = 3, n_layers: int = 2, T: int = 12, changed: int = 4) -> int:
    """Count the rows that change in a stack if one symbol does; each sees `window` up to itself."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        layers = [MultiHeadAttention(8, 2).double() for _ in range(n_layers)]
        x = random(1, T, 8).repeat(2, 1, 1)
        x[1, changed] = random(8)
        mask = causal_mask(T).triu(1 - window)
        for layer in layers:
            x, _ = layer(x, mask=mask)
    return int(((x[0] - x[1]).abs() > 1e-12).any(-1).sum())


exercise = Prediction(rows_that_change)


@exercise.mistake("that is after one layer; the second reads its rows.")
def one_layer():
    return rows_that_change(n_layers=1)


@exercise.mistake("a query reaches back only as far as its window, twice.")
def no_window():
    return rows_that_change(window=12)


@exercise.mistake("two windows overlap: the row between them counts once.")
def windows_added():
    return 3 + 3


@exercise.mistake("nothing reaches the rows before the change.")
def both_sides():
    return 4 + 1 + 4


@exercise.mistake("the row that you changed counts, too.")
def not_itself():
    return 2 + 2


@exercise.mistake("that would be a network that looks at one position at a time.")
def own_row():
    return rows_that_change(window=1)
