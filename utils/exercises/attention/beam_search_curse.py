"""A beam search that returns all sentences that have ended, best first."""

import torch
from torch import Tensor

from utils.exercises.attention.languages import chain, language
from utils.exercises.checking import Exercise
from utils.seq2seq import BOS, EOS, PAD

Beam = tuple[float, list[int]]  # the sum of log p so far, and the ids


def n_best(log_p: Tensor, width: int, max_len: int, penalty: float) -> list[list[int]]:
    """Return the ids of all ended sentences, EOS included, by log p / length^penalty, best first.

    What ends leaves its place in the beam empty.
    Shapes: log_p (V, V), row `last` for the next symbol.
    """
    _, ended = searched(log_p, width, max_len)
    return ranked(ended, penalty)


def searched(log_p: Tensor, width: int, max_len: int) -> tuple[list[Beam], list[Beam]]:
    """Return the beams that are alive after max_len steps, and those that have ended."""
    alive, ended = [(0.0, [])], []
    for _ in range(max_len):
        best = extended(log_p, alive)[:width]
        ended += [beam for beam in best if has_ended(beam)]
        alive = [beam for beam in best if not has_ended(beam)]
    return alive, ended


def extended(log_p: Tensor, alive: list[Beam]) -> list[Beam]:
    """Return all continuations by one symbol, best first."""
    following = [
        (score + added, [*ids, symbol])
        for score, ids in alive
        for symbol, added in enumerate(log_p[ids[-1] if ids else BOS].tolist())
    ]
    return sorted(following, reverse=True)


def has_ended(beam: Beam) -> bool:
    return beam[1][-1] == EOS


def ranked(ended: list[Beam], penalty: float, length=len) -> list[list[int]]:
    def value(beam: Beam) -> float:
        score, ids = beam
        return score / length(ids) ** penalty

    return [ids for _, ids in sorted(ended, key=value, reverse=True)]


exercise = Exercise(n_best, gradient=False)


def random_language(seed: int) -> Tensor:
    """Draw log p (12, 12) of the next symbol, given the last; any symbol may be followed by EOS."""
    generator = torch.Generator().manual_seed(seed)
    logits = 1.5 * torch.randn(12, 12, dtype=torch.float64, generator=generator)
    logits[:, [PAD, BOS]] = -20  # are never said
    logits[:, EOS] = 1.0
    return logits.log_softmax(dim=-1)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("a beam of one")
def beam_of_one():
    return [(chain(6, 4, 3, EOS), 1, 5, 0.0)]


@exercise.stage("raw scores")
def raw_scores():
    return [(language(6, 1.0), 3, 4, 0.0), (language(8, 2.0), 4, 5, 0.0)]


@exercise.stage("scores by length")
def scores_by_length():
    return [(language(7, 2.0), 3, 5, 1.0), (language(9, 2.0), 5, 6, 0.7)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("sentences that have ended are extended further: nothing comes after EOS.")
def ended_extended(log_p, width, max_len, penalty):
    alive, ended = [(0.0, [])], []
    for _ in range(max_len):
        alive = extended(log_p, alive)[:width]
        ended += [beam for beam in alive if has_ended(beam)]
    return ranked(ended, penalty)


@exercise.mistake(
    "each beginning keeps one continuation; the best of *all* should stay, whichever beginning "
    "they continue."
)
def one_for_each_beginning(log_p, width, max_len, penalty):
    alive, ended = [(0.0, [])], []
    for step in range(max_len):
        if step:
            best = [extended(log_p, [beam])[0] for beam in alive]
        else:
            best = extended(log_p, alive)[:width]
        ended += [beam for beam in best if has_ended(beam)]
        alive = [beam for beam in best if not has_ended(beam)]
    return ranked(ended, penalty)


@exercise.mistake("sentences that ended earlier are lost when another one ends later.")
def earlier_ones_lost(log_p, width, max_len, penalty):
    alive, ended = [(0.0, [])], []
    for _ in range(max_len):
        best = extended(log_p, alive)[:width]
        ended = [beam for beam in best if has_ended(beam)] or ended
        alive = [beam for beam in best if not has_ended(beam)]
    return ranked(ended, penalty)


@exercise.mistake("sentences of different lengths are compared by raw log p: the short ones win.")
def penalty_ignored(log_p, width, max_len, penalty):
    return n_best(log_p, width, max_len, 0.0)


@exercise.mistake("you divide by the length, whatever the penalty.")
def mean_always(log_p, width, max_len, penalty):
    return n_best(log_p, width, max_len, 1.0)


@exercise.mistake(
    "the slots of ended sentences are filled again: here they stay empty for this step."
)
def places_refilled(log_p, width, max_len, penalty):
    alive, ended = [(0.0, [])], []
    for _ in range(max_len):
        following = extended(log_p, alive)
        ended += [beam for beam in following[:width] if has_ended(beam)]
        alive = [beam for beam in following if not has_ended(beam)][:width]
    return ranked(ended, penalty)


@exercise.mistake("a sentence that `max_len` cuts off has not ended, and does not compete.")
def cut_off_ranked_too(log_p, width, max_len, penalty):
    alive, ended = searched(log_p, width, max_len)
    return ranked(ended + alive, penalty)


@exercise.mistake(
    "you add probabilities; along a sentence they multiply, and their logarithms add."
)
def probabilities_added(log_p, width, max_len, penalty):
    return n_best(log_p.exp(), width, max_len, penalty)


@exercise.mistake("the worst sentence comes first: the best should.")
def worst_first(log_p, width, max_len, penalty):
    return n_best(log_p, width, max_len, penalty)[::-1]


@exercise.mistake("the length should count EOS, too: it is a symbol that was chosen.")
def end_not_counted(log_p, width, max_len, penalty):
    _, ended = searched(log_p, width, max_len)
    return ranked(ended, penalty, length=lambda ids: len(ids) - 1)


@exercise.mistake(
    "that is the penalty of Wu et al., a power of (5 + length) / 6; here it is a power of the "
    "length itself."
)
def another_penalty(log_p, width, max_len, penalty):
    _, ended = searched(log_p, width, max_len)
    return ranked(ended, penalty, length=lambda ids: (5 + len(ids)) / 6)


@exercise.mistake(
    "you stop as soon as `width` sentences have ended: those that are alive may end later, and be"
    " better."
)
def stopped_early(log_p, width, max_len, penalty):
    alive, ended = [(0.0, [])], []
    for _ in range(max_len):
        best = extended(log_p, alive)[:width]
        ended += [beam for beam in best if has_ended(beam)]
        alive = [beam for beam in best if not has_ended(beam)]
        if len(ended) >= width:
            break
    return ranked(ended, penalty)


@exercise.mistake(
    "an ended sentence keeps its slot for good: at the next step there should be `width` slots "
    "again."
)
def beam_that_shrinks(log_p, width, max_len, penalty):
    alive, ended = [(0.0, [])], []
    for _ in range(max_len):
        best = extended(log_p, alive)[: width - len(ended)]
        ended += [beam for beam in best if has_ended(beam)]
        alive = [beam for beam in best if not has_ended(beam)]
    return ranked(ended, penalty)
