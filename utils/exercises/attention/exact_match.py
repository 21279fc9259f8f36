"""The share of predictions that are correct up to the target's EOS."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise
from utils.seq2seq import EOS, PAD


def exact_match(predicted: Tensor, target: Tensor) -> float:
    """Return a share from 0 to 1; after EOS a prediction may contain anything.

    Shapes: predicted (B, T'), target (B, T), both ids.
    """
    pairs = zip(predicted.tolist(), target.tolist(), strict=True)
    return sum(ended_alike(ours, theirs) for ours, theirs in pairs) / len(target)


def ended_alike(predicted: list[int], target: list[int]) -> bool:
    end = target.index(EOS) + 1
    return predicted[:end] == target[:end]


exercise = Exercise(exact_match, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one sentence")
def one_sentence():
    return [(torch.tensor([[4, 5, EOS, PAD]]), torch.tensor([[4, 5, EOS, PAD]]))]


@exercise.stage("symbols after the end, sentences too short or too long, other widths")
def other_widths():
    guesses = [
        (
            [[4, 5, EOS, 7], [4, 6, EOS, PAD], [3, EOS, 5, 5]],
            [[4, 5, EOS], [4, 5, EOS], [3, EOS, PAD]],
        ),
        ([[3, 4, 5, EOS], [6, 7, EOS, EOS]], [[3, 4, EOS], [6, 7, EOS]]),
        (
            [[3, 4, 5], [6, EOS, 4], [7, 5, EOS], [4, 4, 4]],
            [[3, 4, 5, EOS], [6, EOS, PAD, PAD], [7, 5, EOS, PAD], [4, EOS, PAD, PAD]],
        ),
        (  # the right symbols in another order, or behind another one
            [[5, 4, EOS, PAD], [7, 5, EOS, PAD], [6, 4, 5, EOS], [4, 4, EOS, 7]],
            [[4, 5, EOS], [6, 5, EOS], [4, 5, EOS], [4, 4, EOS]],
        ),
    ]
    return [(torch.tensor(predicted), torch.tensor(target)) for predicted, target in guesses]


# What goes wrong ----------------------------------------------------------------------------------


def same_width(predicted: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    width = max(predicted.shape[1], target.shape[1])
    return tuple(F.pad(ids, (0, width - ids.shape[1])) for ids in (predicted, target))


@exercise.mistake(
    "whatever a decoder writes after EOS is not part of the sentence: don't compare it."
)
def tail_compared(predicted, target):
    predicted, target = same_width(predicted, target)
    return (predicted == target).all(1).double().mean().item()


@exercise.mistake("that is the share of symbols; a sentence is correct only as a whole.")
def share_of_symbols(predicted, target):
    predicted, target = same_width(predicted, target)
    return (predicted == target)[target != PAD].double().mean().item()


@exercise.mistake("that is a share of positions, padding among them.")
def share_of_positions(predicted, target):
    predicted, target = same_width(predicted, target)
    return (predicted == target).double().mean().item()


@exercise.mistake(
    "a sentence that goes on where it should end is not correct: EOS has to match, too."
)
def end_not_compared(predicted, target):
    predicted, target = same_width(predicted, target)
    inner = (target != PAD) & (target != EOS)
    return ((predicted == target) | ~inner).all(1).double().mean().item()


@exercise.mistake("you cut both to the shorter width, so missing symbols count as correct.")
def cut_to_the_shorter(predicted, target):
    width = min(predicted.shape[1], target.shape[1])
    predicted, target = predicted[:, :width], target[:, :width]
    return ((predicted == target) | (target == PAD)).all(1).double().mean().item()


@exercise.mistake("that is the number of correct sentences, not their share.")
def count(predicted, target):
    return exact_match(predicted, target) * len(target)


@exercise.mistake(
    "predictions and targets may differ in width: which part of each has to be compared?"
)
def widths_taken_for_equal(predicted, target):
    return (predicted == target).all(1).double().mean().item()


@exercise.mistake("that is a percentage: return a share from 0 to 1.")
def in_percent(predicted, target):
    return 100 * exact_match(predicted, target)


@exercise.mistake("that is the share of sentences that are wrong.")
def wrong_ones(predicted, target):
    return 1 - exact_match(predicted, target)
