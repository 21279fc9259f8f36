"""The mean of the last checkpoints, parameter by parameter."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def average(checkpoints: list[list[Tensor]], last: int) -> list[Tensor]:
    """Return the means of the last checkpoints: lists of parameters, newest last."""
    return [torch.stack(of_all).mean(0) for of_all in zip(*checkpoints[-last:], strict=True)]


def echo_texts(n: int, T: int, language: int, seed: int) -> tuple[Tensor, float]:
    """Draw n texts (n, T) in which each symbol depends only on the one two positions before it.

    language: a seed of what follows what, the same in all texts; seed: that of these texts.
    Returns: ids from 0 to 5, and the mean surprise -log p of all symbols but the first two.
    """
    generator = torch.Generator().manual_seed(language)
    p = (1.5 * torch.randn(6, 6, generator=generator)).softmax(-1)
    generator.manual_seed(1_000_000 + seed)
    ids = list(torch.randint(6, (2, n), generator=generator))
    for _ in range(T - 2):
        ids.append(torch.multinomial(p[ids[-2]], 1, generator=generator)[:, 0])
    ids = torch.stack(ids, dim=1)
    return ids, -p.log()[ids[:, :-2], ids[:, 2:]].mean().item()


exercise = Exercise(average, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def saved(n: int, *shapes: tuple[int, ...]) -> list[list[Tensor]]:
    return [[random(*shape) for shape in shapes] for _ in range(n)]


@exercise.stage("two checkpoints of one parameter")
def two_checkpoints():
    return [(saved(2, (3,)), 2)]


@exercise.stage("the last few of many")
def last_of_many():
    return [(saved(5, (2, 3), (4,)), 3)]


@exercise.stage("other numbers of them")
def other_numbers():
    return [(saved(6, (3, 2), (5,), (1, 4)), 4), (saved(4, (2, 2), (3,)), 1)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "halving at each step gives the newest half of the weight: all should count equally."
)
def halves(checkpoints, last):
    means = checkpoints[-last]
    for checkpoint in checkpoints[len(checkpoints) - last + 1 :]:
        means = [(mean + x) / 2 for mean, x in zip(means, checkpoint, strict=True)]
    return means


@exercise.mistake("you include the oldest, from before the model was any good.")
def all_of_them(checkpoints, last):
    return average(checkpoints, len(checkpoints))


@exercise.mistake("you take the first ones: which end of the list is the newest?")
def first_ones(checkpoints, last):
    return average(checkpoints[:last], last)


@exercise.mistake("that is only the newest one: nothing is averaged.")
def newest_alone(checkpoints, last):
    return average(checkpoints, 1)


@exercise.mistake("that is the sum: divide by the number of checkpoints.")
def sum_for_mean(checkpoints, last):
    return [last * x for x in average(checkpoints, last)]


@exercise.mistake("the newest is left out.")
def without_the_newest(checkpoints, last):
    return average(checkpoints[:-1] if len(checkpoints) > last else checkpoints, last)


@exercise.mistake("you take one checkpoint too many: count those in your slice.")
def one_too_many(checkpoints, last):
    return average(checkpoints, last + 1)


@exercise.mistake("you take one checkpoint too few: count those in your slice.")
def one_too_few(checkpoints, last):
    return average(checkpoints, last - 1)


@exercise.mistake("you add up the last few, but divide by the number of all checkpoints.")
def divided_by_all(checkpoints, last):
    return [x * last / len(checkpoints) for x in average(checkpoints, last)]


@exercise.mistake("you average the checkpoints before the last few.")
def all_but_the_last(checkpoints, last):
    return average(checkpoints[: len(checkpoints) - last], len(checkpoints))


@exercise.mistake("the newest checkpoint is left out: it is the last of the list.")
def newest_left_out(checkpoints, last):
    return average([checkpoints[0], *checkpoints[:-1]], last)


@exercise.mistake(
    "that is one number for each parameter: `mean` needs the axis of the checkpoints."
)
def one_number(checkpoints, last):
    return [mean.mean() for mean in average(checkpoints, last)]
