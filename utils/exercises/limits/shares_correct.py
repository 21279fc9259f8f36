"""One set of answers, two measures: all or nothing, and digit by digit."""

from collections.abc import Callable

import torch
from torch import Tensor

from utils.exercises.checking import Exercise


def shares_correct(predicted: Tensor, target: Tensor) -> tuple[float, float]:
    """Return the share of answers without a mistake, and the share of digits that are correct.

    Shapes: predicted and target digits (n, k), an answer in each row.
    """
    correct = predicted == target
    return correct.all(dim=1).double().mean().item(), correct.double().mean().item()


exercise = Exercise(shares_correct, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def answered(n: int, k: int, *skill: float) -> tuple[Tensor, Tensor]:
    """Digits of which some are wrong: each answer has a skill, and its last digits are hardest."""
    target = torch.randint(10, (n, k))
    skilled = torch.tensor(skill).repeat(n)[:n, None] - 0.3 * torch.arange(k) / k  # (n, k)
    off = torch.randint(1, 10, (n, k))
    return torch.where(torch.rand(n, k) < skilled, target, (target + off) % 10), target


@exercise.stage("one answer")
def one_answer():
    target = torch.tensor([[4, 0, 7, 4]])
    return [(target.clone(), target), (torch.tensor([[4, 1, 7, 0]]), target)]


@exercise.stage("several answers")
def several():
    target = torch.tensor([[3, 1, 7], [0, 4, 2], [9, 9, 5], [6, 0, 0]])
    wrong = torch.tensor([[3, 1, 7], [2, 4, 0], [9, 8, 5], [6, 0, 1]])
    return [(wrong, target), answered(5, 3, 1.3, 0.5), answered(7, 2, 0.1)]


@exercise.stage("many answers")
def many():
    return [answered(60, 4, 1.3, 0.9, 0.2), answered(43, 5, 1.4, 0.7), answered(90, 6, 0.5)]


# What goes wrong ----------------------------------------------------------------------------------


def shares(exact: Tensor | float, by_digit: Tensor | float) -> tuple[float, float]:
    """The means of two tensors of truth values, or numbers as they are."""
    return tuple(
        part.double().mean().item() if isinstance(part, Tensor) else float(part)
        for part in (exact, by_digit)
    )


def instead(exact: Callable | None = None, by_digit: Callable | None = None) -> Callable:
    """An answer with another measure in place of one, made of what is correct (n, k)."""

    def answer(predicted: Tensor, target: Tensor) -> tuple[float, float]:
        correct = predicted == target
        return shares(
            exact(correct) if exact else correct.all(dim=1),
            by_digit(correct) if by_digit else correct,
        )

    return answer


@exercise.mistake("the two shares are exchanged: first that of whole answers.")
def exchanged(predicted, target):
    return shares_correct(predicted, target)[::-1]


@exercise.mistake("an answer counts in yours if any of its digits is correct.")
def any_digit(predicted, target):
    return instead(lambda correct: correct.any(dim=1))(predicted, target)


@exercise.mistake(
    "your first share is a power of the second: that needs independent mistakes, so count instead."
)
def power(predicted, target):
    k = target.shape[1]
    return instead(lambda correct: correct.double().mean() ** k)(predicted, target)


@exercise.mistake(
    "the first share is the product of each position's: so it would be if mistakes were "
    "independent. Count."
)
def product_of_positions(predicted, target):
    return instead(lambda correct: correct.double().mean(dim=0).prod())(predicted, target)


@exercise.mistake("the second share is a root of the first: mistakes may come together. Count.")
def root(predicted, target):
    k = target.shape[1]
    exact, _ = shares_correct(predicted, target)
    return exact, exact ** (1 / k)


@exercise.mistake("the second share is about the first digit alone: an answer has k of them.")
def first_digit(predicted, target):
    return instead(by_digit=lambda correct: correct[:, 0])(predicted, target)


@exercise.mistake("the second share is about the last digit alone: an answer has k of them.")
def last_digit(predicted, target):
    return instead(by_digit=lambda correct: correct[:, -1])(predicted, target)


@exercise.mistake("these are the shares of what is wrong: return those of what is correct.")
def wrong_ones(predicted, target):
    exact, by_digit = shares_correct(predicted, target)
    return 1 - exact, 1 - by_digit


@exercise.mistake("the shares are percentages: they should be from 0 to 1.")
def percentages(predicted, target):
    exact, by_digit = shares_correct(predicted, target)
    return 100 * exact, 100 * by_digit


@exercise.mistake("these are counts: a share is divided by how many there are.")
def counts(predicted, target):
    correct = predicted == target
    return float(correct.all(dim=1).sum()), float(correct.sum())


@exercise.mistake("the second number counts correct digits for each answer: what share is that?")
def digits_per_answer(predicted, target):
    return instead(by_digit=lambda correct: correct.sum(dim=1))(predicted, target)


@exercise.mistake("the whole answers are divided by the number of digits: there are n answers.")
def over_all_digits(predicted, target):
    return instead(lambda correct: correct.all(dim=1).double().mean() / correct.shape[1])(
        predicted, target
    )


@exercise.mistake(
    "the first share is of positions at which all answers are correct: each answer is a row."
)
def along_the_batch(predicted, target):
    return instead(lambda correct: correct.all(dim=0))(predicted, target)


@exercise.mistake("the first share is 1 or 0 for all answers together: each one counts by itself.")
def all_or_nothing(predicted, target):
    return instead(lambda correct: correct.all())(predicted, target)


@exercise.mistake("a digit is correct in yours if the answer has it anywhere: its position counts.")
def anywhere(predicted, target):
    found = (predicted[:, :, None] == target[:, None]).any(dim=2)
    return shares((predicted == target).all(dim=1), found)


@exercise.mistake("you compare sums of digits: two answers may have the same sum and differ.")
def sums(predicted, target):
    return shares(predicted.sum(dim=1) == target.sum(dim=1), predicted == target)


@exercise.mistake("digits after a mistake don't count in yours: each counts by itself.")
def until_a_mistake(predicted, target):
    return instead(by_digit=lambda correct: correct.long().cumprod(dim=1))(predicted, target)


@exercise.mistake(
    "an answer counts in yours if over half of its digits are correct: all should be."
)
def over_half(predicted, target):
    return instead(lambda correct: correct.double().mean(dim=1) > 0.5)(predicted, target)


@exercise.mistake("an answer counts in yours if its first digit is correct: all should be.")
def by_the_first(predicted, target):
    return instead(lambda correct: correct[:, 0])(predicted, target)


@exercise.mistake("an answer counts in yours if its last digit is correct: all should be.")
def by_the_last(predicted, target):
    return instead(lambda correct: correct[:, -1])(predicted, target)


@exercise.mistake("both shares are of digits: when is a whole answer correct?")
def digits_twice(predicted, target):
    _, by_digit = shares_correct(predicted, target)
    return by_digit, by_digit


@exercise.mistake("both shares are of whole answers: what about an answer with one wrong digit?")
def answers_twice(predicted, target):
    exact, _ = shares_correct(predicted, target)
    return exact, exact


@exercise.mistake("that is one share of two: return both of them.")
def one_share(predicted, target):
    return shares_correct(predicted, target)[0]
