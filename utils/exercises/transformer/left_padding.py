"""Texts padded on their left, embedded so that each begins at position 0."""

import math

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random

PAD = 0


def embed(ids: Tensor, symbols: Tensor, positions: Tensor) -> Tensor:
    """Add to each symbol's row, times √D, that of its position in its text; zeros at padding.

    Shapes: ids (B, T), symbols (V, D) and positions (max_len, D) to (B, T, D).
    """
    return masked(math.sqrt(symbols.shape[1]) * symbols[ids] + positions[places(ids)], ids)


def places(ids: Tensor) -> Tensor:
    return ((ids != PAD).cumsum(1) - 1).clamp(min=0)


def masked(x: Tensor, ids: Tensor) -> Tensor:
    return x * (ids != PAD)[..., None]


exercise = Exercise(embed)


# What it is tried on ------------------------------------------------------------------------------


def texts(vocab_size: int, width: int, d_model: int, *lengths: int) -> tuple:
    """Draw ids (B, width) with PAD before each text, a table of symbols, and one of positions."""
    ids = torch.randint(PAD + 1, vocab_size, (len(lengths), width))
    ids[torch.arange(width) < width - torch.tensor(lengths)[:, None]] = PAD
    return ids, random(vocab_size, d_model), random(width + 3, d_model)


@exercise.stage("one text without padding")
def no_padding():
    return [texts(5, 2, 9, 2)]


@exercise.stage("one text with padding")
def padding():
    return [texts(6, 4, 9, 2)]


@exercise.stage("several texts")
def several_texts():
    return [texts(7, 5, 16, 3, 5, 1), texts(11, 6, 9, 2, 6, 4, 5), texts(8, 3, 4, 1, 3, 2)]


# What goes wrong ----------------------------------------------------------------------------------


def scaled(symbols: Tensor) -> Tensor:
    return math.sqrt(symbols.shape[1]) * symbols


@exercise.mistake(
    "you add the symbols' rows unscaled, too small next to the positions: multiply them by √D."
)
def not_scaled(ids, symbols, positions):
    return masked(symbols[ids] + positions[places(ids)], ids)


@exercise.mistake("the factor is for the symbols only: yours stretches the positions, too.")
def positions_scaled_too(ids, symbols, positions):
    return embed(ids, symbols, scaled(positions))


@exercise.mistake("you divide: are the symbols' vectors too long, or too short?")
def divided(ids, symbols, positions):
    return embed(ids, symbols / symbols.shape[1], positions)


@exercise.mistake("a vector's length grows like the root of its width: take √D.")
def no_root(ids, symbols, positions):
    return embed(ids, scaled(symbols), positions)


@exercise.mistake("the factor comes from the width, not from the size of the vocabulary.")
def root_of_vocabulary(ids, symbols, positions):
    factor = math.sqrt(len(symbols))
    return masked(factor * symbols[ids] + positions[places(ids)], ids)


@exercise.mistake(
    "each text gets one position for all its symbols: along which axis should you count?"
)
def along_the_batch(ids, symbols, positions):
    return masked(scaled(symbols)[ids] + positions[: len(ids), None], ids)


@exercise.mistake("you count the padding: a text would change with the other texts in its batch.")
def padding_counted(ids, symbols, positions):
    return masked(scaled(symbols)[ids] + positions[: ids.shape[1]], ids)


@exercise.mistake("a text's first symbol is at position 0.")
def from_1(ids, symbols, positions):
    return embed(ids, symbols, positions[1:])


@exercise.mistake("you count from the end: a text that grows would move all its symbols.")
def backwards(ids, symbols, positions):
    return masked(scaled(symbols)[ids] + positions[: ids.shape[1]].flip(0), ids)


@exercise.mistake("the padding should get zeros.")
def padding_embedded(ids, symbols, positions):
    return scaled(symbols)[ids] + positions[places(ids)]


@exercise.mistake("you removed the padding's symbols, but its positions are still there.")
def padding_placed(ids, symbols, positions):
    return masked(scaled(symbols)[ids], ids) + positions[places(ids)]


@exercise.mistake(
    "the padding should get zeros; yours has the position table's last row there, because "
    "position -1 means the last."
)
def padding_at_the_end_of_the_table(ids, symbols, positions):
    return scaled(symbols)[ids] + positions[(ids != PAD).cumsum(1) - 1]


@exercise.mistake("you embed the padding as if it were text: don't count it, and give it zeros.")
def padding_taken_for_text(ids, symbols, positions):
    return scaled(symbols)[ids] + positions[: ids.shape[1]]


@exercise.mistake("those are only the symbols: add their positions.")
def no_positions(ids, symbols, positions):
    return masked(scaled(symbols)[ids], ids)
