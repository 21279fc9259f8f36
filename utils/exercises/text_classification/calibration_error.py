"""How far are confidence and accuracy apart?"""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise


def calibration_error(confidence: Tensor, right: Tensor, n_bins: int) -> float:
    """Return the expected calibration error, Σ_m n_m / n · |accuracy_m - mean confidence_m|.

    Bin m = 1, …, M of M = n_bins holds the confidences above (m - 1)/M and up to m/M.
    Shapes: confidence (n,), above 0 and up to 1; right (n,), True where the answer was correct.
    """
    error = 0.0
    for m in range(1, n_bins + 1):
        inside = (confidence > (m - 1) / n_bins) & (confidence <= m / n_bins)
        if inside.any():
            gap = right[inside].double().mean() - confidence[inside].mean()
            error += inside.double().mean().item() * abs(gap.item())
    return error


exercise = Exercise(calibration_error, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(n: int, n_bins: int, *, lowest: float = 0.1) -> tuple:
    """Draw confidences from `lowest` on; the answers are correct less often than that."""
    confidence = lowest + (1 - lowest) * torch.rand(n, dtype=torch.float64)
    return confidence, torch.rand(n, dtype=torch.float64) < confidence**2, n_bins


@exercise.stage("one bin")
def one_bin():
    return [drawn(7, 1)]


@exercise.stage("a few bins")
def few_bins():
    return [drawn(40, 2), drawn(60, 3)]


@exercise.stage("empty bins")
def empty_bins():
    return [drawn(30, 10, lowest=0.55), drawn(3, 6)]


@exercise.stage("confidences on the edges of bins")
def edges():
    confidence = torch.tensor([0.25, 0.3, 0.5, 0.55, 0.75, 0.95, 1.0], dtype=torch.float64)
    right = torch.tensor([True, False, False, True, True, False, True])
    finer = torch.tensor([0.125, 0.2, 0.375, 0.5, 0.7, 0.875, 1.0], dtype=torch.float64)
    return [(confidence, right, 4), (finer, ~right, 8)]


# What goes wrong ----------------------------------------------------------------------------------


def bins(confidence: Tensor, right: Tensor, n_bins: int) -> list[tuple[float, float]]:
    """Each bin's share of all answers, and accuracy minus confidence, NaN if it is empty."""
    found = []
    for m in range(1, n_bins + 1):
        inside = (confidence > (m - 1) / n_bins) & (confidence <= m / n_bins)
        gap = right[inside].double().mean() - confidence[inside].mean()
        found.append((inside.double().mean().item(), gap.item()))
    return found


def held(confidence: Tensor, right: Tensor, n_bins: int) -> list[tuple[float, float]]:
    return [each for each in bins(confidence, right, n_bins) if each[0] > 0]


@exercise.mistake("too sure in one bin and too unsure in another cancel: what is the gap's size?")
def signed(confidence, right, n_bins):
    return sum(share * gap for share, gap in held(confidence, right, n_bins))


@exercise.mistake(
    "you take one absolute value for all answers together, where a bin that is too sure and one "
    "that is too unsure cancel: take one in each bin."
)
def size_of_the_sum(confidence, right, n_bins):
    return abs(signed(confidence, right, n_bins))


@exercise.mistake("every bin counts equally in yours; one with more answers should count for more.")
def equal_weights(confidence, right, n_bins):
    gaps = [abs(gap) for _, gap in held(confidence, right, n_bins)]
    return sum(gaps) / len(gaps)


@exercise.mistake("an empty bin has no mean: 0 divided by 0 spoils your sum.")
def not_a_number(confidence, right, n_bins):
    return sum(share * abs(gap) for share, gap in bins(confidence, right, n_bins))


@exercise.mistake("you add up the gaps without their weights: n_m / n is missing.")
def unweighted(confidence, right, n_bins):
    return sum(abs(gap) for _, gap in held(confidence, right, n_bins))


@exercise.mistake("that is the largest gap of all bins; take the mean, weighted by n_m / n.")
def largest(confidence, right, n_bins):
    return max(abs(gap) for _, gap in held(confidence, right, n_bins))


@exercise.mistake("that is in percent: a gap of a tenth should count as 0.1.")
def in_per_cent(confidence, right, n_bins):
    return 100 * calibration_error(confidence, right, n_bins)


@exercise.mistake("you square the gaps: one of a tenth should count as a tenth.")
def squared(confidence, right, n_bins):
    return sum(share * gap**2 for share, gap in held(confidence, right, n_bins))


@exercise.mistake(
    "you compare each answer with its own confidence: no single answer is 70% correct. Compare "
    "the means of bins."
)
def answer_by_answer(confidence, right, n_bins):
    return (right.double() - confidence).abs().mean().item()


@exercise.mistake("a confidence on an edge belongs to the bin below it, not to the one above.")
def edges_above(confidence, right, n_bins):
    numbers = (confidence * n_bins).floor().clamp(max=n_bins - 1)
    return sorted_by(numbers, confidence, right)


@exercise.mistake("your bins hold equally many answers; they should be equally wide.")
def equally_many(confidence, right, n_bins):
    ranks = confidence.argsort().argsort()
    return sorted_by(ranks * n_bins // len(ranks), confidence, right)


@exercise.mistake("you take a bin's middle as its confidence: average the confidences in it.")
def middles(confidence, right, n_bins):
    error = 0.0
    for m in range(1, n_bins + 1):
        inside = (confidence > (m - 1) / n_bins) & (confidence <= m / n_bins)
        if inside.any():
            gap = right[inside].double().mean() - (m - 0.5) / n_bins
            error += inside.double().mean().item() * abs(gap.item())
    return error


@exercise.mistake(
    "you compare the share of wrong answers with the confidence: take that of correct ones."
)
def wrong_for_right(confidence, right, n_bins):
    return calibration_error(confidence, ~right, n_bins)


def sorted_by(numbers: Tensor, confidence: Tensor, right: Tensor) -> float:
    """The error with other bins, one for each of the distinct numbers."""
    error = 0.0
    for number in numbers.unique():
        inside = numbers == number
        gap = right[inside].double().mean() - confidence[inside].mean()
        error += inside.double().mean().item() * abs(gap.item())
    return error


def between(confidence: Tensor, right: Tensor, n_bins: int, inside) -> float:
    """The error with another idea of what lies inside a bin."""
    error = 0.0
    for m in range(1, n_bins + 1):
        held_here = inside(confidence, (m - 1) / n_bins, m / n_bins)
        if held_here.any():
            gap = right[held_here].double().mean() - confidence[held_here].mean()
            error += held_here.double().mean().item() * abs(gap.item())
    return error


@exercise.mistake(
    "a confidence on an edge counts in two of your bins: it belongs to the lower one."
)
def edges_in_both(confidence, right, n_bins):
    return between(confidence, right, n_bins, lambda c, low, high: (c >= low) & (c <= high))


@exercise.mistake("a confidence on an edge is in none of your bins: it belongs to the lower one.")
def edges_in_none(confidence, right, n_bins):
    return between(confidence, right, n_bins, lambda c, low, high: (c > low) & (c < high))


@exercise.mistake(
    "your bins all weigh 1/M, empty ones included: weigh each by its share of the answers, n_m / n."
)
def a_share_of_the_bins(confidence, right, n_bins):
    return sum(abs(gap) for _, gap in held(confidence, right, n_bins)) / n_bins


@exercise.mistake(
    "you weigh each bin by its number of answers: divide that by all of them, n_m / n."
)
def not_divided_by_n(confidence, right, n_bins):
    return len(right) * calibration_error(confidence, right, n_bins)
