"""Day 4's translations, by Day 6's Transformer: how much is exactly right?

`aer` is the alignment error rate of the decoder's looks at the source, the mean over heads.
"""

from functools import cache

import torch

from utils.seq2seq import forced_weights, greedy_decode
from utils.tasks.translation import TRANSFORMER, Task
from utils.transformer import Transformer, TransformerConfig, label_smoothing_loss

PARAMETERS = {"pairs": 24_000, "epochs": 5, "seed": [0, 1, 2]}
SHORT = {"pairs": 200, "epochs": 1}
task = cache(Task)


def measure(pairs: int, epochs: int, seed: int) -> dict:
    given = task(pairs)
    torch.manual_seed(seed)
    config = TransformerConfig(len(given.english), len(given.chinese), **TRANSFORMER)
    how = {"epochs": epochs, "seed": seed}
    model = Transformer(config)
    return given.measure(model, label_smoothing_loss, greedy_decode, forced_weights, **how)
