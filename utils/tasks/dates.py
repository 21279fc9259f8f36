"""Dates as a task: texts in ids, and how what a model makes of them is judged."""

from collections.abc import Callable, Sequence

import numpy as np
from torch import nn

from utils.data.dates import LOCALES, Example, corpus
from utils.data.text import EOS, Vocabulary, pad
from utils.tasks.translation import train_translator
from utils.training.metrics import exact_match

MAX_LEN = 12  # symbols: those of a date, and EOS, and one to spare
WRITTEN_IN = {
    "en_US": "English, USA",
    "en_GB": "English, UK",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "pt_BR": "Portuguese, Brazil",
    "nl": "Dutch",
    "pl": "Polish",
    "ru": "Russian",
    "tr": "Turkish",
    "zh": "Chinese",
}


class DateTask:
    """From dates as people write them into ISO 8601: learn from `pairs`, be judged on others.

    locale: whether the name of a date's locale stands before it.
    """

    def __init__(self, pairs: int, *, locale: bool, seed: int):
        self.locale = locale
        self.parts = corpus(pairs, seed=seed)
        self.texts = Vocabulary(symbol for e in self.parts.train for symbol in self.symbols(e))
        self.dates = Vocabulary("0123456789-")

    def symbols(self, example: Example) -> list[str]:
        """The letters of a date, behind the name of its locale where the model is told."""
        return [f"<{example.locale}>"] * self.locale + list(example.text)

    def ids(self, part: Sequence[Example]) -> tuple[list[list[int]], list[list[int]]]:
        """Texts, each ended by EOS, and dates, which are not: that is for the batches to do."""
        texts = [[*self.texts.encode(self.symbols(example)), EOS] for example in part]
        return texts, [self.dates.encode(example.target) for example in part]

    def measure(
        self, model: nn.Module, loss: Callable, write: Callable, *, epochs: int, seed: int
    ) -> dict:
        """Train a model with `train_translator`; return its shares of exact dates.

        write: makes ids (B, T) of the model, texts (B, S), their lengths (B,) and the most that may
            be written, as `greedy_decode` does.
        """
        history = train_translator(
            model, loss, *self.ids(self.parts.train), epochs=epochs, seed=seed
        )

        def exact(part: Sequence[Example]) -> float:
            texts, dates = self.ids(part)
            return exact_match(write(model, *pad(texts), MAX_LEN), [[*d, EOS] for d in dates], EOS)

        return {
            "parameters": sum(p.numel() for p in model.parameters()),
            "steps": len(history.step_loss),
            "validation": exact(self.parts.validation),
            "exact": exact(self.parts.test),
            "unseen": exact(self.parts.unseen_formats),
        }


def one_of_each(examples: Sequence[Example]) -> list[Example]:
    """The first example of each locale whose month or weekday is a word, in `LOCALES`' order."""
    formats = ("medium", "long", "full", "yMMMEd")
    worded = [e for e in examples if e.format in formats and any(map(str.isalpha, e.text))]
    return [next(e for e in worded if e.locale == locale) for locale in LOCALES]


def shown_first(part: Sequence[Example]) -> list[tuple[str, str, str]]:
    """Of each locale: its name, what people call it, and a date of `one_of_each`."""
    return [(e.locale, WRITTEN_IN[e.locale], e.text) for e in one_of_each(part)]


def sample() -> list[np.ndarray]:
    """Letters of a thousand dates of each kind, as bytes, which tell whether CLDR has changed."""
    texts = "\n".join(f"{e.text} {e.target}" for part in corpus(1000) for e in part)
    return [np.frombuffer(texts.encode(), dtype=np.uint8)]
