"""How good a classifier is: accuracy, confusions, and their spread from seed to seed."""

import statistics
from typing import NamedTuple

import torch
from sklearn.metrics import confusion_matrix as count_confusions
from torch import Tensor


def accuracy(outputs: Tensor, targets: Tensor) -> float:
    """The share of targets that have the largest output.

    Shapes: outputs (…, n_classes), logits or probabilities; targets (…), class numbers.
    Raises: ValueError if the shapes do not fit.
    """
    return (chosen(outputs, targets) == targets).double().mean().item()


def confusion_matrix(outputs: Tensor, targets: Tensor) -> Tensor:
    """Count how often each class (row) was taken for each class (column); as scikit-learn does.

    Shapes: outputs (…, n_classes), targets (…); returns (n_classes, n_classes), int64.
    Raises: ValueError if the shapes do not fit.
    """
    predicted = chosen(outputs, targets).flatten().cpu()
    classes = range(outputs.shape[-1])
    return torch.from_numpy(count_confusions(targets.flatten().cpu(), predicted, labels=classes))


def chosen(outputs: Tensor, targets: Tensor) -> Tensor:
    """The class with the largest output, for each target."""
    if outputs.shape[:-1] != targets.shape:
        raise ValueError(
            f"Outputs of shape {tuple(outputs.shape)} need targets of shape "
            f"{tuple(outputs.shape[:-1])}, not {tuple(targets.shape)}: one class for each row."
        )
    return outputs.argmax(dim=-1)


class MeanAndSpread(NamedTuple):
    """A mean with its sample standard deviation: f"{result:.1%}" is written as "98.7 ± 0.2 %"."""

    mean: float
    spread: float

    def __format__(self, spec: str) -> str:
        mean, spread = (format(value, spec) for value in self)
        if spec.endswith("%"):
            return f"{mean[:-1]} ± {spread[:-1]} %"
        return f"{mean} ± {spread}"


def mean_and_spread(values) -> MeanAndSpread:
    """Mean and sample standard deviation of one number a seed.

    Raises: ValueError if there are fewer than two: a single run has no spread.
    """
    values = [float(value) for value in values]
    if len(values) < 2:
        raise ValueError(f"There are {len(values)} values: a spread needs two or more, one a seed.")
    return MeanAndSpread(statistics.mean(values), statistics.stdev(values))
