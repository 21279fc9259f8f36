"""The alignment error rate of the links that attention weights give."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def alignment_error(weights: Tensor, sure: Tensor, possible: Tensor, threshold: float) -> float:
    """Return the rate, where every weight that reaches the threshold is a link.

    Shapes: weights (T, S), sure and possible (T, S) boolean.
    """
    return error_of_links(weights >= threshold, sure, possible)


def error_of_links(links: Tensor, sure: Tensor, possible: Tensor) -> float:
    hits = (links & sure).sum().item() + (links & possible).sum().item()
    return 1 - hits / (links.sum().item() + sure.sum().item())


exercise = Exercise(alignment_error, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(T: int, S: int, threshold: float) -> tuple[Tensor, Tensor, Tensor, float]:
    """Draw weights and links; where there is a link, the weight tends to be large."""
    sure = torch.rand(T, S) < 0.2
    possible = sure | (torch.rand(T, S) < 0.2)
    return (random(T, S) + 2 * possible).softmax(1), sure, possible, threshold


@exercise.stage("a small alignment")
def small_alignment():
    return [drawn(3, 4, 0.3)]


@exercise.stage("a weight on the threshold")
def on_the_threshold():
    weights = torch.tensor([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125]], dtype=torch.float64)
    sure = torch.tensor([[1, 0, 0], [0, 1, 0]]).bool()
    possible = torch.tensor([[1, 1, 0], [0, 1, 0]]).bool()
    return [(weights, sure, possible, 0.25)]


@exercise.stage("several alignments and thresholds")
def several_alignments():
    return [drawn(6, 5, 0.2), drawn(5, 7, 0.4), drawn(6, 6, 0.15)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("a weight equal to the threshold reaches it.")
def strictly_above(weights, sure, possible, threshold):
    return error_of_links(weights > threshold, sure, possible)


@exercise.mistake(
    "possible links don't have to be found: only the sure ones belong in the denominator."
)
def possible_below_the_line(weights, sure, possible, threshold):
    return alignment_error(weights, possible, sure, threshold)


@exercise.mistake("a possible link is no error, but you count it as one.")
def sure_alone(weights, sure, possible, threshold):
    return alignment_error(weights, sure, sure, threshold)


@exercise.mistake("that is the share of correct links; the error is 1 minus that.")
def share_that_is_right(weights, sure, possible, threshold):
    return 1 - alignment_error(weights, sure, possible, threshold)


@exercise.mistake(
    "you link each target with its largest weight: here every weight that reaches the threshold "
    "is a link."
)
def largest_weight(weights, sure, possible, threshold):
    links = F.one_hot(weights.argmax(1), weights.shape[1]).bool()
    return error_of_links(links, sure, possible)


@exercise.mistake(
    "that considers only the links that were made; what about sure ones that weren't?"
)
def precision(weights, sure, possible, threshold):
    links = weights >= threshold
    return 1 - (links & possible).sum().item() / links.sum().item()


@exercise.mistake("that considers only the sure links; what about links that aren't even possible?")
def recall(weights, sure, possible, threshold):
    return 1 - ((weights >= threshold) & sure).sum().item() / sure.sum().item()


@exercise.mistake(
    "you divide by the links of both together, each counted once: the formula counts a link that "
    "both have twice."
)
def divided_by_the_union(weights, sure, possible, threshold):
    links = weights >= threshold
    return 1 - (links & sure).sum().item() / (links | sure).sum().item()


@exercise.mistake(
    "you count each hit once: a hit that is sure counts among the sure and among the possible."
)
def possible_hits_alone(weights, sure, possible, threshold):
    links = weights >= threshold
    return 1 - (links & possible).sum().item() / (links.sum() + sure.sum()).item()
