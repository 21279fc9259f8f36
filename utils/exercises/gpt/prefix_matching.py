"""The prefix-matching score of a map of attention: does it look at what came next last time?"""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise


def prefix_matching(weights: Tensor, ids: Tensor) -> Tensor:
    """Return the mean weight on symbols that followed the present one before (Olsson et al., 2022).

    The mean is over all positions, of all sequences, whose symbol was there before; of several such
    places the weights are summed up. Shapes: weights (B, T, T), causal, ids (B, T), to one number.
    """
    return mean_weight(weights, followed(ids))


def earlier(ids: Tensor) -> Tensor:
    """Return (B, T, T): True where position s < t has the symbol of t."""
    return (ids[:, :, None] == ids[:, None]).tril(-1)


def followed(ids: Tensor) -> Tensor:
    """Return (B, T, T): True at s ≤ t where position s - 1 has the symbol of t."""
    return F.pad(earlier(ids), (1, 0))[:, :, :-1]


def mean_weight(weights: Tensor, looked_for: Tensor) -> Tensor:
    asked = looked_for.any(dim=2)  # (B, T)
    return (weights * looked_for).sum(dim=2)[asked].mean()


exercise = Exercise(prefix_matching, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def maps(ids: list[list[int]]) -> tuple[Tensor, Tensor]:
    """Draw a causal map for each sequence."""
    ids = torch.tensor(ids)
    T = ids.shape[1]
    scores = 2 * torch.randn(*ids.shape, T, dtype=torch.float64)
    past = torch.ones(T, T, dtype=torch.bool).tril()
    return scores.masked_fill(~past, -torch.inf).softmax(dim=2), ids


@exercise.stage("one symbol that comes again")
def one_again():
    return [maps([[3, 5, 7, 3]])]


@exercise.stage("a symbol that comes three times")
def three_times():
    return [maps([[3, 5, 3, 7, 4, 3, 6]])]


@exercise.stage("a symbol that follows itself")
def follows_itself():
    return [maps([[4, 4, 6, 2, 4]])]


@exercise.stage("several sequences")
def several_sequences():
    return [
        maps([[1, 2, 3, 1, 2, 3, 4], [5, 6, 7, 8, 5, 9, 1]]),
        maps([[2, 1, 2, 1, 2], [3, 4, 4, 5, 3], [1, 2, 3, 4, 1], [1, 1, 1, 2, 3]]),
    ]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("that is the weight on the same symbol, earlier: what came after it?")
def same_symbol(weights, ids):
    return mean_weight(weights, earlier(ids))


@exercise.mistake("that is the weight on what came before the same symbol: look after it.")
def what_came_before(weights, ids):
    before = F.pad(earlier(ids)[:, :, 1:], (0, 1))
    return (weights * before).sum(dim=2)[earlier(ids).any(dim=2)].mean()


@exercise.mistake("that is the diagonal: how much each position looks at itself.")
def diagonal(weights, ids):
    asked = earlier(ids).any(dim=2)
    return weights.diagonal(dim1=1, dim2=2)[asked].mean()


@exercise.mistake("that is how much each position looks at the one before it, whatever it holds.")
def previous_position(weights, ids):
    asked = earlier(ids).any(dim=2)
    return F.pad(weights.diagonal(-1, dim1=1, dim2=2), (1, 0))[asked].mean()


@exercise.mistake(
    "your mean is over all positions, also those whose symbol was never there before: they have "
    "nothing to find."
)
def over_all_positions(weights, ids):
    return (weights * followed(ids)).sum(dim=2).mean()


@exercise.mistake("you take the last earlier place alone: the weights on all of them count.")
def last_place_alone(weights, ids):
    places = followed(ids) * torch.arange(1, ids.shape[1] + 1)
    return mean_weight(weights, (places == places.amax(dim=2, keepdim=True)) & followed(ids))


@exercise.mistake("you take the first place alone: the weights on all of them count.")
def first_place_alone(weights, ids):
    return mean_weight(weights, followed(ids) & (followed(ids).cumsum(dim=2) == 1))


@exercise.mistake(
    "of several such places you take the mean weight: what a head gives them counts together."
)
def mean_over_places(weights, ids):
    found = followed(ids)
    return mean_weight(weights / found.sum(dim=2, keepdim=True).clamp(min=1), found)


@exercise.mistake("each of your sequences counts alike: each position should.")
def mean_of_sequences(weights, ids):
    of_each = [prefix_matching(w[None], row[None]) for w, row in zip(weights, ids, strict=True)]
    return torch.stack(of_each).mean()


@exercise.mistake(
    "a symbol that follows itself has its place at the present position: that counts, too."
)
def not_itself(weights, ids):
    found = followed(ids).tril(-1)
    return (weights * found).sum(dim=2)[followed(ids).any(dim=2)].mean()


@exercise.mistake("that is the sum over the positions: the score is their mean.")
def sum_over_positions(weights, ids):
    return (weights * followed(ids)).sum()


@exercise.mistake("queries and keys have changed places: a row holds the weights of one query.")
def turned(weights, ids):
    return mean_weight(weights.mT, followed(ids))


@exercise.mistake("of several such places you take the largest weight: sum up all of them.")
def largest_weight(weights, ids):
    found = followed(ids)
    return (weights * found).amax(dim=2)[found.any(dim=2)].mean()
