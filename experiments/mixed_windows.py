"""Is one block with all pairs enough for recall, if the other block has a window?

The task, the sizes, the rate and the steps are those of `efficient_quality`, whose Transformer has
two blocks. Here one of them has a window of 16 to both sides, and the other sees everything.
"""

from functools import partial

import torch

from utils.data.batches import Batches
from utils.data.sequences import IGNORE_INDEX, associative_recall
from utils.efficient import blocks, use_form, window_attention
from utils.training.recipes import tag_loss, train_once
from utils.transformer import Tagger, TransformerConfig

PARAMETERS = {"all pairs in block": [1, 2], "seed": [0, 1, 2]}
SHORT = {"STEPS": 10}
T, STEPS, RATE = 128, 150, 5e-3
EDGES = (1, 17, 33, 49, 65, 97, 128)  # distances of question and answer


def measure(seed: int, **member: int) -> dict:
    seeing_all = member["all pairs in block"]
    torch.manual_seed(seed)
    sizes = {"d_model": 64, "n_heads": 2, "d_ff": 128, "n_layers": 2}
    model = Tagger(TransformerConfig(64 + 9, **sizes, norm="pre", dropout=0.0), n_classes=8)
    window = partial(window_attention, window=16)
    use_form(model, lambda number: blocks.attend if number + 1 == seeing_all else window)
    train = Batches(*associative_recall(16 * STEPS, T, seed)[:2], batch_size=16)
    train_once(model, tag_loss, train, learning_rate=RATE, seed=seed)
    ids, target, apart = associative_recall(256, T, seed + 1000)
    with torch.no_grad():
        right = model.eval()(ids).argmax(-1) == target
    asked = target != IGNORE_INDEX
    rings = [asked & (apart >= a) & (apart < b) for a, b in zip(EDGES, EDGES[1:], strict=False)]
    return {
        "right": right[asked].double().mean().item(),
        "right by distance": [right[ring].double().mean().item() for ring in rings],
    }
