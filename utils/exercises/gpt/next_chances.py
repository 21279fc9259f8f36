"""From logits to the probabilities from which the next token is drawn."""

import math

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.exercises.gpt import cutting
from utils.exercises.gpt.cutting import back, cut_p, likeliest_first, settled, whole


def next_chances(logits: Tensor, tau: float, p: float) -> Tensor:
    """Return the probabilities after a temperature and then top-p: (V,) to (V,)."""
    likely = (logits / tau).softmax(dim=0)
    order = likely.argsort(descending=True)
    ranked = likely[order]
    before = ranked.cumsum(dim=0) - ranked  # the sum over all that are likelier
    ranked[before >= p] = 0
    likely = torch.zeros_like(likely)
    likely[order] = ranked / ranked.sum()
    return likely


exercise = Exercise(next_chances, gradient=False, runs=True, through=settled)


# What it is tried on ------------------------------------------------------------------------------


NEARLY_ALL = 1 - 1e-6  # cuts nothing off; whether a sum reaches 1 itself is a matter of rounding


@exercise.stage("a temperature alone")
def temperature_alone():
    return [(random(6), 0.5, NEARLY_ALL), (random(7), 2.0, NEARLY_ALL)]


@exercise.stage("the fewest that reach p")
def top_p_alone():
    return [(random(9), 1.0, 0.7), (2 * random(12), 1.0, 0.95)]


@exercise.stage("a best token that is likelier than p")
def one_is_enough():
    return [(4 * random(7), 1.0, 0.25), (6 * random(5), 1.0, 0.25)]


@exercise.stage("both")
def both():
    return [(2 * random(20), 0.7, 0.8), (random(30), 1.6, 0.6), (random(15), 0.5, 0.9)]


@exercise.stage("tokens that just reach p")
def just_reached():
    """Not exactly: there, rounding decides."""
    ranked = -torch.tensor([0.0, 1000, 1e-12, 2e-12, 3e-12], dtype=torch.float64)
    return [(ranked, 1.0, 0.5 - 1e-9)]


@exercise.stage("p = 1, where one token is certain")
def certain():
    return [(-torch.tensor([900.0, 0, 1000], dtype=torch.float64), 1.0, 1.0)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "top-p comes before the temperature: it should count the probabilities from which you draw."
)
def top_p_before_temperature(logits, tau, p):
    kept = cut_p(logits.softmax(0), p) > 0
    return whole((logits / tau).softmax(0) * kept)


@exercise.mistake(
    "the probabilities that are left don't sum to 1: divide them by their sum at the end."
)
def not_whole_at_the_end(logits, tau, p):
    return cut_p((logits / tau).softmax(0), p)


@exercise.mistake("the temperature has no effect: it divides the logits before the softmax.")
def no_temperature(logits, tau, p):
    return next_chances(logits, 1.0, p)


@exercise.mistake("a high temperature should flatten the probabilities; yours sharpens them.")
def multiplied(logits, tau, p):
    return next_chances(logits * tau * tau, tau, p)


@exercise.mistake(
    "the temperature divides the logits: to divide the probabilities by it changes nothing."
)
def chances_divided(logits, tau, p):
    return whole(cut_p(logits.softmax(0) / tau, p))


@exercise.mistake("the temperature is applied again after the cut: once, on the logits, is enough.")
def temperature_twice(logits, tau, p):
    return whole(next_chances(logits, tau, p) ** (1 / tau))


@exercise.mistake("the softmax is taken twice: take it once, of logits divided by the temperature.")
def softmax_twice(logits, tau, p):
    return next_chances(logits.softmax(0), tau, p)


@exercise.mistake(
    "the token that brings the sum to p is left out: without it, the sum doesn't reach p."
)
def crossing_left_out(logits, tau, p):
    chances, order = likeliest_first(logits, tau)
    kept = chances.cumsum(0) < p
    kept[0] = True
    return back(whole(chances * kept), order)


@exercise.mistake(
    "the best token is dropped if it alone is likelier than p: then no token is left to draw."
)
def best_dropped(logits, tau, p):
    return cutting.kept_while(logits, tau, lambda added: added < p)


@exercise.mistake(
    "where the sum passes p you cut too early: the token that brings it there stays, and the best "
    "one always does."
)
def cut_above_p(logits, tau, p):
    return cutting.kept_while(logits, tau, lambda added: ~(added > p))


@exercise.mistake(
    "one token too many: stop at the first at which the sum over all that are likelier reaches p."
)
def one_more(logits, tau, p):
    chances, order = likeliest_first(logits, tau)
    chances[int((chances.cumsum(0) < p).sum()) + 2 :] = 0
    return back(whole(chances), order)


@exercise.mistake("the sum runs over the tokens in their own order: sort them, likeliest first.")
def unsorted_to_p(logits, tau, p):
    likely = (logits / tau).softmax(0)
    return whole(likely * ~(likely.cumsum(0) > p))


@exercise.mistake(
    "what to keep was decided in sorted order, but applied in the tokens' own: undo the sorting."
)
def mask_left_sorted(logits, tau, p):
    likely = (logits / tau).softmax(0)
    chances, _ = likeliest_first(logits, tau)
    return whole(likely * (chances.cumsum(0) - chances < p))


@exercise.mistake("top-p counts from the least likely token: begin with the likeliest.")
def least_likely_to_p(logits, tau, p):
    chances, order = (logits / tau).softmax(0).sort()
    return back(whole(chances * (chances.cumsum(0) - chances < p)), order)


@exercise.mistake("the probabilities come back sorted by size: token 0 is no longer in position 0.")
def left_in_order(logits, tau, p):
    return next_chances(logits, tau, p).sort(descending=True).values


@exercise.mistake("top-p is not applied: all the rare tokens are still there.")
def no_top_p(logits, tau, p):
    return next_chances(logits, tau, 2.0)


@exercise.mistake(
    "tokens that are cut off have a logit of 0, but their probability should be 0: use -infinity."
)
def cut_to_logit_0(logits, tau, p):
    kept = next_chances(logits, tau, p) > 0
    return (logits / tau * kept).softmax(0)


@exercise.mistake(
    "p bounds the sum of the probabilities, not each one: take the likeliest until p is reached."
)
def bound_for_each(logits, tau, p):
    likely = (logits / tau).softmax(0)
    kept = (likely >= 1 - p) | (likely == likely.max())
    return whole(likely * kept)


@exercise.mistake(
    "ranked[order] sorts a second time: to undo the sorting, write each probability to the "
    "position that it came from."
)
def sorted_again(logits, tau, p):
    chances, order = likeliest_first(logits, tau)
    return whole(chances * (chances.cumsum(0) - chances < p))[order]


@exercise.mistake("you add up in the vocabulary's order: begin with the likeliest token.")
def unsorted(logits, tau, p):
    likely = (logits / tau).softmax(0)
    return whole(likely * (likely.cumsum(0) - likely < p))


@exercise.mistake("a softmax of probabilities brings back the tokens cut off: divide by the sum.")
def softmax_at_the_end(logits, tau, p):
    return next_chances(logits, tau, p).softmax(0)


@exercise.mistake("min-p compares each token with the likeliest one: top-p adds them up.")
def min_p(logits, tau, p):
    likely = (logits / tau).softmax(0)
    return whole(likely * (likely >= p * likely.max()))


@exercise.mistake("all tokens left are equally likely in yours: they should keep their ratios.")
def equally_likely(logits, tau, p):
    return whole((next_chances(logits, tau, p) > 0).double())


@exercise.mistake("you cut off p and keep 1 - p: p is what should stay.")
def p_cut_off(logits, tau, p):
    return next_chances(logits, tau, 1 - p)


@exercise.mistake("you divide by p: the probabilities that are left add up to p or more.")
def divided_by_p(logits, tau, p):
    return cut_p((logits / tau).softmax(0), p) / p


@exercise.mistake(
    "you take a softmax of the probabilities that are left: it brings them closer together, where "
    "a division by their sum keeps their ratios."
)
def softmax_of_what_is_left(logits, tau, p):
    likely = (logits / tau).softmax(0)
    return likely.masked_fill(cut_p(likely, p) == 0, -torch.inf).softmax(0)


@exercise.mistake(
    "you compare each probability with p: add them up, likeliest first, until the sum reaches p."
)
def each_at_least_p(logits, tau, p):
    likely = (logits / tau).softmax(0)
    return whole(likely * (likely >= p))


@exercise.mistake("p is not a share of the tokens: it is what their probabilities add up to.")
def share_of_tokens(logits, tau, p):
    return cutting.likeliest((logits / tau).softmax(0), int(p * len(logits)))


@exercise.mistake("p·V is no number of tokens, rounded up or not: add up their probabilities.")
def share_rounded_up(logits, tau, p):
    return cutting.likeliest((logits / tau).softmax(0), math.ceil(p * len(logits)))


@exercise.mistake("p·V, rounded, is no number of tokens: their probabilities should add up to p.")
def share_rounded(logits, tau, p):
    return cutting.likeliest((logits / tau).softmax(0), round(p * len(logits)))


@exercise.mistake(
    "you cut first, and then take a softmax of probabilities: the temperature divides the logits."
)
def temperature_of_what_is_left(logits, tau, p):
    return (whole(cut_p(logits.softmax(0), p)) / tau).softmax(0)


@exercise.mistake("you add up logits: add up probabilities, which come from the softmax.")
def logits_added_up(logits, tau, p):
    added, order = (logits / tau).sort(descending=True)
    kept = added.cumsum(0) - added < p
    kept[0] = True
    return back(added.masked_fill(~kept, -torch.inf).softmax(0), order)


@exercise.mistake(
    "you cut off the least likely tokens until they add up to p: p is what should stay."
)
def rare_ones_to_p(logits, tau, p):
    chances, order = (logits / tau).softmax(0).sort()
    return back(whole(chances * ~(chances.cumsum(0) < p)), order)


@exercise.mistake(
    "you end with a softmax in which each token that was cut off counts as e⁰: divide by the sum."
)
def softmax_for_the_sum(logits, tau, p):
    return cut_p((logits / tau).softmax(0), p).softmax(0)


@exercise.mistake(
    "the tokens that are cut off keep their probabilities: start from `torch.zeros_like(likely)`, "
    "and write those that stay into it."
)
def never_zeroed(logits, tau, p):
    chances = next_chances(logits, tau, p)
    return torch.where(chances > 0, chances, (logits / tau).softmax(0))


@exercise.mistake("all are divided by the sum of those that stay: set the others to 0 first.")
def divided_and_never_zeroed(logits, tau, p):
    likely = (logits / tau).softmax(0)
    return likely / cut_p(likely, p).sum()


@exercise.mistake("you return those that stay, sorted: each has its position among V numbers.")
def shorter(logits, tau, p):
    chances, _ = likeliest_first(logits, tau)
    return whole(chances[chances.cumsum(0) - chances < p])


@exercise.mistake("you return only those that stay: the others are needed, too, with 0.")
def shorter_in_order(logits, tau, p):
    chances = next_chances(logits, tau, p)
    return chances[chances > 0]


@exercise.mistake("you draw a token already: return the probabilities of all of them.")
def drawn(logits, tau, p):
    return torch.multinomial(next_chances(logits, tau, p), 1)


@exercise.mistake("that is the likeliest token: return the probabilities of all of them.")
def likeliest(logits, tau, p):
    return logits.argmax()
