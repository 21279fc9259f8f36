"""How many reviews can a sum over their words classify correctly?"""

from collections import defaultdict
from itertools import product

from utils.exercises.checking import Prediction

KINDS = [  # equally many of each, and as many of one text of a kind as of the other
    {"good": True, "bad": False},
    {"not good": False, "not bad": True},
    {"good but bad": False, "bad but good": True},
]
WORDS = ("good", "bad", "not", "but")


def right_by_sums() -> float:
    """The best share for anyone who gives each word a number and asks for the sum's sign."""
    tried = product(range(-3, 4), repeat=len(WORDS))
    return max(share_right(dict(zip(WORDS, numbers, strict=True))) for numbers in tried)


def share_right(weights: dict[str, int]) -> float:
    """Share that is correct if a text counts as positive where its words' numbers sum to over 0."""
    texts = [text for kind in KINDS for text in kind.items()]
    said = [sum(weights[word] for word in text.split()) > 0 for text, _ in texts]
    return sum(one == truth for one, (_, truth) in zip(said, texts, strict=True)) / len(texts)


exercise = Prediction(right_by_sums, tolerance=0.01)


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "that is the most that a bag of words allows, memorised bag by bag. Can one number for “not” "
    "turn “good” down and “bad” up?"
)
def bags_remembered():
    bags = defaultdict(list)
    for kind in KINDS:
        for text, truth in kind.items():
            bags[tuple(sorted(text.split()))].append(truth)
    return sum(max(truths.count(True), truths.count(False)) for truths in bags.values()) / 6


@exercise.mistake("“good but bad” and “bad but good” have the same words, and so the same sum.")
def order_seen():
    return 1.0


@exercise.mistake(
    "“not” has a number of its own, too: it can get one of “not good” and “not bad” right."
)
def deaf_to_not():
    return share_right({"good": 2, "bad": -2, "not": 0, "but": 1})


@exercise.mistake("that is correct for plain and negated reviews. What about those with “but”?")
def without_contrast():
    return 3 / 4


@exercise.mistake(
    "the plain third is all correct; of each of the other two kinds, one text can be correct as "
    "well."
)
def plain_alone():
    return 1 / 3


@exercise.mistake("that is in percent: a share is between 0 and 1.")
def in_per_cent():
    return 100 * right_by_sums()


@exercise.mistake("that is how many of the six: a share is between 0 and 1.")
def texts_counted():
    return 6 * right_by_sums()
