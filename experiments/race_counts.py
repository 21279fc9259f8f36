"""Tables of counts beside a network: what each learns from less text, a longer look, another text.

"order n" are interpolated counts of n letters in a row (Kneser and Ney); "network" is the race's
winner, grown to two layers of 128 and trained for 600 steps, or for fewer where its validation loss
was lowest before. Both learn the same piece of a text, which begins where the seed says. Losses are
in nats a letter on whole validation texts, read in windows of some letters: "own" in windows of 64,
"other" on the other text, "windows" in those of `WINDOWS`. "seconds" are the processor time that
counting or training took.
"""

import copy
import time
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from utils.data.docstrings import docstring_text
from utils.tasks.letters import TEXTS, ids, judged, vocabulary
from utils.tasks.race import WINDOW, WINNER, build, laps
from utils.training.counting import KneserNey

LEARNED = {"plays": 1, "a quarter": 4, "a sixteenth": 16, "docstrings": 1}
PARAMETERS = {
    "reader": ["order 3", "order 4", "order 5", "order 6", "order 7", "network"],
    "learned": list(LEARNED),
    "seed": [0, 1, 2],
}
SHORT = {
    "learned": ["a sixteenth", "docstrings"],
    "GROWN": "replace(GROWN, steps=10)",
    "CHECKS": [0.5, 1.0],
    "ids": "lambda text, part, known, ids=ids: ids(text, part, known)[:20_000]",
}
SECONDS = ("seconds",)
WINDOWS = [4, 8, 16, 32, 64, 128, 256]
GROWN = replace(WINNER, n_layers=2, d_model=128, d_ff=344, batch_size=4, length=256, steps=600)


def data() -> list[np.ndarray]:
    return [np.frombuffer(docstring_text().encode(), dtype=np.uint8)]


def measure(reader: str, learned: str, seed: int) -> dict:
    known = vocabulary(*TEXTS)
    text = "docstrings" if learned == "docstrings" else "plays"
    train = ids(text, "train", known)
    size = len(train) // LEARNED[learned]
    start = torch.randint(len(train) - size + 1, (), generator=torch.Generator().manual_seed(seed))
    train = train[start : start + size]
    own, other = (ids(name, "validation", known) for name in sorted(TEXTS, key=text.__ne__))
    if reader == "network":
        model, seconds = grown(train, own, len(known), seed)
        losses = [judged(model, own, window) for window in WINDOWS]
        elsewhere = judged(model, other, WINDOW)
    else:
        begin = time.process_time()
        table = KneserNey(train, int(reader[-1]), len(known))
        seconds = time.process_time() - begin
        losses = [counted(table, own, window) for window in WINDOWS]
        elsewhere = counted(table, other, WINDOW)
    return {
        "letters": size,
        "own": losses[WINDOWS.index(WINDOW)],
        "other": elsewhere,
        "windows": losses,
        "seconds": seconds,
    }


def grown(train: Tensor, own: Tensor, vocab_size: int, seed: int) -> tuple[torch.nn.Module, float]:
    """The network as it was at the check with the lowest validation loss, and its seconds."""
    model = build(GROWN, vocab_size, seed)
    lowest, best = float("inf"), {}
    for lap in laps(model, GROWN, train, own, seed):
        if lap.loss < lowest:
            lowest, best = lap.loss, copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    return model, lap.seconds


def counted(table: KneserNey, text: Tensor, window: int) -> float:
    """A table's loss on all of a text but its first letter, window by window, as `judged`."""
    whole = (len(text) - 1) // window * window
    rows = [text[: whole + 1].unfold(0, window + 1, window)]
    if len(text) > whole + 1:
        rows.append(text[None, whole:])
    found = [table.log_probabilities(row)[:, 1:].flatten() for row in rows]
    return -torch.cat(found).mean().item()
