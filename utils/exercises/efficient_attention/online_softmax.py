"""One tile of an online softmax: running maximum, sum, and values."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def take_in(
    scores: Tensor, values: Tensor, m: Tensor, total: Tensor, a: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Shapes: scores (..., T, n), values (..., n, d_v), m and total (..., T, 1), a (..., T, d_v).

    Returns: the new m, total and a.
    """
    new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
    weights, rescale = (scores - new).exp(), (m - new).exp()
    total = rescale * total + weights.sum(dim=-1, keepdim=True)
    a = rescale * a + weights @ values
    return new, total, a


exercise = Exercise(take_in, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def tile(*batch: int, T: int, n: int, d_v: int, offset: float = 0.0) -> tuple[Tensor, ...]:
    """Draw a tile whose scores lie `offset` above what came before."""
    m, total, a = random(*batch, T, 1), random(*batch, T, 1).abs() + 1, random(*batch, T, d_v)
    return m + offset + random(*batch, T, n), random(*batch, n, d_v), m, total, a


@exercise.stage("the first tile, of two scores")
def first_tile():
    scores, values, m, total, a = tile(T=1, n=2, d_v=1)
    return [(scores, values, torch.full_like(m, -torch.inf), 0 * total, 0 * a)]


@exercise.stage("a tile with lower scores than before")
def lower():
    return [tile(T=2, n=3, d_v=2, offset=-5.0)]


@exercise.stage("a tile with higher scores")
def higher():
    return [tile(T=2, n=3, d_v=2, offset=5.0)]


@exercise.stage("scores whose exponential overflows")
def large_scores():
    scores, values, m, total, a = tile(T=3, n=4, d_v=2)
    return [(scores + 1000, values, m + 1000, total, a), (scores, values, m - 1000, total, a)]


@exercise.stage("a tile that a query may not see at all")
def hidden():
    scores, values, m, total, a = tile(T=3, n=4, d_v=2)
    seen = torch.ones(3, 4, dtype=torch.bool).tril(-1)
    return [(scores.masked_fill(~seen, -1e30), values, m, total, a)]


@exercise.stage("several heads")
def several_heads():
    return [tile(2, 3, T=4, n=5, d_v=3), tile(3, 2, T=5, n=2, d_v=4, offset=1.0)]


# What goes wrong ----------------------------------------------------------------------------------


def taken_in(scores, values, m, total, a, *, sum_by=1, values_by=1):
    """Take in a tile, with other powers of the rescaling."""
    new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
    weights, rescale = (scores - new).exp(), (m - new).exp()
    total = rescale**sum_by * total + weights.sum(dim=-1, keepdim=True)
    return new, total, rescale**values_by * a + weights @ values


@exercise.mistake("the maximum moves, but the old sums, total and a, aren't rescaled.")
def nothing_rescaled(*given):
    return taken_in(*given, sum_by=0, values_by=0)


@exercise.mistake(
    "the maximum moves, and you rescale a, but total still belongs to the old maximum."
)
def sum_not_rescaled(*given):
    return taken_in(*given, sum_by=0)


@exercise.mistake(
    "the maximum moves, and you rescale total, but a still belongs to the old maximum."
)
def values_not_rescaled(*given):
    return taken_in(*given, values_by=0)


@exercise.mistake("you rescale by exp(m' - m): the old sums should become smaller.")
def upside_down(*given):
    return taken_in(*given, sum_by=-1, values_by=-1)


@exercise.mistake("correct as algebra, but without a maximum the exponential of 1000 overflows.")
def no_maximum(scores, values, m, total, a):
    new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
    weights = scores.exp()
    total = (m.exp() * total + weights.sum(dim=-1, keepdim=True)) / new.exp()
    return new, total, (m.exp() * a + weights @ values) / new.exp()


@exercise.mistake("your new maximum is the tile's own: an earlier score may be larger.")
def maximum_of_the_tile(scores, values, m, total, a):
    new = scores.amax(dim=-1, keepdim=True)
    weights, rescale = (scores - new).exp(), (m - new).exp()
    return new, rescale * total + weights.sum(dim=-1, keepdim=True), rescale * a + weights @ values


@exercise.mistake(
    "one maximum for all queries: each query has a softmax, and a maximum, of its own."
)
def one_maximum(scores, values, m, total, a):
    new = torch.maximum(m, scores.max()).max().expand_as(m)
    weights, rescale = (scores - new).exp(), (m - new).exp()
    return new, rescale * total + weights.sum(dim=-1, keepdim=True), rescale * a + weights @ values


@exercise.mistake("you subtract the old maximum from the tile's scores: subtract the new one.")
def below_the_old(scores, values, m, total, a):
    new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
    weights, rescale = (scores - m).exp(), (m - new).exp()
    return new, rescale * total + weights.sum(dim=-1, keepdim=True), rescale * a + weights @ values


@exercise.mistake("you divide already: a stays a sum, and is divided by total once, at the end.")
def divided_already(*given):
    m, total, a = take_in(*given)
    return m, total, a / total


@exercise.mistake("you leave out the earlier tiles: the new total and a are this tile's alone.")
def tile_alone(scores, values, m, total, a):
    new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
    weights = (scores - new).exp()
    return new, weights.sum(dim=-1, keepdim=True), weights @ values


@exercise.mistake("you take a softmax of the tile: then its weights sum to 1 in each tile.")
def softmax_of_the_tile(scores, values, m, total, a):
    new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
    weights, rescale = scores.softmax(dim=-1), (m - new).exp()
    return new, rescale * total + weights.sum(dim=-1, keepdim=True), rescale * a + weights @ values


@exercise.mistake("you return the old maximum with the new sums.")
def old_maximum(scores, values, m, total, a):
    return m, *take_in(scores, values, m, total, a)[1:]


@exercise.mistake("return the maximum first, then the sum total, then a.")
def other_order(*given):
    m, total, a = take_in(*given)
    return m, a, total


@exercise.mistake("your maximum lost an axis: keepdim=True keeps m as (..., T, 1).")
def axis_lost(*given):
    m, total, a = take_in(*given)
    return m[..., 0], total, a


@exercise.mistake("total counts the new maximum's own weight once more.")
def counted_twice(*given):
    m, total, a = take_in(*given)
    return m, total + 1, a


@exercise.mistake("you subtract the tile's own maximum from its scores: subtract m' everywhere.")
def below_its_own(scores, values, m, total, a):
    own = scores.amax(dim=-1, keepdim=True)
    new = torch.maximum(m, own)
    weights, rescale = (scores - own).exp(), (m - new).exp()
    return new, rescale * total + weights.sum(dim=-1, keepdim=True), rescale * a + weights @ values


@exercise.mistake(
    "you don't subtract the new maximum from the tile's scores before the exponential."
)
def nothing_taken_off(scores, values, m, total, a):
    new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
    weights, rescale = scores.exp(), (m - new).exp()
    return new, rescale * total + weights.sum(dim=-1, keepdim=True), rescale * a + weights @ values


@exercise.mistake("you rescale the tile's own sums, too: only the old sums are too large.")
def all_rescaled(scores, values, m, total, a):
    new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
    weights, rescale = (scores - new).exp(), (m - new).exp()
    total = total + weights.sum(dim=-1, keepdim=True)
    return new, rescale * total, rescale * (a + weights @ values)


@exercise.mistake(
    "your total sums over all queries: each row has a sum of its own, dim=-1 with keepdim."
)
def one_sum(scores, values, m, total, a):
    new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
    weights, rescale = (scores - new).exp(), (m - new).exp()
    return new, rescale * total + weights.sum(), rescale * a + weights @ values


@exercise.mistake("the sum of the weights lost an axis: keepdim=True keeps total as (..., T, 1).")
def sum_without_its_axis(scores, values, m, total, a):
    new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
    weights, rescale = (scores - new).exp(), (m - new).exp()
    return new, rescale * total + weights.sum(dim=-1), rescale * a + weights @ values


@exercise.mistake("you rescale by the difference m - m': the factor is its exponential.")
def no_exponential(scores, values, m, total, a):
    new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
    weights, rescale = (scores - new).exp(), m - new
    return new, rescale * total + weights.sum(dim=-1, keepdim=True), rescale * a + weights @ values


@exercise.mistake("you keep an average: in this lesson a is a sum, divided once, at the end.")
def average_kept(scores, values, m, total, a):
    new, after, summed = take_in(scores, values, m, total, a * total)
    return new, after, summed / after


@exercise.mistake(
    "Python's `max` asks which of two tensors is the larger as a whole: `torch.maximum` compares "
    "number by number."
)
def pythons_max(scores, values, m, total, a):
    return take_in(scores, values, max(m, scores.amax(dim=-1, keepdim=True)), total, a)


@exercise.mistake(
    "`max` with a dim returns values and their positions: take its .values, or `amax`."
)
def values_and_positions(scores, values, m, total, a):
    new = torch.maximum(m, scores.max(dim=-1, keepdim=True))
    return take_in(scores, values, new, total, a)


@exercise.mistake("your weights are divided by total already: a is divided once, at the end.")
def weights_divided(scores, values, m, total, a):
    new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
    weights, rescale = (scores - new).exp(), (m - new).exp()
    total = rescale * total + weights.sum(dim=-1, keepdim=True)
    return new, total, rescale * a + weights / total @ values


@exercise.mistake("your total sums the scores: it should sum their exponentials.")
def scores_summed(scores, values, m, total, a):
    new, _, a2 = take_in(scores, values, m, total, a)
    return new, (m - new).exp() * total + scores.sum(-1, keepdim=True), a2


@exercise.mistake("your tile's largest score is that of all queries: each row has one, on dim=-1.")
def tile_with_one_maximum(scores, values, m, total, a):
    new = torch.maximum(m, scores.max())
    weights, rescale = (scores - new).exp(), (m - new).exp()
    return new, rescale * total + weights.sum(dim=-1, keepdim=True), rescale * a + weights @ values
