"""What do the cheap forms of attention give up? The same small Transformer with each of them.

Three tasks, each at 128 positions. "recall": what belongs to a key, wherever it stands. "count":
the most frequent symbol. "text": the next letter, from those before it; a form that is not causal
can't do it, and has None. Each query of a sparse or low-rank form is compared with about 33 keys
instead of 128.
"""

import math
from functools import partial

import torch
from torch import Tensor, nn

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
from utils.lab.recipes import tag_loss, train_tagger
from utils.lab.sequences import NOT_ASKED, associative_recall, most_frequent
from utils.lab.text import Vocabulary, manual_text
from utils.transformer import Tagger, TransformerConfig

PARAMETERS = {
    "method": [
        "full",
        "window",
        "window, global",
        "strided",
        "fixed",
        "bigbird",
        "linformer",
        "performer",
        "linear",
    ],
    "task": ["recall", "count", "text"],
    "seed": [0, 1, 2],
}
VARIES_WITH_PYTHON = True
T = 128
STEPS, RATES = (
    {"recall": 150, "count": 80, "text": 200},
    {"recall": 5e-3, "count": 5e-3, "text": 1e-2},
)
NOT_CAUSAL = ("bigbird", "linformer")
EDGES = (1, 17, 33, 49, 65, 97, 128)  # distances of question and answer


def form(method: str, d_k: int, seed: int):
    """Return one block's form of attention."""
    forms = {
        "window": partial(window_attention, window=16),
        "window, global": partial(window_attention, window=14, global_positions=(0, 42, 85, 127)),
        "strided": partial(strided_attention, stride=12),
        "fixed": partial(fixed_attention, stride=16, n_summary=2),
        "bigbird": partial(bigbird_attention, block=8, seed=seed),
        "linear": linear_attention,
    }
    if method == "linformer":
        return Linformer(T, 32)
    return Performer(d_k, 64, seed) if method == "performer" else forms[method]


def measure(method: str, task: str, seed: int) -> dict:
    if task == "text" and method in NOT_CAUSAL:
        return dict.fromkeys(COLUMNS)
    torch.manual_seed(seed)
    train, test, n_symbols, n_classes = TASKS[task](16 * STEPS[task], seed)
    sizes = {"d_model": 64, "n_heads": 2, "d_ff": 128, "n_layers": 2}
    config = TransformerConfig(n_symbols, **sizes, norm="pre", dropout=0.0)
    model = Tagger(config, n_classes, is_causal=task == "text")
    if method != "full":
        use_form(model, lambda number: form(method, 32, 10 * seed + number))
    train_tagger(model, *train, learning_rate=RATES[task], seed=seed)
    found = dict.fromkeys(COLUMNS) | judged(model.eval(), *test)
    if method == "full":
        found |= spectrum(model, test[0])
    return found


def recall(n: int, seed: int) -> tuple:
    """Training and test sequences, and the numbers of symbols and classes."""
    return associative_recall(n, T, seed)[:2], associative_recall(256, T, seed + 1000), 64 + 9, 8


def count(n: int, seed: int) -> tuple:
    return most_frequent(n, T, seed), most_frequent(256, T, seed + 1000), 8, 8


def text(n: int, seed: int) -> tuple:
    letters = Vocabulary(manual_text())
    train, test = (pieces(letters.encode(manual_text(p)), n, seed) for p in ("train", "test"))
    return train, tuple(part[:256] for part in test), len(letters), len(letters)


def pieces(ids: list[int], n: int, seed: int) -> tuple[Tensor, Tensor]:
    """Cut n pieces out of a text: what is read, and the next letters, (n, T) each."""
    starts = torch.randint(len(ids) - T, (n, 1), generator=torch.Generator().manual_seed(seed))
    cut = torch.tensor(ids)[starts + torch.arange(T + 1)]
    return cut[:, :-1], cut[:, 1:]


TASKS = {"recall": recall, "count": count, "text": text}
COLUMNS = ("right", "bits", "right by distance", "largest values, 1", "largest values, 2")


@torch.no_grad()
def judged(model: nn.Module, ids: Tensor, target: Tensor, apart: Tensor | None = None) -> dict:
    """Share of right answers, bits an answer, and the share by distance, if there is one."""
    logits = model(ids)
    right, asked = logits.argmax(-1) == target, target != NOT_ASKED
    found = {
        "right": right[asked].double().mean().item(),
        "bits": tag_loss(logits, target).item() / math.log(2),
    }
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
