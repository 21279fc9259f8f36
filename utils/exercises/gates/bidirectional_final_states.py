"""The final state of each direction, read from a bidirectional layer's padded outputs."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def final_states(outputs: Tensor, lengths: Tensor) -> Tensor:
    """Return the final states (B, 2N), the forward direction first.

    Shapes: outputs (T, B, 2N), where anything may stand in the padding; lengths (B,).
    """
    forward, backward = outputs.chunk(2, dim=2)
    return torch.cat([at_the_end(forward, lengths), backward[0]], dim=1)


def at_the_end(states: Tensor, lengths: Tensor) -> Tensor:
    return states[lengths - 1, torch.arange(len(lengths))]


exercise = Exercise(final_states)


# What it is tried on ------------------------------------------------------------------------------


def drawn(T: int, N: int, *lengths: int) -> tuple[Tensor, Tensor]:
    return random(T, len(lengths), 2 * N), torch.tensor(lengths)


# sizes at which reading batch first raises nothing: whoever does is told so
@exercise.stage("a batch without padding")
def without_padding():
    return [drawn(3, 2, 3, 3, 3)]


@exercise.stage("batches with padding")
def with_padding():
    return [drawn(4, 3, 2, 4, 1, 3), drawn(6, 3, 1, 6, 4, 2, 5, 3)]


@exercise.stage("more steps than sequences")
def more_steps():
    return [drawn(6, 2, 3, 1, 4, 2)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "you read both directions at the last position: one of them begins there, and in most "
    "sequences that position is padding."
)
def last_row(outputs, lengths):
    return outputs[-1]


@exercise.mistake("the backward direction begins at the last position; where does it end?")
def backward_at_the_end(outputs, lengths):
    forward, backward = outputs.chunk(2, dim=2)
    return torch.cat([at_the_end(forward, lengths), backward[-1]], dim=1)


@exercise.mistake("at a sequence's last step the backward direction has read one symbol.")
def backward_at_the_last_step(outputs, lengths):
    return at_the_end(outputs, lengths)


@exercise.mistake("the forward direction is read where shorter sequences have padding.")
def forward_in_the_padding(outputs, lengths):
    forward, backward = outputs.chunk(2, dim=2)
    return torch.cat([forward[-1], backward[0]], dim=1)


@exercise.mistake("at the first position the forward direction has read one symbol.")
def both_at_the_start(outputs, lengths):
    return outputs[0]


@exercise.mistake("the states are correct, but the forward one should come first.")
def backward_first(outputs, lengths):
    return torch.cat(final_states(outputs, lengths).chunk(2, dim=1)[::-1], dim=1)


@exercise.mistake("you took the second half of the numbers as the forward direction.")
def halves_exchanged(outputs, lengths):
    backward, forward = outputs.chunk(2, dim=2)
    return torch.cat([at_the_end(forward, lengths), backward[0]], dim=1)


@exercise.mistake("you took the first axis as the batch: here time comes first.")
def batch_first(outputs, lengths):
    return final_states(outputs.transpose(0, 1), lengths)


@exercise.mistake("`outputs[b]` doesn't belong to sequence b: the first axis is time.")
def batch_first_one_by_one(outputs, lengths):
    N = outputs.shape[2] // 2
    rows = zip(outputs, lengths, strict=False)
    return torch.stack([torch.cat([row[n - 1, :N], row[0, N:]]) for row, n in rows])


@exercise.mistake("you add the two directions: lay them side by side.")
def added(outputs, lengths):
    return sum(final_states(outputs, lengths).chunk(2, 1))


@exercise.mistake("positions count from 0: what is the index of the last of four?")
def one_too_far(outputs, lengths):
    forward, backward = outputs.chunk(2, dim=2)
    return torch.cat([at_the_end(forward, lengths + 1), backward[0]], dim=1)
