"""What becomes of "not" and "but" when the order is taken away?

Models that are trained on reviews as they are, and on reviews whose words are shuffled, read the
test reviews as they are and shuffled, kind by kind.
"""

import random
from collections.abc import Sequence

from utils.data.reviews import KINDS, Review, Reviews, reviews
from utils.tasks.reading import Recipe, as_labelled, as_task, learn, share_right

PARAMETERS = {
    "model": ["bag of words", "BiLSTM", "Transformer"],
    "trained_on": ["order", "shuffled"],
    "steps": 500,
    "seed": [0, 1, 2],
}
SHORT = {"steps": 50}
SETTINGS = {"bag of words": 1.0, "BiLSTM": 1e-2, "Transformer": 3e-3}


def measure(model: str, trained_on: str, steps: int, seed: int) -> dict:
    held = reviews()
    mixed = Reviews(*(shuffled(part, seed) for part in held))
    task = as_task(*(held if trained_on == "order" else mixed)[:3])
    answer = learn(model, task, SETTINGS[model], Recipe(steps), seed)
    found = {}
    for name, test in (("order", held.test), ("shuffled", mixed.test)):
        found[name] = share_right(answer, as_labelled(test))
        for kind in KINDS:
            of_kind = [review for review in test if review.kind == kind]
            found[f"{name}, {kind}"] = share_right(answer, as_labelled(of_kind))
    return found


def shuffled(part: Sequence[Review], seed: int) -> list[Review]:
    """The reviews, each with its words in random order."""
    chance = random.Random(seed)
    mixed = [chance.sample(review.words, len(review.words)) for review in part]
    return [
        review._replace(words=tuple(words), decides=())
        for review, words in zip(part, mixed, strict=True)
    ]
