"""How many labels does reading save? Which of five libraries says this, told by a few examples.

Three encoders of two blocks have guessed hidden words in text without labels, in passages of three
kinds: single sentences, neighbouring ones in order, and sentences mixed from a whole module. A
fourth has twice the blocks and, to take as long, two thirds of the steps. The same networks from
scratch and a bag of words have read nothing. With each number of labels each has four settings, of
which the one is taken that is best on the validation part with the first seed; then it is tuned
with three seeds. A seed has labels of its own, and an encoder that was pre-trained with it. "loss"
in nats and "right" are of hidden words in held-out text.
"""

from typing import NamedTuple

from utils.data.libraries import sentences
from utils.tasks import pretraining
from utils.tasks.fine_tuning import tune_bag
from utils.tasks.held_out import guessed, told_apart
from utils.tasks.pretraining import N_LAYERS, PASSAGES, STEPS, Hidden, new_model, pretrain
from utils.tasks.reading import SEEDS, as_labelled, share_right


class Start(NamedTuple):
    n_layers: int = N_LAYERS
    passage: str | None = None  # one of PASSAGES, or nothing is read
    steps: int = STEPS


STARTS = {
    **{passage: Start(passage=passage) for passage in PASSAGES},
    "from scratch": Start(),
    "mixed, four blocks": Start(4, "mixed", 1000),
    "from scratch, four blocks": Start(4),
}
PARAMETERS = {"start": [*STARTS, "bag of words"]}
SHORT = {
    "start": ["one sentence", "in order", "mixed", "from scratch", "bag of words"],
    "STEPS": 4,
    "LABELS": (30,),
    "SEEDS": (0,),
    "RATES": (3e-3,),
    "TUNING": "Recipe(steps=4, batch_size=50)",
    "N_PASSAGES": 16,
}
LABELS = (30, 100, 300, 1000, 2500)


def data():
    return pretraining.data()


def measure(start: str) -> dict:
    if start == "bag of words":
        return bag()
    n_layers, passage, steps = STARTS[start]
    models = {seed: new_model(seed, n_layers) for seed in SEEDS}
    row = {}
    if passage is not None:
        for seed, model in models.items():
            pretrain(model, Hidden(steps, passage), seed)
        words = [guessed(model) for model in models.values()]
        row = {name: [each[name] for each in words] for name in words[0]}
    for n in LABELS:
        row |= told_apart(models, n)
    return row


def bag() -> dict:
    """The same for a bag of words, whose setting is the inverse of its penalty."""
    row, test = {}, as_labelled(sentences().test)
    for n in LABELS:
        found = tune_bag(n)
        row[f"rate, {n} labels"] = found.setting
        row[f"by rate, {n} labels"] = found.by_setting
        row[f"{n} labels"] = [share_right(answer, test) for answer in found.answers]
    return row
