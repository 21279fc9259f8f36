"""How many different rows does causal attention give for one symbol and its followers?"""

import torch

from utils.exercises.checking import Prediction, random
from utils.self_attention import MultiHeadAttention


def different_rows(T: int = 10, is_causal: bool = True) -> int:
    """Count the different rows of attention over one symbol and T - 1 times another."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        layer, symbols = MultiHeadAttention(8, 2).double(), random(2, 8)
        outputs, _ = layer(symbols[(torch.arange(T) > 0).long()][None], is_causal=is_causal)
    return len(outputs[0].mul(1e9).round().unique(dim=0))


exercise = Prediction(different_rows)


@exercise.mistake("that is without a mask; with it, do all positions average over the same?")
def unmasked():
    return different_rows(is_causal=False)


@exercise.mistake("the first symbol is a different one, and each row attends to it.")
def all_the_same():
    return 1


@exercise.mistake("the first row sees only itself: that is one more.")
def first_row_forgotten():
    return 9
