"""One softmax out of two halves that each attended to their own keys."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.exercises.efficient_attention.drawn import on_grid


def merge(
    context_1: Tensor, log_sum_1: Tensor, context_2: Tensor, log_sum_2: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the context over both halves, and the logarithm of the sum of all exponentials.

    Shapes: contexts (B, h, T, d_v), log-sums (B, h, T).
    """
    share = (log_sum_1 - log_sum_2).sigmoid()[..., None]
    return share * context_1 + (1 - share) * context_2, torch.logaddexp(log_sum_1, log_sum_2)


exercise = Exercise(merge)


# What it is tried on ------------------------------------------------------------------------------


def halves(B: int, h: int, T: int, d: int, offset: float = 0.0, apart: float = 0.0) -> tuple:
    """Draw two halves whose log-sums lie around `offset`, the first `apart` above the second."""
    contexts = random(B, h, T, d), random(B, h, T, d)
    log_sums = offset + apart + on_grid(B, h, T), offset + on_grid(B, h, T)
    return contexts[0], log_sums[0], contexts[1], log_sums[1]


@exercise.stage("one query")
def one_query():
    return [halves(1, 1, 1, 2)]


@exercise.stage("sums too large for any number")
def large_sums():
    return [halves(1, 2, 3, 4, 1024.0), halves(2, 1, 3, 5, -1024.0)]


@exercise.stage("halves far apart")
def halves_far_apart():
    return [
        halves(1, 3, 4, 2, -1024.0, apart=2048.0),
        halves(2, 3, 4, 3, 1024.0, apart=-2048.0),
    ]


@exercise.stage("queries far apart")
def queries_far_apart():
    levels = torch.tensor([-1024.0, 0.0, 1024.0], dtype=torch.float64)
    log_sums = levels + on_grid(2, 3, 3), levels + on_grid(2, 3, 3)
    return [(random(2, 3, 3, 4), log_sums[0], random(2, 3, 3, 4), log_sums[1])]


@exercise.stage("several heads")
def several_heads():
    return [halves(2, 3, 4, 5), halves(3, 2, 5, 4)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "one maximum for all queries: each query has a softmax, and a maximum, of its own."
)
def one_maximum(context_1, log_sum_1, context_2, log_sum_2):
    largest = torch.maximum(log_sum_1.max(), log_sum_2.max())
    context, log_sum = overflow(context_1, log_sum_1 - largest, context_2, log_sum_2 - largest)
    return context, log_sum + largest


@exercise.mistake("you rescale but don't divide: the two halves' weights should sum to 1.")
def undivided(context_1, log_sum_1, context_2, log_sum_2):
    larger = torch.maximum(log_sum_1, log_sum_2)
    context = (log_sum_1 - larger).exp()[..., None] * context_1
    context = context + (log_sum_2 - larger).exp()[..., None] * context_2
    return context, torch.logaddexp(log_sum_1, log_sum_2)


@exercise.mistake(
    "you subtract a number from the log-sums before the exponential, and don't add it back."
)
def maximum_not_put_back(context_1, log_sum_1, context_2, log_sum_2):
    context, log_sum = merge(context_1, log_sum_1, context_2, log_sum_2)
    return context, log_sum - torch.maximum(log_sum_1, log_sum_2)


@exercise.mistake("both halves count equally: a half with larger scores has more of the weight.")
def mean(context_1, log_sum_1, context_2, log_sum_2):
    return (context_1 + context_2) / 2, torch.logaddexp(log_sum_1, log_sum_2)


@exercise.mistake("each half is an average already: in their sum, the weights sum to 2.")
def added(context_1, log_sum_1, context_2, log_sum_2):
    return context_1 + context_2, torch.logaddexp(log_sum_1, log_sum_2)


@exercise.mistake(
    "correct as algebra, but the exponential of 1000 overflows: rescale by the larger one first."
)
def overflow(context_1, log_sum_1, context_2, log_sum_2):
    sum_1, sum_2 = log_sum_1.exp(), log_sum_2.exp()
    total = sum_1 + sum_2
    context = sum_1[..., None] * context_1 + sum_2[..., None] * context_2
    return context / total[..., None], total.log()


@exercise.mistake(
    "correct as algebra, but if the first half is larger by a thousand, its ratio to the second "
    "overflows: rescale by the larger of the two."
)
def beside_the_second(context_1, log_sum_1, context_2, log_sum_2):
    ratio = (log_sum_1 - log_sum_2).exp()
    context = (ratio[..., None] * context_1 + context_2) / (ratio[..., None] + 1)
    return context, log_sum_2 + (ratio + 1).log()


@exercise.mistake(
    "correct as algebra, but if the second half is larger by a thousand, its ratio to the first "
    "overflows: rescale by the larger of the two."
)
def beside_the_first(context_1, log_sum_1, context_2, log_sum_2):
    return beside_the_second(context_2, log_sum_2, context_1, log_sum_1)


@exercise.mistake("you weight by the logarithms of the sums: weight by the sums.")
def by_logarithms(context_1, log_sum_1, context_2, log_sum_2):
    a, b = log_sum_1[..., None], log_sum_2[..., None]
    context = (a * context_1 + b * context_2) / (a + b)
    return context, torch.logaddexp(log_sum_1, log_sum_2)


@exercise.mistake("each half gets the other half's weight.")
def exchanged(context_1, log_sum_1, context_2, log_sum_2):
    return merge(context_2, log_sum_1, context_1, log_sum_2)


@exercise.mistake("adding the logarithms multiplies the sums.")
def logarithms_added(context_1, log_sum_1, context_2, log_sum_2):
    context, _ = merge(context_1, log_sum_1, context_2, log_sum_2)
    return context, log_sum_1 + log_sum_2


@exercise.mistake("the larger log-sum alone leaves out the other half.")
def larger_alone(context_1, log_sum_1, context_2, log_sum_2):
    context, _ = merge(context_1, log_sum_1, context_2, log_sum_2)
    return context, torch.maximum(log_sum_1, log_sum_2)


@exercise.mistake(
    "the context is correct, but your log-sum still goes through the exponential of 1000, which "
    "overflows."
)
def log_sum_overflows(context_1, log_sum_1, context_2, log_sum_2):
    context, _ = merge(context_1, log_sum_1, context_2, log_sum_2)
    return context, (log_sum_1.exp() + log_sum_2.exp()).log()


@exercise.mistake(
    "the log-sum is correct, but your weights still go through the exponential of 1000, which "
    "overflows."
)
def weights_overflow(context_1, log_sum_1, context_2, log_sum_2):
    context, _ = overflow(context_1, log_sum_1, context_2, log_sum_2)
    return context, torch.logaddexp(log_sum_1, log_sum_2)


@exercise.mistake("your second value is the sum itself: return its logarithm.")
def sum_for_log_sum(context_1, log_sum_1, context_2, log_sum_2):
    context, log_sum = merge(context_1, log_sum_1, context_2, log_sum_2)
    return context, log_sum.exp()


@exercise.mistake(
    "a weight for each query has the shape (B, h, T), and broadcasting aligns it with (h, T, "
    "d_v): add a last axis."
)
def axis_missing(context_1, log_sum_1, context_2, log_sum_2):
    share = (log_sum_1 - log_sum_2).sigmoid()
    return share * context_1 + (1 - share) * context_2, torch.logaddexp(log_sum_1, log_sum_2)


@exercise.mistake(
    "the context is correct, but your log-sum starts from one half, and the other may be larger "
    "by a thousand: start from the larger of the two."
)
def log_sum_beside_the_first(context_1, log_sum_1, context_2, log_sum_2):
    context, _ = merge(context_1, log_sum_1, context_2, log_sum_2)
    return context, log_sum_1 + (log_sum_2 - log_sum_1).exp().log1p()


@exercise.mistake("you keep the half with the larger sum, and the other half's weight is lost.")
def larger_half_alone(context_1, log_sum_1, context_2, log_sum_2):
    larger = (log_sum_1 > log_sum_2)[..., None]
    return torch.where(larger, context_1, context_2), torch.logaddexp(log_sum_1, log_sum_2)
