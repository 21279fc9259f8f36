"""What do smoothed labels cost in perplexity, and bring in accuracy (Szegedy et al., 2016)?

Small Transformers read dates in twelve languages, shown few of them often or many of them seldom:
about as many steps either way. Of new days: `nats`, the cross-entropy of a symbol by the true
labels, `accuracy`, the share of right symbols, both with the truth so far given; `exact`, the share
of dates that are written without a mistake; `confidence`, the mean probability of the symbol that
is held for the most likely. `nats, training` is what is left of the first on what was trained on.
CLDR changes a little with each release of Babel, and the numbers with it.
"""

from functools import partial

import numpy as np
import torch

from utils.data.dates import Example, corpus
from utils.data.text import BOS, EOS, PAD, Vocabulary, pad
from utils.seq2seq import greedy_decode, sequence_loss
from utils.tasks.translation import train_translator
from utils.training.metrics import accuracy, exact_match
from utils.transformer import Transformer, TransformerConfig, label_smoothing_loss

PARAMETERS = {"pairs": [250, 8000], "smoothing": [0.0, 0.1], "seed": [0, 1, 2]}
SHORT = {"EPOCHS": {250: 2}, "smoothing": [0.1, 0.0]}
EPOCHS = {250: 90, 8000: 3}
TARGETS = Vocabulary("0123456789-")


def data() -> list[np.ndarray]:
    texts = "\n".join(f"{e.text} {e.target}" for part in corpus(1000) for e in part)
    return [np.frombuffer(texts.encode(), dtype=np.uint8)]


@torch.no_grad()
def given_the_truth(model: Transformer, sources: list[list[int]], dates: list[list[int]]) -> dict:
    target_in, _ = pad([[BOS, *date] for date in dates])
    target, _ = pad([[*date, EOS] for date in dates])
    logits = model.eval()(*pad(sources), target_in)
    asked = target != PAD
    return {
        "nats": sequence_loss(logits, target).item(),
        "accuracy": accuracy(logits[asked], target[asked]),
        "confidence": logits[asked].softmax(-1).amax(-1).mean().item(),
    }


def measure(pairs: int, smoothing: float, seed: int) -> dict:
    parts = corpus(pairs, seed=seed)
    letters = Vocabulary(letter for example in parts.train for letter in example.text)

    def encode(part: list[Example]) -> tuple[list[list[int]], list[list[int]]]:
        texts = [[*letters.encode(example.text), EOS] for example in part]
        return texts, [TARGETS.encode(example.target) for example in part]

    torch.manual_seed(seed)
    config = TransformerConfig(
        len(letters), len(TARGETS), d_model=32, n_heads=4, d_ff=64, n_layers=1, norm="pre"
    )
    model = Transformer(config)
    loss = partial(label_smoothing_loss, smoothing=smoothing)
    shown = encode(parts.train)
    how = {"epochs": EPOCHS[pairs], "learning_rate": 8e-3, "seed": seed}
    history = train_translator(model, loss, *shown, **how)
    texts, dates = encode(parts.test)
    written = greedy_decode(model, *pad(texts), max_len=12)
    return {
        "steps": len(history.step_loss),
        "nats, training": given_the_truth(model, *(part[:1000] for part in shown))["nats"],
        **given_the_truth(model, texts, dates),
        "exact": exact_match(written, [[*date, EOS] for date in dates], EOS),
    }
