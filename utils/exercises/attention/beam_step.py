"""A step of beam search: of all continuations of all beginnings, the best stay."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def beam_step(alive: Tensor, log_p: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Shapes: alive (W,), log p of each beginning; log_p (W, V), of what may follow it.

    Returns: log p of the W best continuations, best first; the beginning that each of them goes on
    from; and the symbol that it adds; each (W,).
    """
    W, V = log_p.shape
    candidates = alive[:, None] + log_p  # (W, V)
    scores, places = candidates.flatten().topk(W)
    return scores, places // V, places % V


exercise = Exercise(beam_step, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(W: int, V: int, spread: float = 1.0) -> tuple[Tensor, Tensor]:
    alive = -spread * random(W).abs().cumsum(0)
    return alive, (2 * random(W, V)).log_softmax(-1)


@exercise.stage("a beam of one")
def one_beginning():
    return [drawn(1, 4)]


@exercise.stage("a beam of two")
def two_beginnings():
    return [drawn(2, 3), drawn(2, 5)]


@exercise.stage("wider beams")
def wider():
    return [drawn(4, 6), drawn(5, 8), drawn(4, 4, spread=3.0), drawn(3, 7, spread=0.1)]


@exercise.stage("a first step, where only one beginning is there")
def first_step():
    alive, log_p = drawn(3, 5)
    return [(alive.new_tensor([0.0, -1e4, -2e4]), log_p)]


# What goes wrong ----------------------------------------------------------------------------------


def kept(candidates: Tensor, W: int, largest: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """The W best (or worst) of candidates (W, V)."""
    scores, places = candidates.flatten().topk(W, largest=largest)
    return scores, places // candidates.shape[1], places % candidates.shape[1]


@exercise.mistake(
    "each beginning keeps its own best continuation; the best of *all* should stay, whichever "
    "beginning they continue."
)
def one_for_each(alive, log_p):
    scores, symbols = (alive[:, None] + log_p).max(dim=1)
    scores, parents = scores.sort(descending=True)
    return scores, parents, symbols[parents]


@exercise.mistake(
    "each beginning keeps its own best continuation, and they are not sorted; the best of *all* "
    "should stay, best first."
)
def one_for_each_unsorted(alive, log_p):
    scores, symbols = (alive[:, None] + log_p).max(dim=1)
    return scores, torch.arange(len(alive)), symbols


@exercise.mistake(
    "the scores of the beginnings are forgotten: a continuation's log p is added to its "
    "beginning's."
)
def beginnings_forgotten(alive, log_p):
    return kept(log_p, len(alive))


@exercise.mistake("probabilities multiply, so their logarithms are added, not multiplied.")
def multiplied(alive, log_p):
    return kept(alive[:, None] * log_p, len(alive))


@exercise.mistake(
    "probabilities are added; along a sentence they multiply, and their logarithms add."
)
def probabilities_added(alive, log_p):
    return kept(alive.exp()[:, None] + log_p.exp(), len(alive))


@exercise.mistake("you return probabilities: return their logarithms.")
def probabilities(alive, log_p):
    scores, parents, symbols = beam_step(alive, log_p)
    return scores.exp(), parents, symbols


@exercise.mistake("those are the worst: the largest log p should stay.")
def worst(alive, log_p):
    return kept(alive[:, None] + log_p, len(alive), largest=False)


@exercise.mistake("beginning and symbol are swapped in your result.")
def exchanged(alive, log_p):
    scores, parents, symbols = beam_step(alive, log_p)
    return scores, symbols, parents


@exercise.mistake(
    "you divide by the width of the beam: among the flattened candidates each beginning has V of "
    "them."
)
def divided_by_the_width(alive, log_p):
    W = len(alive)
    scores, places = (alive[:, None] + log_p).flatten().topk(W)
    return scores, places // W, places % W


@exercise.mistake("you return indices into the flattened candidates instead of symbols.")
def places_returned(alive, log_p):
    scores, places = (alive[:, None] + log_p).flatten().topk(len(alive))
    return scores, places // log_p.shape[1], places


@exercise.mistake(
    "each beginning's log p is added to a column: row i of log_p belongs to beginning i."
)
def along_the_columns(alive, log_p):
    return kept(alive + log_p, len(alive))


@exercise.mistake("your continuations come worst first: they should come best first.")
def worst_first(alive, log_p):
    return tuple(part.flip(0) for part in beam_step(alive, log_p))


@exercise.mistake("only the best beginning goes on: the continuations of all of them compete.")
def best_beginning_alone(alive, log_p):
    best = alive.argmax()
    scores, symbols = (alive[best] + log_p[best]).topk(len(alive))
    return scores, torch.full_like(symbols, best), symbols


@exercise.mistake(
    "the correct ones stay, but you return the log p of their last symbols alone: add their "
    "beginnings'."
)
def last_symbols_alone(alive, log_p):
    _, parents, symbols = beam_step(alive, log_p)
    return log_p[parents, symbols], parents, symbols


@exercise.mistake("you keep V continuations: as many stay as there were beginnings, W.")
def as_many_as_symbols(alive, log_p):
    return kept(alive[:, None] + log_p, log_p.shape[1])


@exercise.mistake("your beginnings are fractions: the beginning of a candidate is a whole number.")
def true_division(alive, log_p):
    s, b, y = beam_step(alive, log_p)
    V = log_p.shape[1]
    return s, (b * V + y) / V, y
