"""What is lost on real text if Day 7's writer looks back a few characters only?

The stored writer was trained with all pairs. Here each block sees a character and the `window`
before it (0: all before it), at once ("before"), and after a little more training under this window
("after"): perplexities on scikit-learn's validation text. All windows get the same steps, texts and
rate; the row of window 0 says what more training alone is worth.
"""

from functools import partial

import numpy as np
from torch.nn import functional as F

from utils.efficient import window_mask
from utils.show.views.models import load
from utils.tasks.writer import Writer, adapt, ids, long_ids, perplexity, take_weights

PARAMETERS = {"window": [0, 4, 8, 16, 32, 64, 128], "seed": [0, 1, 2], "steps": 120}
SHORT = {
    "window": [0, 16],
    "steps": 2,
    "perplexity": "lambda model, judge=perplexity: judge(model, n_pieces=2)",
}


def data() -> list[np.ndarray]:
    stored = load("documentation").weights
    return [long_ids().numpy(), ids("validation").numpy()] + [
        part for parts in stored.values() for part in parts
    ]


def measure(window: int, seed: int, steps: int) -> dict:
    model = Writer(partial(looking_back, window))
    take_weights(model, load("documentation").weights)
    before = perplexity(model)
    adapt(model, steps, seed=seed)
    return {"before": before, "after": perplexity(model.eval())}


def looking_back(window: int, q, k, v):
    T = q.shape[2]
    mask = window_mask(T, window or T, is_causal=True)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
