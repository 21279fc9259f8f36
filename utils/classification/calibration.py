"""Day 8: does a model know how sure it may be? How that is measured, and mended with one number.

Shapes: logits (n, n_classes), labels (n,).
"""

from typing import NamedTuple

import torch
from torch import Tensor

from utils.arguments import check_logits, check_sizes, described, is_whole


class Reliability(NamedTuple):
    """How sure a model is, and how often it is right, bin by bin; bins that hold nothing are out.

    A diagonal of equal numbers would be a calibrated model.
    """

    confidence: Tensor  # mean probability of what it says, (bins,)
    accuracy: Tensor  # share of it that is right, (bins,)
    count: Tensor  # answers, (bins,)


def reliability(logits: Tensor, labels: Tensor, n_bins: int = 15) -> Reliability:
    """Sort answers by their confidence into n_bins equally wide bins (Guo et al., 2017, §2).

    Bin m of M holds the confidences above (m - 1)/M and up to m/M.
    Raises: ValueError if there is no answer, there are more or fewer labels, or other than classes,
    a logit is NaN or +inf, or n_bins is below 1.
    """
    check_labels(logits, labels)
    check_logits(logits)
    check_sizes(n_bins=n_bins)
    confidence, said = logits.double().softmax(dim=-1).max(dim=-1)
    right = (said == labels).double()
    bins = (n_bins * confidence).ceil().long() - 1
    count = torch.bincount(bins, minlength=n_bins)
    held = count > 0
    sums = [torch.bincount(bins, weights=x, minlength=n_bins)[held] for x in (confidence, right)]
    return Reliability(*(total / count[held] for total in sums), count[held])


def expected_calibration_error(logits: Tensor, labels: Tensor, n_bins: int = 15) -> float:
    """Return how far confidence and accuracy lie apart, on average (Guo et al., 2017, eq. 3).

    Σ_m n_m / n · |accuracy_m - confidence_m|. Raises: ValueError as `reliability` does.
    """
    bins = reliability(logits, labels, n_bins)
    gaps = (bins.accuracy - bins.confidence).abs()
    return ((bins.count * gaps).sum() / len(labels)).item()


def fit_temperature(logits: Tensor, labels: Tensor) -> float:
    """Return the τ for which logits / τ have the lowest cross-entropy (Guo et al., 2017, §4.2).

    Dividing never changes which class is said. With β = 1/τ the slope of the cross-entropy is the
    mean logit, as the model weighs classes, minus that of the label; it rises with β, so that its
    zero can be closed in.
    Raises: ValueError as `reliability` does, or for any infinite logit; if every label has the
    largest logit, so that the smallest temperature is the best; or if labels have no larger logits
    than others, so that the largest is.
    """
    check_labels(logits, labels)
    if not logits.isfinite().all():
        raise ValueError("A logit is NaN or infinite, and stays so at each temperature.")
    z = logits.double()
    z_label = z.gather(1, labels[:, None])[:, 0]
    if (z_label == z.max(dim=1).values).all():
        raise ValueError(
            "Every label has the largest logit, so that the smallest temperature is the best: fit "
            "it on examples of which the model gets some wrong."
        )

    def slope(beta: float) -> float:
        return (((beta * z).softmax(dim=1) * z).sum(dim=1) - z_label).mean().item()

    if slope(0) >= 0:
        raise ValueError(
            "The labels' logits are on average no larger than the others', so that the largest "
            "temperature is the best: train the model first."
        )
    low, high = 0.0, 1.0
    while slope(high) < 0:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return 1 / high


def check_labels(logits: Tensor, labels: Tensor) -> None:
    """Raise a ValueError if there is not one class (n,) for each of some logits (n, n_classes)."""
    if logits.dim() != 2 or 0 in logits.shape:
        raise ValueError(f"Expected logits (n, n_classes) of something, got {tuple(logits.shape)}.")
    if not is_whole(labels) or labels.shape != logits.shape[:1]:
        raise ValueError(
            f"Expected {len(logits)} whole labels, one for each row, got {described(labels)}."
        )
    if labels.min() < 0 or labels.max() >= logits.shape[1]:
        raise ValueError(f"Labels run from 0 to {logits.shape[1] - 1} here, got others.")
