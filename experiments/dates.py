"""How well does an encoder and decoder with attention read dates in twelve languages?

The days of the test are new; `unseen` has formats that training never showed. CLDR changes a little
with each release of Babel, and the numbers with it.
"""

import numpy as np
import torch

from utils.lab.dates import Example, corpus
from utils.lab.metrics import exact_match
from utils.lab.recipes import train_translator
from utils.lab.text import EOS, Vocabulary, pad
from utils.seq2seq import Seq2Seq, Seq2SeqConfig, greedy_decode, sequence_loss

PARAMETERS = {"locale": [True, False], "pairs": 24_000, "epochs": 3, "seed": [0, 1, 2]}


def written(example: Example, locale: bool) -> list[str]:
    """The letters of a date, behind the name of its locale where the model is told."""
    return [f"<{example.locale}>"] * locale + list(example.text)


def data() -> list[np.ndarray]:
    texts = "\n".join(f"{e.text} {e.target}" for part in corpus(1000) for e in part)
    return [np.frombuffer(texts.encode(), dtype=np.uint8)]


def measure(locale: bool, pairs: int, epochs: int, seed: int) -> dict:
    parts = corpus(pairs, seed=seed)
    sources = Vocabulary(symbol for e in parts.train for symbol in written(e, locale))
    targets = Vocabulary("0123456789-")

    def encode(part: list[Example]) -> tuple[list[list[int]], list[list[int]]]:
        texts = [[*sources.encode(written(example, locale)), EOS] for example in part]
        return texts, [targets.encode(example.target) for example in part]

    torch.manual_seed(seed)
    config = Seq2SeqConfig(len(sources), len(targets), 48, 96, attention="general", style="Luong")
    model = Seq2Seq(config)
    history = train_translator(model, sequence_loss, *encode(parts.train), epochs=epochs, seed=seed)

    def exact(part: list[Example]) -> float:
        texts, dates = encode(part)
        right = [[*date, EOS] for date in dates]
        return exact_match(greedy_decode(model, *pad(texts), max_len=12), right, EOS)

    return {
        "steps": len(history.step_loss),
        "seconds": sum(history.seconds),
        "validation": exact(parts.validation),
        "exact": exact(parts.test),
        "unseen": exact(parts.unseen_formats),
    }
