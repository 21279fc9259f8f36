"""From logits to the chances from which the next token is drawn."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def next_chances(logits: Tensor, tau: float, k: int, p: float) -> Tensor:
    """Return the chances after a temperature, top-k and top-p, in this order: (V,) to (V,)."""
    chances = (logits / tau).softmax(dim=0)
    order = chances.argsort(descending=True)
    ranked = chances[order]
    ranked[k:] = 0
    ranked = ranked / ranked.sum()
    before = ranked.cumsum(dim=0) - ranked  # the mass of all that are likelier
    ranked[before >= p] = 0
    chances = torch.zeros_like(chances)
    chances[order] = ranked / ranked.sum()
    return chances


exercise = Exercise(next_chances, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


NEARLY_ALL = 1 - 1e-6  # cuts nothing off; whether a sum reaches 1 itself is a matter of rounding


@exercise.stage("a temperature alone")
def temperature_alone():
    return [(random(6), 0.5, 6, NEARLY_ALL), (random(7), 2.0, 7, NEARLY_ALL)]


@exercise.stage("the three likeliest")
def top_k_alone():
    return [(random(8), 1.0, 3, NEARLY_ALL), (random(5), 1.0, 9, NEARLY_ALL)]


@exercise.stage("the fewest that reach p")
def top_p_alone():
    return [(random(9), 1.0, 9, 0.7), (2 * random(12), 1.0, 12, 0.95)]


@exercise.stage("a best token that is likelier than p")
def one_is_enough():
    return [(4 * random(7), 1.0, 7, 0.1), (4 * random(7), 1.0, 1, 0.1)]


@exercise.stage("all three")
def all_three():
    return [(2 * random(20), 0.7, 8, 0.8), (random(30), 1.6, 10, 0.6), (random(15), 0.5, 4, 0.9)]


@exercise.stage("tokens that just reach p")
def just_reached():
    """Not exactly: there, rounding decides."""
    ranked = -torch.tensor([0.0, 1000, 1e-12, 2e-12, 3e-12], dtype=torch.float64)
    return [(ranked, 1.0, 5, 0.5 - 1e-9), (ranked, 1.0, 2, 0.5 - 1e-9)]


@exercise.stage("p = 1, where one token is certain")
def certain():
    return [(-torch.tensor([900.0, 0, 1000], dtype=torch.float64), 1.0, 3, 1.0)]


# What goes wrong ----------------------------------------------------------------------------------


def cut_k(chances: Tensor, k: int) -> Tensor:
    """Keep the k likeliest, without making their sum 1."""
    ranks = chances.argsort(descending=True).argsort()
    return chances * (ranks < k)


def cut_p(chances: Tensor, p: float, least: int = 1, reached=torch.ge) -> Tensor:
    """Keep the likeliest until they reach p, without making their sum 1."""
    ranked, order = chances.sort(descending=True)
    ranked = ranked.clone()
    kept = ~reached(ranked.cumsum(0) - ranked, p)
    kept[:least] = True
    return torch.zeros_like(chances).index_put((order,), ranked * kept)


def whole(chances: Tensor) -> Tensor:
    return chances / chances.sum()


@exercise.mistake(
    "top-p comes before the temperature: it should count chances as they are when you draw."
)
def top_p_before_temperature(logits, tau, k, p):
    kept = cut_p(logits.softmax(0), p) > 0
    chances = whole((logits / tau).softmax(0) * kept)
    return whole(cut_k(chances, k))


@exercise.mistake(
    "p is counted among all tokens: top-k comes first, and what it leaves is brought to a sum of 1."
)
def top_p_before_top_k(logits, tau, k, p):
    return whole(cut_k(cut_p((logits / tau).softmax(0), p), k))


@exercise.mistake("what is left doesn't sum to 1: what was cut off has to be shared out.")
def not_whole_at_the_end(logits, tau, k, p):
    return cut_p(whole(cut_k((logits / tau).softmax(0), k)), p)


@exercise.mistake("the temperature has no effect: it divides the logits before the softmax.")
def no_temperature(logits, tau, k, p):
    return next_chances(logits, 1.0, k, p)


@exercise.mistake("a high temperature should make the chances flat; yours makes them sharp.")
def multiplied(logits, tau, k, p):
    return next_chances(logits * tau * tau, tau, k, p)


@exercise.mistake("the temperature divides the logits, not the chances: there it changes nothing.")
def chances_divided(logits, tau, k, p):
    chances = logits.softmax(0) / tau
    return whole(cut_p(whole(cut_k(chances, k)), p / tau if p < 1 else 2.0))


@exercise.mistake(
    "the softmax is taken twice: divide the logits by the temperature, then take it once."
)
def softmax_twice(logits, tau, k, p):
    return next_chances(logits.softmax(0), tau, k, p)


@exercise.mistake("the token that brings the sum to p is left out: without it, p is not reached.")
def crossing_left_out(logits, tau, k, p):
    chances = whole(cut_k((logits / tau).softmax(0), k))
    ranked, order = chances.sort(descending=True)
    kept = ranked.cumsum(0) < p
    kept[0] = True
    return whole(torch.zeros_like(chances).index_put((order,), ranked * kept))


@exercise.mistake("the best token is dropped where it alone is likelier than p: nothing is left.")
def best_dropped(logits, tau, k, p):
    chances = whole(cut_k((logits / tau).softmax(0), k))
    ranked, order = chances.sort(descending=True)
    return whole(torch.zeros_like(chances).index_put((order,), ranked * (ranked.cumsum(0) < p)))


def up_to_p(chances: Tensor, p: float) -> Tensor:
    """Keep the likeliest as long as their sum is not above p, and make the sum of these 1."""
    ranked, order = chances.sort(descending=True)
    kept = ranked * ~(ranked.cumsum(0) > p)
    return whole(torch.zeros_like(chances).index_put((order,), kept))


@exercise.mistake(
    "where the sum passes p you cut too early: the token that brings it there stays, and the best "
    "one always does."
)
def cut_above_p(logits, tau, k, p):
    return up_to_p(whole(cut_k((logits / tau).softmax(0), k)), p)


@exercise.mistake(
    "two things: what top-k leaves is first brought to a sum of 1, and the token that brings the "
    "sum to p stays."
)
def cut_above_p_of_all(logits, tau, k, p):
    return up_to_p(cut_k((logits / tau).softmax(0), k), p)


@exercise.mistake("the sum goes through the tokens as they stand: the likeliest come first.")
def unsorted_to_p(logits, tau, k, p):
    chances = whole(cut_k((logits / tau).softmax(0), k))
    return whole(chances * ~(chances.cumsum(0) > p))


@exercise.mistake("k and p count from the least likely token: the likeliest come first.")
def least_likely_first(logits, tau, k, p):
    chances = (logits / tau).softmax(0)
    ranked, order = chances.sort()
    ranked[k:] = 0
    ranked = whole(ranked)
    ranked = ranked * (ranked.cumsum(0) - ranked < p)
    return whole(torch.zeros_like(chances).index_put((order,), ranked))


@exercise.mistake("top-p counts from the least likely token: the likeliest come first.")
def least_likely_to_p(logits, tau, k, p):
    ranked, order = whole(cut_k((logits / tau).softmax(0), k)).sort()
    ranked = ranked * (ranked.cumsum(0) - ranked < p)
    return whole(torch.zeros_like(ranked).index_put((order,), ranked))


@exercise.mistake("the chances come back in the order of their size: token 0 is no longer token 0.")
def left_in_order(logits, tau, k, p):
    return next_chances(logits, tau, k, p).sort(descending=True).values


@exercise.mistake("top-k is not applied: beyond the k likeliest, nothing may be drawn.")
def no_top_k(logits, tau, k, p):
    return next_chances(logits, tau, len(logits), p)


@exercise.mistake("top-p is not applied: the rare tokens are all still there.")
def no_top_p(logits, tau, k, p):
    return next_chances(logits, tau, k, 2.0)


@exercise.mistake("what is cut off has logit 0, and so a chance: its chance is to be 0.")
def cut_to_logit_0(logits, tau, k, p):
    kept = next_chances(logits, tau, k, p) > 0
    return (logits / tau * kept).softmax(0)


@exercise.mistake("p is a sum of chances, not a bound for each: the likeliest are taken until p.")
def bound_for_each(logits, tau, k, p):
    chances = whole(cut_k((logits / tau).softmax(0), k))
    kept = (chances >= 1 - p) | (chances == chances.max())
    return whole(chances * kept)


@exercise.mistake("one token too many: k = 3 leaves three.")
def one_more(logits, tau, k, p):
    return next_chances(logits, tau, k + 1, p)
