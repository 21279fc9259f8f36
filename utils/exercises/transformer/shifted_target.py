"""The shifted target: what the decoder reads in training, and what it is to say."""

from collections.abc import Sequence

import torch
from torch import Tensor

from utils.data.text import BOS, EOS, PAD
from utils.exercises.checking import Exercise


def shifted(targets: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Return what the decoder reads, (B, T), and what it is to say at each place, (B, T)."""
    T = max(len(target) for target in targets) + 1
    read, say = torch.full((2, len(targets), T), PAD)
    for i, target in enumerate(targets):
        n = len(target)
        read[i, : n + 1] = torch.tensor([BOS, *target])
        say[i, : n + 1] = torch.tensor([*target, EOS])
    return read, say


exercise = Exercise(shifted, gradient=False, runs=True)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one sentence")
def one_sentence():
    return [([[7, 4, 9]],)]


@exercise.stage("two sentences of one length")
def one_length():
    return [([[5, 6], [8, 4]],)]


@exercise.stage("sentences of several lengths")
def several_lengths():
    return [([[5], [8, 4, 6, 9], [7, 7]],), ([[6, 5, 4], [9], [4, 8], [5, 6]],)]


# What goes wrong ----------------------------------------------------------------------------------


def rows(sentences: list[list[int]], front: bool = False, fill: int = PAD) -> Tensor:
    """Fill sentences up to the longest, behind their ends, or in front."""
    T = max(map(len, sentences))
    padding = ([fill] * (T - len(sentence)) for sentence in sentences)
    return torch.tensor(
        [
            [*more, *sentence] if front else [*sentence, *more]
            for sentence, more in zip(sentences, padding, strict=True)
        ]
    )


def made(targets, read=lambda y: [BOS, *y], say=lambda y: [*y, EOS], **padding):
    """Return both rows, made in another way."""
    return tuple(rows([make(list(y)) for y in targets], **padding) for make in (read, say))


@exercise.mistake("both rows are the same: at each place the answer stands in the input.")
def not_shifted(targets):
    return made(targets, read=lambda y: [*y, EOS])


@exercise.mistake("both rows begin with BOS: nobody asks the decoder to say it.")
def start_to_be_said(targets):
    return made(targets, say=lambda y: [BOS, *y])


@exercise.mistake(
    "what is read comes first, then what is to be said: yours is the other way round."
)
def exchanged(targets):
    read, say = shifted(targets)
    return say, read


@exercise.mistake("the end is never asked for: a decoder that never learns EOS goes on for ever.")
def no_end(targets):
    return made(targets, read=lambda y: [BOS, *y][:-1], say=lambda y: y)


@exercise.mistake("at the last word nothing is asked: EOS is to be said there, not PAD.")
def padding_for_the_end(targets):
    return made(targets, say=lambda y: [*y, PAD])


@exercise.mistake("no BOS: what does the decoder read before it has written anything?")
def no_start(targets):
    return made(targets, read=lambda y: [PAD, *y])


@exercise.mistake("EOS stands in front of what is read: a sentence begins with BOS.")
def end_for_start(targets):
    return made(targets, read=lambda y: [EOS, *y])


@exercise.mistake("the decoder reads EOS too, and has to say what follows: nothing does.")
def end_is_read(targets):
    return made(targets, read=lambda y: [BOS, *y, EOS], say=lambda y: [*y, EOS, PAD])


@exercise.mistake("both rows have BOS and EOS: shift one against the other by a place.")
def both_ends_twice(targets):
    return made(targets, read=lambda y: [BOS, *y, EOS], say=lambda y: [BOS, *y, EOS])


@exercise.mistake("EOS stands at the end of the row, behind the padding: it follows the last word.")
def end_behind_padding(targets):
    whole = rows([list(y) for y in targets])
    ends = torch.full((len(whole), 1), EOS)
    return shifted(targets)[0], torch.cat([whole, ends], 1)


@exercise.mistake(
    "shorter sentences read EOS where their padding begins. It does no harm, since nothing is "
    "asked there, but what counts for nothing is PAD."
)
def last_column_left_out(targets):
    whole = rows([[BOS, *y, EOS] for y in targets])
    return whole[:, :-1], whole[:, 1:]


@exercise.mistake("the padding stands in front: the sentences begin together.")
def padded_in_front(targets):
    return made(targets, front=True)


@exercise.mistake("shorter rows are filled up with EOS: what counts for nothing is PAD.")
def filled_with_ends(targets):
    return made(targets, fill=EOS)


@exercise.mistake("BOS is never to be said: the first word is, by the place that reads BOS.")
def start_to_be_said_too(targets):
    return made(targets, read=lambda y: [BOS, *y, PAD], say=lambda y: [BOS, *y, EOS])


@exercise.mistake("BOS and EOS have changed places: a sentence begins with BOS = 1.")
def ends_exchanged(targets):
    return made(targets, read=lambda y: [EOS, *y], say=lambda y: [*y, BOS])


@exercise.mistake("`roll` brings the last column to the front, and there BOS belongs.")
def rolled(targets):
    say = shifted(targets)[1]
    return say.roll(1, 1), say


@exercise.mistake("-100 is what the library's loss leaves out; here it is PAD = 0.")
def filled_with_ignore_index(targets):
    return made(targets, fill=-100)


@exercise.mistake("a sentence is a row, (B, T): `pad_sequence` asks for `batch_first=True`.")
def time_first(targets):
    return tuple(part.T for part in shifted(targets))
