"""What do the cheap forms of attention give up? The same small Transformer with each of them.

Two tasks, each at 128 positions. "recall": what belongs to a key, wherever it stands. "count": the
most frequent symbol. For most queries the sparse and low-rank forms leave 30 to 33 keys to compare
with, BigBird 40.

One rate and one budget were chosen with full attention and given to all forms: 150 steps, in which
it learns recall. For forms that see all positions these are too few, so they get 450. A pattern
can't answer what it doesn't see, whatever the steps. Count is stopped at 180 steps, before any form
has learned all of it. No rate was tuned by form.
"""

from functools import partial

import torch
from torch import Tensor, nn

from utils.data.batches import Batches
from utils.data.sequences import IGNORE_INDEX, associative_recall, most_frequent
from utils.efficient import (
    Linformer,
    Performer,
    bigbird_attention,
    fixed_attention,
    linear_attention,
    strided_attention,
    use_form,
    window_attention,
)
from utils.training.recipes import tag_loss, train_once
from utils.transformer import Tagger, TransformerConfig

PARAMETERS = {
    "method": [
        "full",
        "window",
        "strided",
        "fixed",
        "bigbird",
        "linformer",
        "performer",
        "linear",
    ],
    "task": ["recall", "count"],
    "seed": [0, 1, 2],
}
SHORT = {"STEPS": {"recall": 10, "count": 10}, "LATER": {}}
T = 128
RATE = 5e-3
STEPS = {"recall": 150, "count": 180}
LATER = {"linformer": 450, "performer": 450, "linear": 450}  # steps of recall
EXCHANGED = ("window", "strided", "performer", "linear")
EDGES = (1, 17, 33, 49, 65, 97, 128)  # distances of question and answer


def form(method: str, d_k: int, seed: int):
    """Return one block's form of attention."""
    forms = {
        "window": partial(window_attention, window=16),
        "strided": partial(strided_attention, stride=12),
        "fixed": partial(fixed_attention, stride=16, n_summary=2),
        "bigbird": partial(bigbird_attention, block=8, seed=seed),
        "linear": linear_attention,
    }
    if method == "linformer":
        return Linformer(T, 32)
    return Performer(d_k, 64, seed) if method == "performer" else forms[method]


def measure(method: str, task: str, seed: int) -> dict:
    torch.manual_seed(seed)
    steps = LATER.get(method, STEPS[task]) if task == "recall" else STEPS[task]
    train, test, n_symbols, n_classes = TASKS[task](16 * steps, seed)
    sizes = {"d_model": 64, "n_heads": 2, "d_ff": 128, "n_layers": 2}
    config = TransformerConfig(n_symbols, **sizes, norm="pre", dropout=0.0)
    model = Tagger(config, n_classes)
    if method != "full":
        use_form(model, lambda number: form(method, 32, 10 * seed + number))
    batches = Batches(*train, batch_size=16)
    train_once(model, tag_loss, batches, learning_rate=RATE, seed=seed)
    found = dict.fromkeys(COLUMNS) | {"steps": steps} | judged(model.eval(), *test)
    if method == "full":
        found |= spectrum(model, test[0]) | exchanged(model, seed, *test)
    return found


def recall(n: int, seed: int) -> tuple:
    """Training and test sequences, and the numbers of symbols and classes."""
    return associative_recall(n, T, seed)[:2], associative_recall(256, T, seed + 1000), 64 + 9, 8


def count(n: int, seed: int) -> tuple:
    return most_frequent(n, T, seed), most_frequent(256, T, seed + 1000), 8, 8


TASKS = {"recall": recall, "count": count}
COLUMNS = (
    "right by distance",
    "largest values, 1",
    "largest values, 2",
    *(f"exchanged for {name}" for name in EXCHANGED),
)


@torch.no_grad()
def judged(model: nn.Module, ids: Tensor, target: Tensor, apart: Tensor | None = None) -> dict:
    """Share of right answers, and the share by distance, if there is one."""
    right, asked = model(ids).argmax(-1) == target, target != IGNORE_INDEX
    found = {"right": right[asked].double().mean().item()}
    if apart is not None:
        rings = [asked & (apart >= a) & (apart < b) for a, b in zip(EDGES, EDGES[1:], strict=False)]
        found["right by distance"] = [right[ring].double().mean().item() for ring in rings]
    return found


@torch.no_grad()
def spectrum(model: nn.Module, ids: Tensor) -> dict[str, list[float]]:
    """By block: which share of the sum of a map's singular values its n largest have, the mean."""
    _, weights = model(ids[:32], need_weights=True)  # (B, L, h, T, T)
    values = torch.linalg.svdvals(weights)
    curves = (values.cumsum(-1) / values.sum(-1, keepdim=True)).mean(dim=(0, 2))  # (L, T)
    return {f"largest values, {block}": curve.tolist() for block, curve in enumerate(curves, 1)}


def exchanged(model: nn.Module, seed: int, *test: Tensor) -> dict[str, float]:
    """Share of right answers with other forms in place of full attention, after training."""
    found = {}
    for name in EXCHANGED:
        use_form(model, lambda number, name=name: form(name, 32, 10 * seed + number))
        found[f"exchanged for {name}"] = judged(model, *test[:2])["right"]
    return found
