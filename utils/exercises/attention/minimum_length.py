"""Greedy decoding in which EOS may not be chosen too early."""

import math

from torch import Tensor

from utils.exercises.attention.languages import chain
from utils.exercises.checking import Exercise
from utils.seq2seq import BOS, EOS, PAD


def greedy(log_p: Tensor, min_len: int, max_len: int) -> list[int]:
    """Return the chosen ids, at most max_len; EOS comes after min_len others or more.

    Shapes: log_p (V, V), row `last` for the next symbol.
    """
    ids, last = [], BOS
    while len(ids) < max_len and last != EOS:
        last = likeliest(log_p[last], may_end=len(ids) >= min_len)
        ids.append(last)
    return ids


def likeliest(row: Tensor, may_end: bool) -> int:
    row = row.clone()
    if not may_end:
        row[EOS] = -math.inf
    return int(row.argmax())


exercise = Exercise(greedy, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("a sentence that ends by itself")
def ends_by_itself():
    return [(chain(7, 5, 3, EOS, 4), 0, 9)]


@exercise.stage("a sentence that is cut off")
def cut_off():
    return [(chain(8, 5, 4, 6, 3, 7, EOS), 0, 3)]


@exercise.stage("an end that comes too early")
def too_early():
    return [
        (chain(7, 6, EOS, 3), 1, 8),
        (chain(7, 6, EOS, 3), 2, 8),
        (chain(9, 5, 8, EOS, 6), 4, 7),
        (chain(6, EOS, 5), 1, 4),
    ]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("you go on after EOS: the sentence ends there.")
def past_the_end(log_p, min_len, max_len):
    ids, last = [], BOS
    while len(ids) < max_len:
        last = likeliest(log_p[last], may_end=len(ids) >= min_len)
        ids.append(last)
    return ids


@exercise.mistake("EOS is missing from the result: it is chosen like any other symbol.")
def end_left_out(log_p, min_len, max_len):
    return [symbol for symbol in greedy(log_p, min_len, max_len) if symbol != EOS]


@exercise.mistake("you begin with the row of PAD: which symbol comes before the first?")
def begun_with_padding(log_p, min_len, max_len):
    log_p = log_p.clone()
    log_p[BOS] = log_p[PAD]
    return greedy(log_p, min_len, max_len)


@exercise.mistake("every step uses the same row: use that of the symbol chosen last.")
def not_fed_back(log_p, min_len, max_len):
    return greedy(log_p[BOS].expand_as(log_p), min_len, max_len)


@exercise.mistake("the sentence may end before it is long enough.")
def minimum_ignored(log_p, min_len, max_len):
    return greedy(log_p, 0, max_len)


@exercise.mistake("`min_len` counts the symbols before EOS, not EOS itself.")
def end_counted(log_p, min_len, max_len):
    return greedy(log_p, min_len - 1, max_len)


@exercise.mistake("the sentence gets one symbol longer than allowed.")
def one_too_many(log_p, min_len, max_len):
    return greedy(log_p, min_len, max_len + 1)


@exercise.mistake("EOS is held back one symbol too long: after `min_len` others it may come.")
def held_back_too_long(log_p, min_len, max_len):
    return greedy(log_p, min_len + 1, max_len)


@exercise.mistake("a sentence that is cut off is one symbol shorter than allowed.")
def one_too_few(log_p, min_len, max_len):
    return greedy(log_p, min_len, max_len - 1)


@exercise.mistake("BOS is in the result, but it was never chosen: it only comes before the first.")
def start_included(log_p, min_len, max_len):
    return [BOS, *greedy(log_p, min_len, max_len)]


@exercise.mistake(
    "a log-probability of 0 means certainty, so EOS comes at once: a forbidden symbol has −∞."
)
def certain_to_end(log_p, min_len, max_len):
    ids, last = [], BOS
    while len(ids) < max_len and last != EOS:
        row = log_p[last].clone()
        if len(ids) < min_len:
            row[EOS] = 0
        last = int(row.argmax())
        ids.append(last)
    return ids


@exercise.mistake("this EOS was never chosen: a sentence that is cut off has none.")
def ended_though_cut_off(log_p, min_len, max_len):
    ids = greedy(log_p, min_len, max_len)
    return ids if ids[-1] == EOS else [*ids, EOS]


@exercise.mistake("EOS is held back for good: once there are `min_len` others, it may come.")
def never_ended(log_p, min_len, max_len):
    return greedy(log_p, max_len if min_len else 0, max_len)


@exercise.mistake("you take the row of the step: take that of the symbol chosen last.")
def row_of_the_step(log_p, min_len, max_len):
    ids = []
    while len(ids) < max_len and EOS not in ids:
        ids.append(likeliest(log_p[len(ids)], may_end=len(ids) >= min_len))
    return ids


@exercise.mistake(
    "where EOS comes too early, you go on from EOS: choose the next best symbol instead."
)
def end_skipped(log_p, min_len, max_len):
    ids, last = [], BOS
    for _ in range(max_len):
        last = int(log_p[last].argmax())
        if last == EOS:
            if len(ids) >= min_len:
                ids.append(last)
                break
            continue
        ids.append(last)
    return ids
