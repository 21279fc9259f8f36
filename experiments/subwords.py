"""Do subwords beat words? Characters, words and byte pairs, at equal vocabulary, examples, steps.

Day 8's Transformer says which library says a sentence; and which language a word is from, where no
word of the test was ever trained on. It is at its best learning rate of four, each time.
"""

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from utils.data.dates import LANGUAGES, language_words
from utils.data.libraries import NAME, NUMBER, sentences
from utils.data.text import UNK, Vocabulary
from utils.tasks.reading import (
    Labelled,
    Recipe,
    Task,
    as_task,
    said_by_libraries,
    share_right,
    tuned,
)
from utils.tokens import BytePairs, characters, learn_merges_indexed, words

PARAMETERS = {
    "task": ["sentences", "words"],
    "tokens": ["characters", "words", "byte pairs"],
    "n_train": 3000,
    "vocabulary": 1000,
    "steps": 376,
    "batch_size": 32,
}
SHORT = {"n_train": 200, "vocabulary": 300, "steps": 4, "SEEDS": (0,)}
MASKS = {NAME: "@", NUMBER: "#"}  # one character each: neither is in a sentence


class Text(NamedTuple):
    """A text and its class, whole or cut: `words` are then its tokens."""

    words: str | list[str]
    label: int


def parts_of(task: str, n_train: int) -> list[list[Text]]:
    """Training, validation and test texts."""
    if task == "words":
        held = [
            [Text(word.text, LANGUAGES.index(word.language)) for word in part]
            for part in language_words()
        ]
    else:
        held = [
            [Text(" ".join(MASKS.get(w, w) for w in said.words), said.label) for said in part]
            for part in sentences()
        ]
    return [held[0][:n_train], *held[1:]]


def data() -> list[np.ndarray]:
    said = "\n".join(word.text for part in language_words() for word in part)
    return [*said_by_libraries(), np.frombuffer(said.encode(), dtype=np.uint8)]


def measure(
    task: str, tokens: str, n_train: int, vocabulary: int, steps: int, batch_size: int
) -> dict:
    parts = parts_of(task, n_train)
    cut, kept = cutter(tokens, [text.words for text in parts[0]], vocabulary)
    read = as_task(*([Text(cut(text), label) for text, label in part] for part in parts))
    read = read._replace(vocabulary=Vocabulary(kept))
    known = {word for text, _ in parts[0] for word in words(text)}
    unseen = [not known.issuperset(words(text)) for text, _ in parts[2]]
    judged = {"validation": read.validation, "test": read.test}
    for name, which in (("unseen words", unseen), ("seen words", [not is_so for is_so in unseen])):
        if any(which):
            judged[name] = chosen(read.test, which)
    found = tuned("Transformer", read, Recipe(steps, batch_size))
    right = {name: [share_right(a, part) for a in found.answers] for name, part in judged.items()}
    return {
        "tokens known": len(kept),
        "tokens per text": sum(map(len, read.test.texts)) / len(read.test.texts),
        "unknown tokens": share_unknown(read),
        "texts with unseen words": sum(unseen) / len(unseen),
        "setting": found.setting,
        "by setting": found.by_setting,
        **right,
    }


def cutter(
    tokens: str, texts: list[str], vocabulary: int
) -> tuple[Callable[[str], list[str]], list[str]]:
    """What cuts a text into its tokens, and those that it knows: learned from training texts."""
    if tokens != "byte pairs":
        cut = {"characters": characters, "words": words}[tokens]
        counts = Counter(token for text in texts for token in cut(text))
        return cut, [token for token, _ in counts.most_common(vocabulary)]
    said = "\n".join(f" {text}" for text in texts)  # the first word looks like all others
    letters = {*said.encode()}
    merges = learn_merges_indexed(said, vocabulary - len(letters))
    pairs = BytePairs.from_merges(merges)

    def cut(text: str) -> list[str]:
        return named(pairs.encode(f" {text}"))

    def named(ids: list[int]) -> list[str]:
        return [piece.decode("latin-1") for piece in pairs.pieces(ids)]

    return cut, named([*letters, *range(256, 256 + len(merges))])


def chosen(part: Labelled, which: list[bool]) -> Labelled:
    """Those examples of a part that are marked."""
    rows = [row for row, is_chosen in enumerate(which) if is_chosen]
    return Labelled([part.texts[row] for row in rows], part.labels[rows])


def share_unknown(task: Task) -> float:
    """Which share of the test's tokens is not in the vocabulary."""
    ids = [n for text in task.test.texts for n in task.vocabulary.encode(text)]
    return ids.count(UNK) / len(ids)
