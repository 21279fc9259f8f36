"""Cross-entropy from logits, safe for logits of any size."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean over the batch of -log softmax(logits)[label], safe for logits of any size.

    Shapes: logits (B, n_classes), labels (B,), int64. Returns: one number.
    """
    shifted = logits - logits.amax(dim=1, keepdim=True)  # the largest logit of each row becomes 0
    log_p = shifted - shifted.exp().sum(dim=1, keepdim=True).log()
    return -log_p[torch.arange(len(labels)), labels].mean()


exercise = Exercise(cross_entropy, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def drawn(batch_size: int, n_classes: int) -> tuple[Tensor, Tensor]:
    return 2 * random(batch_size, n_classes), torch.randint(n_classes, (batch_size,))


def given(rows: list[list[float]], labels: list[int]) -> tuple[Tensor, Tensor]:
    return torch.tensor(rows, dtype=torch.float64), torch.tensor(labels)


@exercise.stage("one example with three classes")
def one_example():
    return [given([[2, 1, -1]], [1])]


@exercise.stage("a batch of two examples")
def two_examples():
    return [drawn(2, 3)]


@exercise.stage("logits as large as 1000")
def large_logits():
    return [given([[1000, 0]], [1]), given([[1000] + 9 * [0]], [3])]


@exercise.stage("rows with very different logits")
def unlike_rows():
    return [given([[1000, 0], [-1000, -1001]], [0, 0])]


@exercise.stage("batches of other sizes")
def other_sizes():
    return [drawn(4, 4), drawn(5, 3), drawn(3, 7)]


# What goes wrong ----------------------------------------------------------------------------------


def picked(log_p: Tensor, labels: Tensor) -> Tensor:
    return log_p[torch.arange(len(labels)), labels]


@exercise.mistake("an example's probabilities don't sum to 1. Which axis holds its classes?")
def batch_axis(logits, labels):
    return -picked(logits.log_softmax(0), labels).mean()


@exercise.mistake("a batch twice as large gives a loss twice as large. The loss is a mean.")
def sum_for_mean(logits, labels):
    return -picked(logits.log_softmax(1), labels).sum()


@exercise.mistake(
    "the loss is negative, and falls when the model gets worse. What sign does the logarithm of a "
    "probability have?"
)
def sign(logits, labels):
    return picked(logits.log_softmax(1), labels).mean()


@exercise.mistake(
    "this rewards a probability, not its logarithm: being sure and wrong then costs hardly more "
    "than being unsure."
)
def no_logarithm(logits, labels):
    return -picked(logits.softmax(1), labels).mean()


@exercise.mistake(
    "this looks only at the correct class: the other logits have to lower its probability."
)
def no_normaliser(logits, labels):
    return -picked(logits, labels).mean()


@exercise.mistake(
    "the softmax is taken twice. The inputs are logits; a log-softmax of probabilities is "
    "something else."
)
def softmax_twice(logits, labels):
    return -picked(logits.softmax(1).log_softmax(1), labels).mean()


@exercise.mistake(
    "correct for small logits, but exp(1000) overflows to infinity, and infinity divided by "
    "infinity is not a number. What can you subtract from all logits in a row without changing p?"
)
def overflow(logits, labels):
    return -picked((logits.exp() / logits.exp().sum(1, keepdim=True)).log(), labels).mean()


@exercise.mistake(
    "correct for small logits, but a very small probability is rounded to 0, and its logarithm is "
    "minus infinity. Can you get log p without going through p?"
)
def underflow(logits, labels):
    return -picked(logits.softmax(1).log(), labels).mean()


@exercise.mistake(
    "a maximum or a sum over the classes has the shape (B,), and broadcasting lays that along the "
    "classes. It fits for one example, and for B = n_classes, where the result is wrong."
)
def axis_lost(logits, labels):
    shifted = logits - logits.amax(dim=1)
    return -picked(shifted - shifted.exp().sum(dim=1).log(), labels).mean()


@exercise.mistake("you return a loss for each example, but a batch has only one: take their mean.")
def no_mean(logits, labels):
    return -picked(logits.log_softmax(1), labels)


@exercise.mistake("all classes count here, but an example's loss looks only at its correct class.")
def mean_over_classes(logits, labels):
    return -logits.log_softmax(1).mean()


@exercise.mistake(
    "`log_p[:, labels]` takes all labels' columns from every row. Row i needs column labels[i]."
)
def every_label_from_every_row(logits, labels):
    return -logits.log_softmax(1)[:, labels].mean()


@exercise.mistake(
    "correct as long as all rows are alike. In a row far below the largest logit of the batch, "
    "every power is 0: whose maximum does a row need?"
)
def one_maximum_for_all(logits, labels):
    shifted = logits - logits.max()
    return -picked(shifted - shifted.exp().sum(dim=1, keepdim=True).log(), labels).mean()


@exercise.mistake(
    "subtracting the mean of a row leaves numbers that can still be too large for exp: after "
    "which subtraction is none of them above 0?"
)
def mean_subtracted(logits, labels):
    shifted = logits - logits.mean(dim=1, keepdim=True)
    return -picked(shifted - shifted.exp().sum(dim=1, keepdim=True).log(), labels).mean()


@exercise.mistake(
    "subtracting the smallest logit of a row leaves the others above 0, where exp grows: which "
    "one has to become 0?"
)
def minimum_subtracted(logits, labels):
    shifted = logits - logits.amin(dim=1, keepdim=True)
    return -picked(shifted - shifted.exp().sum(dim=1, keepdim=True).log(), labels).mean()


@exercise.mistake(
    "you subtracted the maximum from the logits in the sum, but not from that of the correct "
    "class: subtract the same number from all."
)
def shifted_in_the_sum_only(logits, labels):
    shifted = logits - logits.amax(dim=1, keepdim=True)
    return -picked(logits - shifted.exp().sum(dim=1, keepdim=True).log(), labels).mean()


@exercise.mistake("you divide by examples times classes: each example has one loss, not several.")
def divided_by_the_classes(logits, labels):
    return -picked(logits.log_softmax(1), labels).mean() / logits.shape[1]


@exercise.mistake("that is a logarithm to base 2: the loss uses the natural one.")
def base_2(logits, labels):
    return -picked(logits.log_softmax(1), labels).mean() / torch.tensor(2.0).log().to(logits)


@exercise.mistake(
    "you return the mean probability's logarithm: take the logarithms, then the mean."
)
def log_of_the_mean(logits, labels):
    return -picked(logits.log_softmax(1), labels).logsumexp(0) + torch.tensor(len(labels)).log()


@exercise.mistake("that is a logarithm to base 10: the loss uses the natural one.")
def base_10(logits, labels):
    return cross_entropy(logits, labels) / math.log(10)


@exercise.mistake(
    "a small number inside the logarithm changes every loss a little, and a large one a lot: can "
    "you get log p without going through p?"
)
def small_number_added(logits, labels):
    return -(picked(logits.softmax(1), labels) + 1e-9).log().mean()


@exercise.mistake(
    "you subtract the largest logit of each column: p stays the same only if all logits of a row "
    "lose the same number."
)
def largest_of_each_class(logits, labels):
    return cross_entropy(logits - logits.amax(dim=0, keepdim=True), labels)


@exercise.mistake("you add up minus log p of all classes: only the label's counts.")
def all_classes(logits, labels):
    return -logits.log_softmax(1).sum(1).mean()


@exercise.mistake(
    "that is a yes or no for each class: a softmax already lets the classes compete, so only the "
    "label's log p counts."
)
def binary(logits, labels):
    p = logits.softmax(1)
    y = F.one_hot(labels, logits.shape[1]).double()
    return -(y * p.log() + (1 - y) * (1 - p).log()).sum(1).mean()


@exercise.mistake(
    "you add the maximum back to the logarithm of the sum, but not to the label's logit: both "
    "come from the same logits."
)
def shifted_twice(logits, labels):
    m = logits.amax(1, keepdim=True)
    return (m[:, 0] + (logits - m).exp().sum(1).log() - picked(logits - m, labels)).mean()
