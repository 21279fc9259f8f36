"""The share of correct answers over batches of different sizes."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def accuracy_over(batches: list[tuple[Tensor, Tensor]]) -> float:
    """Return the share of all examples whose label has the largest logit.

    Shapes: each batch is logits (B, n_classes) and labels (B,), where B may differ.
    """
    right = sum(int((logits.argmax(dim=1) == labels).sum()) for logits, labels in batches)
    return right / sum(len(labels) for _, labels in batches)


exercise = Exercise(accuracy_over, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(sizes: list[int], n_classes: int) -> tuple[list[tuple[Tensor, Tensor]]]:
    """Draw batches of these sizes; the first has more correct answers than the others."""
    batches = []
    for i, batch_size in enumerate(sizes):
        logits, labels = 2 * random(batch_size, n_classes), torch.randint(n_classes, (batch_size,))
        if i == 0:
            logits[torch.arange(batch_size), labels] += 3.0
        batches.append((logits, labels))
    return (batches,)


@exercise.stage("one batch")
def one_batch():
    return [drawn([5], 5), drawn([7], 7)]


@exercise.stage("two batches of equal size")
def equal_sizes():
    return [drawn([6, 6], 6)]


@exercise.stage("a last batch that is smaller")
def smaller_last():
    return [drawn([8, 8, 1], 4), drawn([5, 5, 2], 5), drawn([16, 9], 3)]


# What goes wrong ----------------------------------------------------------------------------------


def shares(batches: list[tuple[Tensor, Tensor]]) -> list[float]:
    return [float((logits.argmax(1) == labels).double().mean()) for logits, labels in batches]


def examples(batches: list[tuple[Tensor, Tensor]]) -> int:
    return sum(len(labels) for _, labels in batches)


@exercise.mistake(
    "the few examples of the last batch count as much as the many of a full one, but each example "
    "should count once."
)
def mean_of_means(batches):
    return sum(shares(batches)) / len(batches)


@exercise.mistake("this is the accuracy of the last batch alone.")
def last_batch_only(batches):
    return shares(batches)[-1]


@exercise.mistake("you divided as if every batch were as large as the first.")
def all_batches_full(batches):
    full = len(batches) * len(batches[0][1])
    return accuracy_over(batches) * examples(batches) / full


@exercise.mistake(
    "you looked for the largest logit among the examples. Look for it among the classes of each "
    "example."
)
def batch_axis(batches):
    right = sum(int((logits.argmax(0) == labels).sum()) for logits, labels in batches)
    return right / examples(batches)


@exercise.mistake("this is the share of wrong answers.")
def errors(batches):
    return 1 - accuracy_over(batches)


@exercise.mistake("this is the number of correct answers, not their share.")
def count(batches):
    return accuracy_over(batches) * examples(batches)


@exercise.mistake("this is a percentage: a share lies between 0 and 1.")
def per_cent(batches):
    return 100 * accuracy_over(batches)


@exercise.mistake("you counted where the smallest logit is: a prediction is the largest one.")
def smallest_logit(batches):
    return accuracy_over([(-logits, labels) for logits, labels in batches])


@exercise.mistake("this is the accuracy of the first batch alone.")
def first_batch_only(batches):
    return shares(batches)[0]


@exercise.mistake("you divide by the number of batches: divide by the number of examples.")
def divided_by_batches(batches):
    return accuracy_over(batches) * examples(batches) / len(batches)


@exercise.mistake("you add up the shares of the batches: a share is at most 1.")
def shares_added(batches):
    return sum(shares(batches))


@exercise.mistake(
    "you divide by the number of logits: each example has several, but only one label."
)
def divided_by_logits(batches):
    right = accuracy_over(batches) * examples(batches)
    return right / sum(logits.numel() for logits, _ in batches)


@exercise.mistake(
    "that is the mean probability of the label: count how often the label comes first."
)
def mean_probability(batches):
    p = [
        logits.softmax(1)[torch.arange(len(labels)), labels].sum().item()
        for logits, labels in batches
    ]
    return sum(p) / examples(batches)


@exercise.mistake("you left out the smaller batch at the end: its examples count, too.")
def last_batch_dropped(batches):
    return accuracy_over(batches[:-1]) if len(batches) > 1 else accuracy_over(batches)
