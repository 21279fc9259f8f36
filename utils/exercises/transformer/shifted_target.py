"""The shifted target: the decoder's input in training, and its target."""

import functools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from utils.data.text import BOS, EOS, PAD
from utils.exercises.checking import Exercise


def shifted(targets: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Return the decoder's input (B, T) and its target at each position (B, T)."""
    T = max(len(target) for target in targets) + 1
    read, say = torch.full((2, len(targets), T), PAD)
    for i, target in enumerate(targets):
        n = len(target)
        read[i, : n + 1] = torch.tensor([BOS, *target])
        say[i, : n + 1] = torch.tensor([*target, EOS])
    return read, say


def where_something_is_said(answer: Callable) -> Callable:
    """An answer in which EOS may be read where nothing is to be said."""

    @functools.wraps(answer)
    def within(targets):
        match answer(targets):
            case (Tensor() as read, Tensor() as say) if read.shape == say.shape:
                return read.masked_fill((say == PAD) & (read == EOS), PAD), say
            case given:
                return given

    return within


def end_read(answer: Callable) -> str:
    """What has to be said of an answer whose shorter sentences read their EOS, too."""
    read, _ = answer.__wrapped__([[5], [8, 4]])
    if read[0, -1] != EOS:
        return ""
    return (
        "shorter sentences read EOS where their padding should start. It does no harm, since the "
        "target is PAD there."
    )


exercise = Exercise(shifted, gradient=False, through=where_something_is_said, but=end_read)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one sentence")
def one_sentence():
    return [([[7, 4, 9]],)]


@exercise.stage("two sentences of equal length")
def one_length():
    return [([[5, 6], [8, 4]],)]


@exercise.stage("sentences of different lengths")
def several_lengths():
    return [([[5], [8, 4, 6, 9], [7, 7]],), ([[6, 5, 4], [9], [4, 8], [5, 6]],)]


# What goes wrong ----------------------------------------------------------------------------------


def rows(sentences: list[list[int]], front: bool = False, fill: int = PAD) -> Tensor:
    """Fill sentences up to the longest, after their ends, or in front."""
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


@exercise.mistake("input and target are the same: at each position, the answer is in the input.")
def not_shifted(targets):
    return made(targets, read=lambda y: [*y, EOS])


@exercise.mistake("both rows start with BOS: the decoder never has to predict it.")
def start_to_be_said(targets):
    return made(targets, say=lambda y: [BOS, *y])


@exercise.mistake("return the input first, then the target: yours is the other way round.")
def exchanged(targets):
    read, say = shifted(targets)
    return say, read


@exercise.mistake(
    "EOS is missing from the target: a decoder that never learns EOS goes on for ever."
)
def no_end(targets):
    return made(targets, read=lambda y: [BOS, *y][:-1], say=lambda y: y)


@exercise.mistake("after the last word, the target should be EOS, not PAD.")
def padding_for_the_end(targets):
    return made(targets, say=lambda y: [*y, PAD])


@exercise.mistake("BOS is missing: what does the decoder read before it has written anything?")
def no_start(targets):
    return made(targets, read=lambda y: [PAD, *y])


@exercise.mistake("your input starts with EOS: it should start with BOS.")
def end_for_start(targets):
    return made(targets, read=lambda y: [EOS, *y])


@exercise.mistake(
    "your decoder reads EOS, too, and would have to predict the next word: there is none."
)
def end_is_read(targets):
    return made(targets, read=lambda y: [BOS, *y, EOS], say=lambda y: [*y, EOS, PAD])


@exercise.mistake("both rows have BOS and EOS: drop EOS from the input and BOS from the target.")
def both_ends_twice(targets):
    return made(targets, read=lambda y: [BOS, *y, EOS], say=lambda y: [BOS, *y, EOS])


@exercise.mistake("EOS comes after the padding in yours: it should follow the last word.")
def end_behind_padding(targets):
    whole = rows([list(y) for y in targets])
    ends = torch.full((len(whole), 1), EOS)
    return shifted(targets)[0], torch.cat([whole, ends], 1)


@exercise.mistake("you pad on the left: pad on the right, so that all sentences start together.")
def padded_in_front(targets):
    return made(targets, front=True)


@exercise.mistake("you pad shorter rows with EOS: pad with PAD.")
def filled_with_ends(targets):
    return made(targets, fill=EOS)


@exercise.mistake(
    "your target contains BOS: the position that reads BOS should predict the first word."
)
def start_to_be_said_too(targets):
    return made(targets, read=lambda y: [BOS, *y, PAD], say=lambda y: [BOS, *y, EOS])


@exercise.mistake("you exchanged BOS and EOS: a sentence starts with BOS = 1.")
def ends_exchanged(targets):
    return made(targets, read=lambda y: [EOS, *y], say=lambda y: [*y, BOS])


@exercise.mistake("`roll` moves the last column to the front, where BOS belongs.")
def rolled(targets):
    say = shifted(targets)[1]
    return say.roll(1, 1), say


@exercise.mistake("-100 is the ignore index of the library's loss; here padding is PAD = 0.")
def filled_with_ignore_index(targets):
    return made(targets, fill=-100)


@exercise.mistake("each sentence is a row, (B, T): `pad_sequence` needs `batch_first=True`.")
def time_first(targets):
    return tuple(part.T for part in shifted(targets))


@exercise.mistake(
    "the last column is missing: the longest sentence needs room for its words and one more."
)
def last_column_cut(targets):
    return tuple(part[:, :-1] for part in shifted(targets))


@exercise.mistake(
    "your target is two words ahead: reading BOS, the decoder predicts the first word."
)
def two_ahead(targets):
    return made(targets, say=lambda y: [*y[1:], EOS, PAD])
