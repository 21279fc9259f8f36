"""Does it help to ask whether one part of a text follows another?

A small BERT reads pairs of parts, with half of the words hidden, and guesses those alone; or it is
also asked whether the second part is the next one, which in half of the pairs is of another text
(BERT's question); or whether the two are exchanged (ALBERT's). Architecture, text, steps and words
per step are the same. On held-out pairs: "loss" in nats and "right" are of hidden words, "next" and
"order" the shares of each question that its layer answers rightly, also of the one that it was not
asked. "labels" are of sentences from five libraries, tuned as in `few_labels`.
"""

from utils.tasks import pretraining
from utils.tasks.held_out import guessed, told_apart
from utils.tasks.reading import SEEDS
from utils.tasks.sentence_pairs import (
    QUESTIONS_ASKED,
    hidden_pairs,
    new_pair_model,
    pairs_right,
    pretrain_on_pairs,
)

PARAMETERS = {"asked": list(QUESTIONS_ASKED), "steps": pretraining.STEPS}
SHORT = {
    "steps": 4,
    "N_JUDGED": 2,
    "SEEDS": (0,),
    "RATES": (3e-3,),
    "TUNING": "Recipe(steps=4, batch_size=50)",
}


def data():
    return pretraining.data()


def measure(asked: str, steps: int) -> dict:
    question = QUESTIONS_ASKED[asked]
    models = {seed: new_pair_model(seed) for seed in SEEDS}
    for seed, model in models.items():
        pretrain_on_pairs(model, question, steps, seed)
    words = [guessed(model, hidden_pairs()) for model in models.values()]
    row = {name: [each[name] for each in words] for name in words[0]}
    for name in ("next", "order"):
        row[name] = question and [pairs_right(model, name) for model in models.values()]
    return row | told_apart(models, 100) | told_apart(models, 1000)
