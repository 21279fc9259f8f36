"""The alignment error rate of the links that attention weights make."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def alignment_error(weights: Tensor, sure: Tensor, possible: Tensor, threshold: float) -> float:
    """Return the rate, where every weight that reaches the threshold makes a link.

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


@exercise.mistake("a weight that is the threshold reaches it.")
def strictly_above(weights, sure, possible, threshold):
    return error_of_links(weights > threshold, sure, possible)


@exercise.mistake("possible links need not be found: below the line are the sure ones.")
def possible_below_the_line(weights, sure, possible, threshold):
    return alignment_error(weights, possible, sure, threshold)


@exercise.mistake("a link that is possible is no error: you count it as one.")
def sure_alone(weights, sure, possible, threshold):
    return alignment_error(weights, sure, sure, threshold)


@exercise.mistake("that is how much is right; the error is what is left of 1.")
def share_that_is_right(weights, sure, possible, threshold):
    return 1 - alignment_error(weights, sure, possible, threshold)


@exercise.mistake(
    "you link each target with its largest weight: here every weight that reaches the threshold "
    "makes a link."
)
def largest_weight(weights, sure, possible, threshold):
    links = F.one_hot(weights.argmax(1), weights.shape[1]).bool()
    return error_of_links(links, sure, possible)


@exercise.mistake("that looks only at links that were made; what of the sure ones that weren't?")
def precision(weights, sure, possible, threshold):
    links = weights >= threshold
    return 1 - (links & possible).sum().item() / links.sum().item()


@exercise.mistake("that looks only at the sure links; what of links made where none is possible?")
def recall(weights, sure, possible, threshold):
    return 1 - ((weights >= threshold) & sure).sum().item() / sure.sum().item()
