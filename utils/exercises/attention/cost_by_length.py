"""How many sentences the fixed vector costs, by their length."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise


def cost_by_length(attention: Tensor, fixed: Tensor, lengths: Tensor, edges: list[int]) -> Tensor:
    """Return per bucket how much larger the share of correct sentences is with attention.

    Shapes: attention and fixed (B,) boolean, lengths (B,).
    edges: where the buckets begin, and behind them the end of the last; an empty bucket costs 0.
    """
    return mean_in_each(attention, fixed, buckets(lengths, edges))


def buckets(lengths: Tensor, edges: list[int]) -> list[Tensor]:
    bounds = zip(edges[:-1], edges[1:], strict=True)
    return [(low <= lengths) & (lengths < high) for low, high in bounds]


def mean_in_each(attention: Tensor, fixed: Tensor, buckets: list[Tensor]) -> Tensor:
    difference = attention.double() - fixed.double()
    return torch.stack([difference[inside].sum() / inside.sum().clamp(min=1) for inside in buckets])


exercise = Exercise(cost_by_length, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(n: int, longest: int, edges: list[int]) -> tuple[Tensor, Tensor, Tensor, list[int]]:
    return torch.rand(n) < 0.8, torch.rand(n) < 0.5, torch.randint(1, longest + 1, (n,)), edges


@exercise.stage("one bucket")
def one_bucket():
    return [drawn(7, 4, [1, 5])]


@exercise.stage("several buckets")
def several_buckets():
    return [drawn(40, 12, [1, 4, 8, 13]), drawn(60, 20, [2, 5, 10, 15, 20])]


@exercise.stage("an empty bucket")
def empty_bucket():
    return [drawn(30, 8, [1, 4, 9, 20])]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("a length on an edge belongs to the bucket that begins there.")
def right_edge_in(attention, fixed, lengths, edges):
    return cost_by_length(attention, fixed, lengths - 1, edges)


@exercise.mistake(
    "a length on an edge counts twice: it belongs only to the bucket that begins there."
)
def both_edges_in(attention, fixed, lengths, edges):
    bounds = zip(edges[:-1], edges[1:], strict=True)
    closed = [(low <= lengths) & (lengths <= high) for low, high in bounds]
    return mean_in_each(attention, fixed, closed)


@exercise.mistake("a length on an edge is in no bucket: it belongs to the one that begins there.")
def both_edges_out(attention, fixed, lengths, edges):
    bounds = zip(edges[:-1], edges[1:], strict=True)
    opened = [(low < lengths) & (lengths < high) for low, high in bounds]
    return mean_in_each(attention, fixed, opened)


@exercise.mistake("the cost is the fixed vector's loss: yours has the opposite sign.")
def other_sign(attention, fixed, lengths, edges):
    return cost_by_length(fixed, attention, lengths, edges)


@exercise.mistake("you divide by the number of all sentences: divide by the number in the bucket.")
def share_of_all(attention, fixed, lengths, edges):
    difference = attention.double() - fixed.double()
    return torch.stack([difference[i].sum() for i in buckets(lengths, edges)]) / len(lengths)


@exercise.mistake(
    "your buckets also contain all shorter sentences: a long one is hidden by many short ones."
)
def up_to_each_edge(attention, fixed, lengths, edges):
    return mean_in_each(attention, fixed, [lengths < high for high in edges[1:]])


@exercise.mistake("an empty bucket gives 0 divided by 0; it should cost 0.")
def zero_by_zero(attention, fixed, lengths, edges):
    difference = attention.double() - fixed.double()
    return torch.stack([difference[inside].mean() for inside in buckets(lengths, edges)])


@exercise.mistake(
    "you divide by one model's share: return the difference of the shares, not their ratio."
)
def ratio(attention, fixed, lengths, edges):
    nothing, inside = torch.zeros_like(fixed), buckets(lengths, edges)
    share = mean_in_each(fixed, nothing, inside)
    return cost_by_length(attention, fixed, lengths, edges) / share


@exercise.mistake(
    "that is how many more sentences are correct, not how much larger their share is."
)
def counts(attention, fixed, lengths, edges):
    difference = attention.double() - fixed.double()
    return torch.stack([difference[inside].sum() for inside in buckets(lengths, edges)])


@exercise.mistake(
    "sentences that only the fixed vector translates correctly count, too, on the other side: "
    "subtract them."
)
def won_alone(attention, fixed, lengths, edges):
    return cost_by_length(attention & ~fixed, torch.zeros_like(fixed), lengths, edges)


@exercise.mistake(
    "that is the share of sentences on which the models differ, whichever of them is correct."
)
def either_alone(attention, fixed, lengths, edges):
    return cost_by_length(attention ^ fixed, torch.zeros_like(fixed), lengths, edges)


@exercise.mistake("that is attention's share of correct sentences: subtract the fixed vector's.")
def attention_alone(attention, fixed, lengths, edges):
    return cost_by_length(attention, torch.zeros_like(fixed), lengths, edges)


@exercise.mistake("those are percentage points: return a difference of shares, from −1 to 1.")
def in_percent(attention, fixed, lengths, edges):
    return 100 * cost_by_length(attention, fixed, lengths, edges)


@exercise.mistake("you leave out the empty bucket: it costs 0, and keeps its place.")
def empty_left_out(attention, fixed, lengths, edges):
    found = [inside for inside in buckets(lengths, edges) if inside.any()]
    return mean_in_each(attention, fixed, found)
