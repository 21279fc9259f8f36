"""Day 11: what becomes of a pre-trained encoder of which less is trained, or less is kept."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from torch import nn

from utils.pretraining import MaskedLanguageModel
from utils.tasks.fine_tuning import RATES, classifier, fine_tune, with_labels
from utils.tasks.pretraining import N_LAYERS, STEPS, Hidden, new_model, pretrain
from utils.tasks.reading import Labelled, Task, as_ids, logits_of, share_right
from utils.transformer import EncoderOnly


def pretrained(seed: int, n_layers: int = N_LAYERS, steps: int = STEPS) -> MaskedLanguageModel:
    """An encoder that has read for some steps, and its head, in evaluation mode."""
    model = new_model(seed, n_layers)
    pretrain(model, Hidden(steps), seed)
    return model.eval()


class Best(NamedTuple):
    """A model at the best of its rates, and what each rate gave on the validation part."""

    model: nn.Module
    rate: float
    by_rate: list[float]


def at_best_rate(
    make: Callable[[], nn.Module], rates: Iterable[float], task: Task, seed: int
) -> Best:
    """Tune a model anew for each rate; keep the one that is right most often in validation."""
    tried = {}
    for rate in rates:
        torch.manual_seed(seed)
        model = fine_tune(make(), task, rate, seed)
        tried[rate] = model, right(model, task, task.validation)
    best = max(tried, key=lambda rate: tried[rate][1])
    return Best(tried[best][0], best, [share for _, share in tried.values()])


def fully_tuned(model: MaskedLanguageModel, n_train: int, seed: int) -> tuple[EncoderOnly, Task]:
    """A classifier of which all is tuned, at its best rate, and the task."""
    task = with_labels(n_train, seed)
    return at_best_rate(lambda: classifier(model, task.n_classes), RATES, task, seed).model, task


def right(model: nn.Module, task: Task, part: Labelled) -> float:
    """How much of a part gets its label."""
    return share_right(lambda part: logits_of(model, as_ids(part, task.vocabulary)[0]), part)
