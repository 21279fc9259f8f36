"""The two readers of Day 8's page: a Transformer over byte pairs and a bag of words, stored.

They learn from all training sentences which of five libraries says a sentence. "float", "int8" and
"bag" are the shares of the test sentences that are classified correctly: by the Transformer as it
was trained and in whole numbers of 8 bits, and by the bag, whose weights are rounded, too. Both of
the first seed are stored for the page.
"""

import numpy as np
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from torch import nn

from utils.data.libraries import LIBRARIES, NAMES
from utils.pretraining.rounded import round_weight, with_rounded_weights
from utils.show.views.models import store
from utils.tasks.reading import (
    MASKS,
    Labelled,
    PairVocabulary,
    Recipe,
    as_ids,
    libraries_task,
    logits_of,
    plain,
    said_by_libraries,
    trained,
)
from utils.tasks.rounded import in_int8
from utils.tokens import learn_merges_indexed

PARAMETERS = {"merges": 3000, "rate": 3e-3, "steps": 500, "seed": [0]}
SHORT = {"merges": 50, "steps": 4, "STORED": None}
STORED = 0  # the seed
HEADS = 4
LEAST = 2  # texts that a word of the bag is in


def data() -> list[np.ndarray]:
    return said_by_libraries()


def measure(merges: int, rate: float, steps: int, seed: int) -> dict:
    task = libraries_task()
    pairs = learn_merges_indexed("\n".join(map(plain, task.train.texts)), merges)
    task = task._replace(vocabulary=PairVocabulary(pairs))
    model = trained("Transformer", task, rate, Recipe(steps), seed)
    counted = TfidfVectorizer(analyzer=list, min_df=LEAST)
    x = counted.fit_transform(task.train.texts)
    weighed = LogisticRegression(C=3.0, max_iter=2000).fit(x, task.train.labels.numpy())
    rounded = in_bag(counted, weighed)
    if seed == STORED:
        store(
            "libraries",
            in_int8(model) | rounded,
            made_by="experiments/libraries_page.py",
            heads=HEADS,
            merges=[list(map(int, pair)) for pair in pairs],
            words=counted.get_feature_names_out().tolist(),
            libraries=list(LIBRARIES),
            names=sorted(NAMES),
            masks=MASKS,
        )
    whole, scale = rounded["bag.weights"]
    bag = counted.transform(task.test.texts) @ (whole * scale) + rounded["bag.bias"][0]
    return {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "float": right(model, task.test, task.vocabulary),
        "int8": right(with_rounded_weights(model), task.test, task.vocabulary),
        "bag": float((bag.argmax(axis=1) == task.test.labels.numpy()).mean()),
    }


def in_bag(
    counted: TfidfVectorizer, weighed: LogisticRegression
) -> dict[str, tuple[np.ndarray, ...]]:
    """The bag's numbers, as `store` takes them."""
    weights = torch.from_numpy(weighed.coef_.T).float()
    centred = weights - weights.mean(dim=1, keepdim=True)  # which no softmax notices
    return {
        "bag.idf": (counted.idf_.astype(np.float32),),
        "bag.weights": tuple(part.numpy() for part in round_weight(centred)),
        "bag.bias": (weighed.intercept_.astype(np.float32),),
    }


def right(model: nn.Module, part: Labelled, vocabulary: PairVocabulary) -> float:
    """Share of a part that a model classifies correctly."""
    found = logits_of(model, as_ids(part, vocabulary)[0]).argmax(dim=1)
    return (found == part.labels).double().mean().item()
