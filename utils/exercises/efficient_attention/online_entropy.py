"""The entropy of softmax weights, from running numbers and without the weights."""

import math

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.exercises.efficient_attention.drawn import on_grid


def entropy(scores: Tensor, chunk: int) -> Tensor:
    """Return the entropy of each row's softmax in nats, at once: the check sees numbers only.

    Shapes: scores (T, S) to (T,).
    """
    return torch.special.entr(scores.softmax(1)).sum(1)


exercise = Exercise(entropy)


# What it is tried on ------------------------------------------------------------------------------


def sorted_scores(T: int, S: int, descending: bool = False) -> Tensor:
    return random(T, S).sort(1, descending=descending).values


def levels() -> Tensor:
    return torch.tensor([-1024.0, 0.0, 1024.0], dtype=torch.float64)


@exercise.stage("a single chunk")
def single_chunk():
    return [(random(2, 4), 6)]


@exercise.stage("scores that fall")
def falling():
    return [(sorted_scores(2, 5, descending=True), 2)]


@exercise.stage("scores that rise")
def rising():
    return [(sorted_scores(3, 6), 2)]


@exercise.stage("scores whose exponential overflows")
def large_scores():
    return [(1024 + on_grid(3, 5), 2), (-1024 + on_grid(2, 7), 3)]


@exercise.stage("rows that are far apart")
def rows_far_apart():
    return [(levels()[:, None] + on_grid(3, 7), 3)]


@exercise.stage("chunks that rise by a thousand")
def climbing_chunks():
    return [(levels().repeat_interleave(3) + on_grid(2, 9), 3)]


@exercise.stage("chunks that fall by a thousand")
def falling_chunks():
    return [(levels().flip(0).repeat_interleave(3) + on_grid(2, 9), 3)]


@exercise.stage("several chunks")
def several_chunks():
    return [(2 * random(4, 11), 3), (3 * random(5, 9), 4)]


# What goes wrong ----------------------------------------------------------------------------------


def online_entropy(
    scores: Tensor, chunk: int, of_sum=True, of_mean=True, maximum=torch.maximum, shift=0
) -> Tensor:
    """Return log ℓ + m - r / ℓ, with ℓ = Σ exp(s - m) and r = Σ exp(s - m)·s.

    When the maximum m moves, both are rescaled: the last four arguments are what mistakes change.
    """
    largest = scores.new_full((len(scores), 1), -math.inf)
    total = summed = torch.zeros_like(largest)
    for piece in scores.split(chunk, dim=1):
        new = maximum(largest, piece.amax(1, keepdim=True))
        weights, rescale = (piece - new).exp(), (largest - new).exp()
        seen = weights * (piece - shift * new)
        total = (rescale if of_sum else 1) * total + weights.sum(1, keepdim=True)
        summed = (rescale if of_mean else 1) * summed + seen.sum(1, keepdim=True)
        largest = new
    return (total.log() + (1 - shift) * largest - summed / total)[:, 0]


@exercise.mistake("the running maximum moves, but the sum ℓ still belongs to the old one.")
def sum_not_rescaled(scores, chunk):
    return online_entropy(scores, chunk, of_sum=False)


@exercise.mistake(
    "the running maximum moves, and you rescale ℓ, but r still belongs to the old one."
)
def mean_not_rescaled(scores, chunk):
    return online_entropy(scores, chunk, of_mean=False)


@exercise.mistake("the running maximum moves, but the old sums aren't rescaled.")
def nothing_rescaled(scores, chunk):
    return online_entropy(scores, chunk, of_sum=False, of_mean=False)


@exercise.mistake("correct as algebra, but the exponential of 1000 overflows: subtract a maximum.")
def no_maximum(scores, chunk):
    weights = scores.exp()
    total = weights.sum(1)
    return total.log() - (weights * scores).sum(1) / total


@exercise.mistake("one maximum for all rows: each query has a softmax, and a maximum, of its own.")
def one_maximum(scores, chunk):
    return no_maximum(scores - scores.max(), chunk)


@exercise.mistake(
    "correct as algebra, but a later chunk may be a thousand above the first one's maximum: let "
    "the maximum move."
)
def first_maximum(scores, chunk):
    return no_maximum(scores - scores[:, :chunk].amax(1, keepdim=True), chunk)


@exercise.mistake("that is the last chunk's entropy: everything before it is forgotten.")
def last_chunk(scores, chunk):
    return entropy(scores.split(chunk, 1)[-1], chunk)


@exercise.mistake("that is the mean over chunks; one softmax runs over all of them.")
def mean_over_chunks(scores, chunk):
    return torch.stack([entropy(piece, chunk) for piece in scores.split(chunk, 1)]).mean(0)


@exercise.mistake("that is in bits: return nats.")
def bits(scores, chunk):
    return entropy(scores, chunk) / math.log(2)


@exercise.mistake("an entropy is never negative: log p is.")
def sign(scores, chunk):
    return -entropy(scores, chunk)


@exercise.mistake("a weight may round to 0, and 0 · log 0 is NaN: what is it in the limit?")
def log_of_0(scores, chunk):
    p = scores.softmax(1)
    return -(p * p.log()).sum(1)


@exercise.mistake(
    "correct as algebra, but if a chunk is a thousand below the earlier ones, rescaling to its "
    "maximum overflows: a running maximum never goes down."
)
def maximum_of_the_chunk(scores, chunk):
    return online_entropy(scores, chunk, maximum=lambda largest, of_chunk: of_chunk)


@exercise.mistake(
    "m is missing in the result: you subtracted it from each score in ℓ, and don't add it back."
)
def maximum_forgotten(scores, chunk):
    return entropy(scores, chunk) - scores.amax(1)


@exercise.mistake(
    "you sum e^(x - m) (x - m), and m moves: the old terms were computed with another m."
)
def scores_shifted(scores, chunk):
    return online_entropy(scores, chunk, shift=1)


@exercise.mistake("the last chunk may be shorter than the others: yours is left out.")
def rest_left_out(scores, chunk):
    whole = scores[:, : scores.shape[1] // chunk * chunk]
    nothing = torch.full_like(scores[:, 0], math.nan)
    return online_entropy(whole, chunk) if whole.numel() else nothing


@exercise.mistake("your running maximum starts at 0, but scores may be a thousand below.")
def maximum_from_0(scores, chunk):
    return no_maximum(scores - scores.amax(1, keepdim=True).clamp(min=0), chunk)
