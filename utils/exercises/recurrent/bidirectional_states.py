"""The final states of a layer that reads forwards and of one that reads backwards."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def both_ends(outputs: Tensor, lengths: Tensor) -> Tensor:
    """Join the forward layer's final state and the backward layer's.

    Shapes: outputs (B, T, 2N), the forward half first, padded at the right end; lengths (B,).
    Returns: (B, 2N).
    """
    return read_at(outputs, lengths - 1, 0 * lengths)


def read_at(outputs: Tensor, forward: Tensor, backward: Tensor) -> Tensor:
    """Take the forward half at one position of each sequence, the backward half at another."""
    rows, N = torch.arange(len(outputs)), outputs.shape[2] // 2
    return torch.cat([outputs[rows, forward, :N], outputs[rows, backward, N:]], 1)


exercise = Exercise(both_ends)


# What it is tried on ------------------------------------------------------------------------------


def drawn(T: int, N: int, *lengths: int) -> tuple[Tensor, Tensor]:
    return random(len(lengths), T, 2 * N), torch.tensor(lengths)


@exercise.stage("one sequence, without padding")
def without_padding():
    return [drawn(3, 1, 3)]


@exercise.stage("one sequence with padding")
def with_padding():
    return [drawn(5, 2, 3)]


@exercise.stage("batches of different lengths")
def batches():
    return [drawn(6, 2, 4, 1, 6, 3), drawn(8, 3, 5, 2, 7)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("the last position may be padding, and the backward half has hardly begun there.")
def last_position(outputs, lengths):
    return outputs[:, -1]


@exercise.mistake("the backward half is correct; the forward half may come from padding.")
def forward_from_padding(outputs, lengths):
    return read_at(outputs, 0 * lengths - 1, 0 * lengths)


@exercise.mistake("the forward half is correct; the backward half has read only one token there.")
def backward_at_the_end(outputs, lengths):
    return read_at(outputs, lengths - 1, lengths - 1)


@exercise.mistake(
    "the forward half is correct; the backward half is from the position where it starts reading."
)
def backward_from_padding(outputs, lengths):
    return read_at(outputs, lengths - 1, 0 * lengths - 1)


@exercise.mistake("positions count from 0: what is the index of the last of four?")
def one_too_far(outputs, lengths):
    return read_at(outputs, lengths, 0 * lengths)


@exercise.mistake("the longest sequence is correct; the shorter ones end earlier.")
def longest(outputs, lengths):
    return read_at(outputs, 0 * lengths + lengths.max() - 1, 0 * lengths)


@exercise.mistake(
    "each half is taken from the other one's position: which direction ends on the left?"
)
def ends_exchanged(outputs, lengths):
    return read_at(outputs, 0 * lengths, lengths - 1)


@exercise.mistake(
    "that is the mean over all positions, padding and all; return a single state of each direction."
)
def mean(outputs, lengths):
    return outputs.mean(1)


@exercise.mistake("positions count from 0, so the last of four is not at index 4.")
def one_too_far_by_gather(outputs, lengths):
    N = outputs.shape[2] // 2
    at = lengths[:, None, None].expand(-1, 1, N)
    return torch.cat([outputs[..., :N].gather(1, at)[:, 0], outputs[:, 0, N:]], 1)


@exercise.mistake("the forward half hasn't read the sentence's last token yet.")
def one_too_early(outputs, lengths):
    return read_at(outputs, lengths - 2, 0 * lengths)


@exercise.mistake("the backward half hasn't read the sentence's first token yet.")
def backward_one_short(outputs, lengths):
    return read_at(outputs, lengths - 1, 0 * lengths + 1)


@exercise.mistake("the forward half comes first, as in `outputs`; yours is the other way round.")
def backward_first(outputs, lengths):
    N = outputs.shape[2] // 2
    return both_ends(outputs, lengths).roll(N, dims=1)


@exercise.mistake("the backward half is correct; the forward half has read only one token there.")
def forward_at_the_beginning(outputs, lengths):
    return read_at(outputs, 0 * lengths, 0 * lengths)


@exercise.mistake("you add the two halves: lay them side by side.")
def added(outputs, lengths):
    return sum(both_ends(outputs, lengths).chunk(2, 1))
