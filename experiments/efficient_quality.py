"""What do the cheap forms of attention give up? The same small Transformer with each of them.

Two tasks, each at 128 positions: recall from anywhere, and blanks in a text, where neighbours help
most. Each query of a sparse or low-rank form is compared with about 33 keys instead of 128.
"""

import math
from functools import partial

import torch
from torch import Tensor, nn

from utils.efficient import (
    Linformer,
    Performer,
    Tagger,
    bigbird_attention,
    fixed_attention,
    linear_attention,
    strided_attention,
    tiled_attention,
    use_form,
    window_attention,
)
from utils.lab.recipes import tag_loss, train_tagger
from utils.lab.sequences import associative_recall, blanks
from utils.lab.text import Vocabulary, manual_text
from utils.transformer import TransformerConfig

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
    "task": ["recall", "blanks"],
    "seed": [0, 1, 2],
}
VARIES_WITH_PYTHON = True
T, STEPS, BATCH = 128, {"recall": 150, "blanks": 200}, 16
EDGES = (1, 17, 33, 49, 65, 97, 128)  # distances of question and answer
EXCHANGED = ("window", "strided", "fixed", "bigbird", "performer", "linear")


def form(method: str, d_k: int, seed: int):
    """Return one block's form of attention."""
    forms = {
        "full": tiled_attention,
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
    torch.manual_seed(seed)
    train, test, n_symbols, n_classes = TASKS[task](STEPS[task] * BATCH, seed)
    config = TransformerConfig(
        n_symbols, d_model=64, n_heads=2, d_ff=128, n_layers=2, norm="pre", dropout=0.0
    )
    model = Tagger(config, n_classes)
    if method != "full":
        use_form(model, lambda number: form(method, 32, 10 * seed + number))
    train_tagger(model, *train, seed=seed)
    found = judged(model.eval(), *test)
    spectra, exchanged = {1: None, 2: None}, dict.fromkeys(EXCHANGED)
    if method == "full":
        spectra = spectrum(model, test[0])
        for name in EXCHANGED:
            use_form(model, lambda number, name=name: form(name, 32, 10 * seed + number))
            exchanged[name] = judged(model, *test)["right"]
    return (
        found
        | {f"largest values, block {block}": curve for block, curve in spectra.items()}
        | {f"exchanged, {name}": right for name, right in exchanged.items()}
    )


def recall(n: int, seed: int) -> tuple:
    """Training and test sequences, and the numbers of symbols and classes."""
    return associative_recall(n, T, seed)[:2], associative_recall(256, T, seed + 1000), 64 + 9, 8


def text(n: int, seed: int) -> tuple:
    letters = Vocabulary(manual_text())
    blank = len(letters)
    parts = {part: torch.tensor(letters.encode(manual_text(part))) for part in ("train", "test")}
    test = blanks(parts["test"], 256, T, blank, seed + 1000)
    return blanks(parts["train"], n, T, blank, seed), test, blank + 1, blank


TASKS = {"recall": recall, "blanks": text}


@torch.no_grad()
def judged(model: nn.Module, ids: Tensor, target: Tensor, apart: Tensor | None = None) -> dict:
    """Share of right answers, bits an answer, and the share by distance, if there is one."""
    logits = model(ids)
    right, asked = logits.argmax(-1) == target, target != -100
    by_distance = None
    if apart is not None:
        rings = [asked & (apart >= a) & (apart < b) for a, b in zip(EDGES, EDGES[1:], strict=False)]
        by_distance = [right[ring].double().mean().item() for ring in rings]
    return {
        "right": right[asked].double().mean().item(),
        "bits": tag_loss(logits, target).item() / math.log(2),
        "right by distance": by_distance,
    }


@torch.no_grad()
def spectrum(model: nn.Module, ids: Tensor) -> dict[int, list[float]]:
    """By block: which share of the sum of a map's singular values its n largest have, the mean."""
    _, weights = model(ids[:32], need_weights=True)  # (B, L, h, T, T)
    values = torch.linalg.svdvals(weights)
    curves = (values.cumsum(-1) / values.sum(-1, keepdim=True)).mean(dim=(0, 2))  # (L, T)
    return {block: curve.tolist() for block, curve in enumerate(curves, 1)}
