"""Does an LSTM that learned to write docstrings keep track of quotation marks in one unit?

The unit is picked on validation text, by the correlation of its cell with being inside quotation
marks, and judged on the test's: by the same correlation, and by the loss (in nats) at closing marks
when this unit is cut out, beside the loss when another is. 0 epochs: not trained.
"""

import re

import numpy as np
import torch
from torch.nn import functional as F

from utils.data.docstrings import docstring_text
from utils.data.text import Vocabulary
from utils.recurrent import LSTM, LanguageModel, Streaming
from utils.tasks.characters import train_characters

PARAMETERS = {"epochs": [0, 6], "seed": [0, 1, 2]}
SHORT = {"epochs": [0, 1], "LETTERS": 2000}
HIDDEN_SIZE, LETTERS, SHOWN = 120, 10_000, 48


def data() -> list[np.ndarray]:
    return [np.frombuffer(docstring_text().encode(), dtype=np.uint8)]


def measure(epochs: int, seed: int) -> dict:
    train, validation, test = (docstring_text(part) for part in ("train", "validation", "test"))
    vocabulary = Vocabulary(train)
    torch.manual_seed(seed)
    model = LanguageModel(len(vocabulary), 32, LSTM(32, HIDDEN_SIZE))
    if epochs:
        ids = [torch.tensor(vocabulary.encode(part)) for part in (train, validation)]
        train_characters(Streaming(model), *ids, epochs=epochs, seed=seed)

    text = validation[:LETTERS]
    cells, *_ = watch(model, torch.tensor(vocabulary.encode(text)))
    found = correlation(cells, inside_quotes(text))
    unit = found.abs().argmax().item()

    text = test[:LETTERS]
    cells, forget, enter, losses = watch(model, torch.tensor(vocabulary.encode(text)))
    inside = inside_quotes(text)
    closing = torch.tensor([letter == '"' for letter in text[1:]]) & inside[:-1].bool()
    whole, *cut = losses[closing].mean(0).tolist()
    here = slice(start := excerpt(text), start + SHOWN)
    return {
        "unit": unit,
        "correlation, validation": found[unit].item(),
        "correlation, test": correlation(cells, inside)[unit].item(),
        "closing marks": int(closing.sum()),
        "loss": whole,
        "loss, unit cut": cut.pop(unit),
        "loss, another cut": sorted(cut),
        "letters": [ord(letter) for letter in text[here]],
        "cell": cells[here, unit].tolist(),
        "forget": forget[here, unit].tolist(),
        "input": enter[here, unit].tolist(),
    }


def watch(model: LanguageModel, ids: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Read a text (T,) letter by letter; N more readers have a unit each whose h and c stay at 0.

    Returns: tanh of the cell, forget and input gates of the whole reader, each (T, N); the losses
    of all readers at each next letter (T - 1, 1 + N), the whole one first.
    """
    kept = torch.cat([torch.ones(1, HIDDEN_SIZE), 1 - torch.eye(HIDDEN_SIZE)])
    state, seen = model.layer.initial_state(len(kept)), []
    with torch.no_grad():
        for x_t in model.embedding(ids[:, None]).expand(-1, len(kept), -1):
            i, f, *_ = model.layer.gates(x_t, state)
            h, c = (part * kept for part in model.layer.cell(x_t, state))
            state = h, c
            seen.append((c[0].tanh(), f[0], i[0], model.output(h)))
        *parts, logits = (torch.stack(part) for part in zip(*seen, strict=True))
        targets = ids[1:, None].expand(-1, len(kept))
        losses = F.cross_entropy(logits[:-1].flatten(0, 1), targets.flatten(), reduction="none")
    return *parts, losses.view(-1, len(kept))


def inside_quotes(text: str) -> torch.Tensor:
    """1 from an opening quotation mark on, 0 from a closing one or a new line on. Shape: (T,)."""
    inside, signs = False, []
    for letter in text:
        inside = (inside != (letter == '"')) and letter != "\n"
        signs.append(inside)
    return torch.tensor(signs, dtype=torch.float32)


def correlation(units: torch.Tensor, signal: torch.Tensor) -> torch.Tensor:
    """Pearson's correlation of each unit with a signal. Shapes: (T, N) and (T,) to (N,)."""
    units, signal = units - units.mean(0), signal - signal.mean()
    return signal @ units / (units.norm(dim=0) * signal.norm()).clamp(min=1e-9)


def excerpt(text: str) -> int:
    """Begin of a passage with the longest quotation of up to 28 letters."""
    quotations = re.finditer(r'(?<=[^"]{10})"[^"\n]{1,28}"', text[:-SHOWN])
    return max(quotations, key=lambda match: len(match[0])).start() - 10
