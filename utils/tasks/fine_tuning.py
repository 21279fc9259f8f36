"""Day 10: an encoder that has read is tuned with labels, beside one that has not, and a bag.

Shapes: ids (B, T), padded behind their ends, lengths (B,).
"""

import math
from collections.abc import Callable
from copy import deepcopy

import torch
from torch import nn

from utils.data.libraries import LIBRARIES, sentences
from utils.pretraining import MaskedLanguageModel
from utils.tasks.pretraining import vocabulary
from utils.tasks.reading import (
    SEEDS,
    SETTINGS,
    Answer,
    Recipe,
    Task,
    Tuned,
    as_ids,
    as_labelled,
    learn,
    logits_of,
    share_right,
    train_classifier,
)
from utils.transformer import EncoderOnly

RATES = (3e-4, 1e-3, 3e-3, 1e-2)
TUNING = Recipe(steps=150, batch_size=32)


def with_labels(n_train: int, seed: int = 0) -> Task:
    """Which library says it, with other n_train sentences to learn from for each seed.

    Raises: ValueError if there are not as many.
    """
    train, *others = sentences()
    of_seed = train[seed * n_train : (seed + 1) * n_train]
    if len(of_seed) < n_train:
        raise ValueError(
            f"There are {len(train)} sentences: seed {seed} has no {n_train} of its own."
        )
    parts = map(as_labelled, (of_seed, *others))
    return Task(*parts, vocabulary(), len(LIBRARIES))


def classifier(model: MaskedLanguageModel, n_classes: int) -> EncoderOnly:
    """A copy of a model's encoder, and a new layer, which begins with all classes alike."""
    made = EncoderOnly(model.config, n_classes)
    made.encoder = deepcopy(model.encoder)
    nn.init.zeros_(made.output.weight)
    nn.init.zeros_(made.output.bias)
    return made


def fine_tune(
    model: nn.Module, task: Task, rate: float, seed: int = 0, recipe: Recipe = TUNING
) -> nn.Module:
    """Train a classifier on a task's labels; return it in evaluation mode."""
    train = as_ids(task.train, task.vocabulary)
    train_classifier(
        model,
        train,
        epochs=math.ceil(recipe.steps / math.ceil(len(train[0]) / recipe.batch_size)),
        learning_rate=rate,
        batch_size=recipe.batch_size,
        seed=seed,
    )
    return model.eval()


def tune(make: Callable[[int], nn.Module], n_train: int, recipe: Recipe = TUNING) -> Tuned:
    """Choose a rate on the validation part, of four, and tune with each seed's own labels.

    make: from a seed to a model of ids and lengths to logits, as `classifier` makes it.
    """

    def answer(rate: float, seed: int) -> Answer:
        task = with_labels(n_train, seed)
        torch.manual_seed(seed)
        model = fine_tune(make(seed), task, rate, seed, recipe)
        return lambda part: logits_of(model, as_ids(part, task.vocabulary)[0])

    return _tuned(answer, RATES)


def tune_bag(n_train: int) -> Tuned:
    """The same for a bag of words, with four penalties."""
    return _tuned(
        lambda C, seed: learn("bag of words", with_labels(n_train, seed), C, TUNING),
        SETTINGS["bag of words"],
    )


def _tuned(answer: Callable[[float, int], Answer], settings: tuple[float, ...]) -> Tuned:
    first, *others = SEEDS
    validation = as_labelled(sentences().validation)
    tried = {setting: answer(setting, first) for setting in settings}
    right = {setting: share_right(each, validation) for setting, each in tried.items()}
    best = max(right, key=right.get)
    return Tuned(best, [*right.values()], [tried[best], *(answer(best, s) for s in others)])
