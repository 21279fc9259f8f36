"""The decoder's input and its target under teacher forcing."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.attention.sentences import sentences
from utils.exercises.checking import Exercise
from utils.seq2seq import BOS, EOS


def teacher_pairs(ids: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Return the input, from BOS on, and the target, up to EOS, each (B, T + 1).

    Shapes: ids (B, T), padded and without BOS and EOS; lengths (B,).
    """
    return with_start(ids), with_end(ids, lengths)


def with_start(ids: Tensor) -> Tensor:
    return F.pad(ids, (1, 0), value=BOS)


def with_end(ids: Tensor, lengths: Tensor) -> Tensor:
    return F.pad(ids, (0, 1)).scatter(1, lengths[:, None], EOS)


exercise = Exercise(teacher_pairs, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(vocab_size: int, width: int, *lengths: int) -> tuple[Tensor, Tensor]:
    return sentences(vocab_size, width, *lengths), torch.tensor(lengths)


@exercise.stage("one sentence")
def one_sentence():
    return [drawn(9, 3, 3)]


@exercise.stage("sentences with padding")
def with_padding():
    return [drawn(9, 4, 4, 2, 3), drawn(12, 5, 1, 5), drawn(30, 4, 3, 1, 4, 2)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "nothing is shifted: at each step the decoder is fed the very symbol that it has to predict."
)
def not_shifted(ids, lengths):
    return with_end(ids, lengths), with_end(ids, lengths)


@exercise.mistake(
    "the decoder would have to predict BOS first, which it has just been fed, and the end is "
    "missing."
)
def start_predicted(ids, lengths):
    return with_start(ids), with_start(ids)


@exercise.mistake("EOS is in the last column: in shorter sentences there is padding before it.")
def end_behind_the_padding(ids, lengths):
    return with_start(ids), F.pad(ids, (0, 1), value=EOS)


@exercise.mistake("the target has no EOS: how would the decoder learn to stop?")
def no_end(ids, lengths):
    return with_start(ids), F.pad(ids, (0, 1))


@exercise.mistake(
    "EOS is also fed. That does no harm, as its target is padding, but here PAD is wanted."
)
def end_fed(ids, lengths):
    target = with_end(ids, lengths)
    return with_start(target[:, :-1]), target


@exercise.mistake("input and target are swapped: the input begins with BOS.")
def exchanged(ids, lengths):
    return with_end(ids, lengths), with_start(ids)


@exercise.mistake("EOS replaces the last symbol: it should come after it.")
def last_symbol_overwritten(ids, lengths):
    return with_start(ids), with_end(ids, lengths - 1)


@exercise.mistake("input and target are the same: BOS belongs to the one, EOS to the other.")
def both_ends(ids, lengths):
    both = F.pad(with_end(ids, lengths), (1, 0), value=BOS)
    return both, both
