"""What a decoder reads, and what it is to say: the same words, moved by one place."""

import functools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from utils.exercises.checking import Exercise

IGNORE = -100


def decoder_reads(
    targets: Sequence[Sequence[int]], start: int, end: int, pad: int
) -> tuple[Tensor, Tensor]:
    """Return what the decoder reads, and what it is to say, (B, T) each.

    At each place it has read `start` and the target's words so far, and is to say the next one;
    behind the last word it is to say `end`. T is as long as the longest target needs it. Behind a
    shorter one, what is read is `pad`, and what is to be said -100, which no loss counts.
    """
    T = max(map(len, targets)) + 1
    reads = [[start, *target] + [pad] * (T - 1 - len(target)) for target in targets]
    says = [[*target, end] + [IGNORE] * (T - 1 - len(target)) for target in targets]
    return torch.tensor(reads), torch.tensor(says)


def where_it_counts(answer: Callable) -> Callable:
    """An answer in which `end` may be read, too, where nothing is to be said."""

    @functools.wraps(answer)
    def within(targets, start, end, pad):
        match answer(targets, start, end, pad):
            case (Tensor() as reads, Tensor() as says) if reads.shape == says.shape:
                return reads.masked_fill((says == IGNORE) & (reads == end), pad), says
            case given:
                return given

    return within


exercise = Exercise(decoder_reads, gradient=False, through=where_it_counts)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one target of three words")
def one_target():
    return [([[11, 12, 13]], 1, 2, 0)]


@exercise.stage("two targets of one length")
def one_length():
    return [([[11, 12, 13, 14], [21, 22, 23, 24]], 3, 7, 5)]


@exercise.stage("targets of different lengths")
def different_lengths():
    return [
        ([[11, 12], [21, 22, 23, 24, 25], [31]], 1, 2, 0),
        ([[9, 9, 8], [8], [9, 8]], 4, 6, 3),
    ]


@exercise.stage("a target without a word")
def without_a_word():
    return [([[], [11, 12]], 1, 2, 0)]


@exercise.stage("a start that is padding, as T5 has it")
def start_is_padding():
    return [([[11, 12, 13], [14]], 0, 1, 0)]


@exercise.stage("an end that is padding, as GPT-2's users have it")
def end_is_padding():
    return [([[11, 12, 13], [14]], 1, 0, 0)]


# What goes wrong ----------------------------------------------------------------------------------


def rows(sequences: Sequence[Sequence[int]], filler: int, T: int | None = None) -> Tensor:
    """Sequences as rows, filled up to the longest, or to T."""
    T = max(map(len, sequences)) if T is None else T
    return torch.tensor([[*row, *[filler] * (T - len(row))] for row in sequences])


@exercise.mistake("no start: at each place the decoder reads the very word that it is to say.")
def start_forgotten(targets, start, end, pad):
    says = decoder_reads(targets, start, end, pad)[1]
    return says.masked_fill(says == IGNORE, pad), says


@exercise.mistake("shifted to the left: the decoder reads the word behind the one it is to say.")
def shifted_left(targets, start, end, pad):
    T = max(map(len, targets)) + 1
    reads = rows([[*target[1:], end][: len(target)] for target in targets], pad, T)
    return reads, decoder_reads(targets, start, end, pad)[1]


@exercise.mistake("`end` is never to be said, so the model never learns to stop.")
def end_missing(targets, start, end, pad):
    T = max(map(len, targets))
    reads = rows([[start, *target][: max(len(target), 1)] for target in targets], pad, T)
    return reads, rows(targets, IGNORE, T)


@exercise.mistake("the longest target has lost its end: T has room for its words and one more.")
def end_cut_off(targets, start, end, pad):
    reads, says = decoder_reads(targets, start, end, pad)
    return reads[:, :-1], says[:, :-1]


@exercise.mistake("padding is to be said too: the loss counts it, and rewards what is no word.")
def padding_said(targets, start, end, pad):
    reads, says = decoder_reads(targets, start, end, pad)
    return reads, says.masked_fill(says == IGNORE, pad)


@exercise.mistake("you take `end` for padding where both are one id: padding begins behind it.")
def end_taken_for_padding(targets, start, end, pad):
    reads, says = decoder_reads(targets, start, end, pad)
    return reads, says.masked_fill(says == pad, IGNORE)


@exercise.mistake(
    "the decoder reads -100, and the embedding has no such row: there it reads `pad`."
)
@where_it_counts
def ignored_read(targets, start, end, pad):
    _, says = decoder_reads(targets, start, end, pad)
    begin = torch.full((len(says), 1), start)
    return torch.cat([begin, says[:, :-1]], dim=1), says


@exercise.mistake("`start` is to be said, too: it stands there in any case, and is only read.")
def start_said(targets, start, end, pad):
    with_start = [[start, *target, end] for target in targets]
    return rows(with_start, pad), rows(with_start, IGNORE)


@exercise.mistake("the decoder begins with `end`, which some models do; here it is given a start.")
def begins_with_end(targets, start, end, pad):
    return decoder_reads(targets, end, end, pad)


@exercise.mistake("`end` stands behind the padding: the shorter targets end late.")
def end_behind_padding(targets, start, end, pad):
    reads, _ = decoder_reads(targets, start, end, pad)
    T = reads.shape[1]
    words = rows(targets, IGNORE, T - 1)
    return reads, torch.cat([words, torch.full((len(words), 1), end)], dim=1)


@exercise.mistake("padding stands in front: here, each target begins at the first place.")
def padded_in_front(targets, start, end, pad):
    T = max(map(len, targets)) + 1
    reads = [[pad] * (T - 1 - len(target)) + [start, *target] for target in targets]
    says = [[IGNORE] * (T - 1 - len(target)) + [*target, end] for target in targets]
    return torch.tensor(reads), torch.tensor(says)


@exercise.mistake("what is read and what is to be said have changed places.")
def wrong_way_round(targets, start, end, pad):
    return decoder_reads(targets, start, end, pad)[::-1]


@exercise.mistake("your padding is always 0: it is `pad`, an argument.")
def padding_of_0(targets, start, end, pad):
    return decoder_reads(targets, start, end, 0)


@exercise.mistake("`end` is ignored by the loss in yours: a decoder has to learn where to stop.")
def end_ignored(targets, start, end, pad):
    reads, says = decoder_reads(targets, start, end, pad)
    return reads, says.masked_fill(says == end, IGNORE)


@exercise.mistake("`roll` brings the last column round to the front, where `start` belongs.")
@where_it_counts
def rolled(targets, start, end, pad):
    _, says = decoder_reads(targets, start, end, pad)
    return says.masked_fill(says == IGNORE, pad).roll(1, 1), says


@exercise.mistake("your rows differ in length: what fills up the shorter ones?")
def ragged(targets, start, end, pad):
    return torch.tensor([[start, *t] for t in targets]), torch.tensor([[*t, end] for t in targets])


@exercise.mistake(
    "your rows are one place too long: the longest target needs room for its words and one more."
)
def one_too_long(targets, start, end, pad):
    T = max(map(len, targets)) + 2
    return rows([[start, *t] for t in targets], pad, T), rows(
        [[*t, end] for t in targets], IGNORE, T
    )
