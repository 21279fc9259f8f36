"""The cheapest model whose mean is within one standard error of the best."""

import math

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random
from utils.exercises.gates.drawn import gates


def choose(scores: Tensor, costs: Tensor) -> int:
    """Return the index of the chosen model.

    Shapes: scores (models, seeds), larger is better; costs (models,).
    """
    return cheapest_within(standard_error, scores, costs)


def cheapest_within(error, scores: Tensor, costs: Tensor) -> int:
    means = scores.mean(dim=1)
    best = means.argmax()
    good_enough = means >= means[best] - error(scores[best])
    return int(costs.masked_fill(~good_enough, math.inf).argmin())


def standard_error(runs: Tensor) -> Tensor:
    return runs.std() / math.sqrt(len(runs))


exercise = Exercise(choose, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def two_models(*scores: list[float]) -> tuple[Tensor, Tensor]:
    return torch.tensor(scores), torch.tensor([1.0, 4.0])


def measured(n_models: int, n_seeds: int) -> tuple[Tensor, Tensor]:
    """Draw models that differ by about as much as their seeds do; better ones tend to cost more."""
    quality = 0.3 * random(n_models)
    scores = 0.8 + 0.1 * (quality[:, None] + random(n_models, n_seeds))
    return scores, quality.argsort().argsort() + gates(n_models)


@exercise.stage("two models, far apart")
def far_apart():
    return [two_models([0.51, 0.52, 0.54], [0.9, 0.92, 0.91])]


@exercise.stage("two models, close together")
def close_together():
    return [two_models([0.86, 0.89, 0.91], [0.82, 0.9, 0.95])]


@exercise.stage("two seeds each")
def two_seeds():
    return [two_models([0.77, 0.79], [0.8, 1.0]), two_models([0.81, 0.82], [0.8, 1.0])]


@exercise.stage("several models")
def several_models():
    return [measured(n_models, n_seeds) for n_models, n_seeds in 4 * [(3, 5), (6, 3), (5, 4)]]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "that is the best mean; a cheaper model may be just as good, as far as these runs can tell."
)
def best_mean(scores, costs):
    return int(scores.mean(dim=1).argmax())


@exercise.mistake("the best single run is the luckiest: compare means.")
def best_run(scores, costs):
    return int(scores.amax(dim=1).argmax())


@exercise.mistake(
    "you allow a standard deviation, but the mean of several runs is more certain than one run."
)
def standard_deviation(scores, costs):
    return cheapest_within(Tensor.std, scores, costs)


@exercise.mistake(
    "dividing by n makes the spread of a few runs too small: a sample's variance divides by n - 1."
)
def divided_by_n(scores, costs):
    return cheapest_within(
        lambda runs: runs.std(correction=0) / math.sqrt(len(runs)), scores, costs
    )


@exercise.mistake("the sample's deviation already includes n - 1; divide it by the root of n.")
def n_minus_1_twice(scores, costs):
    return cheapest_within(lambda runs: runs.std() / math.sqrt(len(runs) - 1), scores, costs)


@exercise.mistake("you allow each model its own standard error; the rule uses that of the best.")
def own_error(scores, costs):
    means, errors = scores.mean(dim=1), scores.std(dim=1) / math.sqrt(scores.shape[1])
    good_enough = means + errors >= means.max()
    return int(costs.masked_fill(~good_enough, math.inf).argmin())


@exercise.mistake("that is the cheapest model of all, whether it is good or not.")
def cheapest(scores, costs):
    return int(costs.argmin())


@exercise.mistake(
    "that is the index among the models that are good enough: return the index among all models."
)
def counted_among_the_good(scores, costs):
    means = scores.mean(dim=1)
    best = means.argmax()
    good_enough = means >= means[best] - standard_error(scores[best])
    return int(costs[good_enough].argmin())


@exercise.mistake("you allow two standard errors; the rule allows one.")
def two_errors(scores, costs):
    return cheapest_within(lambda runs: 2 * standard_error(runs), scores, costs)


@exercise.mistake(
    "you divide the deviation by the number of seeds: the error of a mean falls more slowly."
)
def divided_by_the_seeds(scores, costs):
    return cheapest_within(lambda runs: runs.std() / len(runs), scores, costs)


@exercise.mistake("you chose the dearest of the models that are good enough.")
def dearest(scores, costs):
    means = scores.mean(dim=1)
    best = means.argmax()
    good = means >= means[best] - standard_error(scores[best])
    return int(costs.masked_fill(~good, -math.inf).argmax())


@exercise.mistake("you started from the smallest mean: larger scores are better.")
def smallest_mean(scores, costs):
    return cheapest_within(standard_error, -scores, costs)
