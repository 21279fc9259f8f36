"""Put a class token in front of the patches, and tell each where it is."""

import math

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random


def class_and_positions(tokens: Tensor, class_token: Tensor, positions: Tensor) -> Tensor:
    """Return the sequence that the encoder reads: class token first, a position added to each.

    Shapes: tokens (B, n, D), class_token (D,), positions (1 + n, D), to (B, 1 + n, D).
    """
    first = class_token.expand(len(tokens), 1, -1)  # the same for each picture
    return torch.cat([first, tokens], dim=1) + positions


exercise = Exercise(class_and_positions, runs=True)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, n: int, D: int) -> tuple[Tensor, Tensor, Tensor]:
    return random(B, n, D), random(D), random(1 + n, D)


@exercise.stage("a picture of one patch")
def one_patch():
    return [drawn(1, 1, 3)]


@exercise.stage("a picture of several patches")
def several_patches():
    return [drawn(1, 4, 3)]


@exercise.stage("several pictures")
def several_pictures():
    return [drawn(3, 4, 2), drawn(2, 6, 5)]


# What goes wrong ----------------------------------------------------------------------------------


def in_front(tokens: Tensor, class_token: Tensor) -> Tensor:
    return torch.cat([class_token.expand(len(tokens), 1, -1), tokens], dim=1)


@exercise.mistake("the class token comes last: the head looks for it at the first position.")
def at_the_end(tokens, class_token, positions):
    return torch.cat([tokens, class_token.expand(len(tokens), 1, -1)], dim=1) + positions


@exercise.mistake(
    "you put the class token in front after the positions were added, so the last row of the table "
    "is unused and the class token has no position."
)
def placed_before(tokens, class_token, positions):
    return in_front(tokens + positions[:-1], class_token)


@exercise.mistake(
    "the class token has no position: it has a row of its own in the table, the first one."
)
def class_without_a_position(tokens, class_token, positions):
    return in_front(tokens + positions[1:], class_token)


@exercise.mistake("only the class token has a position: each patch has a row of its own, too.")
def class_alone_has_a_position(tokens, class_token, positions):
    return in_front(tokens, class_token + positions[0])


@exercise.mistake(
    "the class token and the first patch share a row of positions: with 1 + n rows, each has its "
    "own."
)
def shared_position(tokens, class_token, positions):
    return in_front(tokens + positions[:-1], class_token + positions[0])


@exercise.mistake(
    "the class token has the last position, and the patches have those before it: it comes first, "
    "in the table as well."
)
def last_position(tokens, class_token, positions):
    return in_front(tokens, class_token) + positions.roll(1, 0)


@exercise.mistake("the class token is missing: which vector will the head read?")
def no_class_token(tokens, class_token, positions):
    return tokens + positions[1:]


@exercise.mistake("the positions are missing: in another order, the patches would look the same.")
def no_positions(tokens, class_token, positions):
    return in_front(tokens, class_token)


@exercise.mistake("the class token replaces the first patch: it is an additional token.")
def replaced(tokens, class_token, positions):
    return in_front(tokens[:, 1:], class_token) + positions[:-1]


@exercise.mistake("you add the class token to every patch: it is a token of its own.")
def added_to_all(tokens, class_token, positions):
    return tokens + class_token + positions[1:]


@exercise.mistake(
    "you multiply the tokens by √D, as Day 6 did with words: patches are added to their positions "
    "as they are."
)
def scaled(tokens, class_token, positions):
    return in_front(tokens, class_token) * math.sqrt(tokens.shape[2]) + positions


@exercise.mistake(
    "patches and positions lie side by side, twice as wide: the encoder expects D numbers, so they "
    "are added."
)
def side_by_side(tokens, class_token, positions):
    sequence = in_front(tokens, class_token)
    return torch.cat([sequence, positions.expand_as(sequence)], dim=2)


@exercise.mistake(
    "each picture gets a single row of positions, for all of its tokens: a row belongs to a "
    "position, which all pictures have in common."
)
def row_of_the_picture(tokens, class_token, positions):
    rows = positions[torch.arange(len(tokens)) % len(positions)]
    return in_front(tokens, class_token) + rows[:, None]


@exercise.mistake("you multiply by the positions: they are added.")
def multiplied(tokens, class_token, positions):
    return in_front(tokens, class_token) * positions


@exercise.mistake("the positions run backwards: the first row is the class token's.")
def backwards(tokens, class_token, positions):
    return in_front(tokens, class_token) + positions.flip(0)


@exercise.mistake("you add the positions twice to the patches: once is enough.")
def patches_twice(tokens, class_token, positions):
    return in_front(tokens + positions[1:], class_token) + positions


@exercise.mistake("the first token is the mean of the patches: the class token is learned.")
def mean_for_class(tokens, class_token, positions):
    return torch.cat([tokens.mean(1, keepdim=True), tokens], dim=1) + positions


@exercise.mistake("all tokens get the first row: each has a row of its own.")
def one_position(tokens, class_token, positions):
    return in_front(tokens, class_token) + positions[0]


@exercise.mistake("the first picture alone has the class token: each picture needs it.")
def first_picture_alone(tokens, class_token, positions):
    sequence = in_front(tokens, 0 * class_token)
    sequence[0, 0] = class_token
    return sequence + positions


@exercise.mistake(
    "the first picture gets one token more than the others: put the class token in front of each."
)
def first_picture_longer(tokens, class_token, positions):
    first = torch.cat([class_token[None], tokens[0]])
    return torch.stack([first, *tokens[1:]]) + positions


@exercise.mistake(
    "the class token is there once, for a batch of one picture: expand it to (B, 1, D), as each "
    "picture needs it."
)
def once_for_the_batch(tokens, class_token, positions):
    return torch.cat([class_token[None, None], tokens], dim=1) + positions


@exercise.mistake(
    "you join along the batch, as if the class token were a picture: join along the tokens, with "
    "`dim=1`."
)
def as_a_picture(tokens, class_token, positions):
    return torch.cat([class_token[None, None], tokens]) + positions


@exercise.mistake(
    "the class token is in front, and you also add it to every token: in front is enough."
)
def in_front_and_added(tokens, class_token, positions):
    return in_front(tokens, class_token) + class_token + positions


@exercise.mistake(
    "you add the class token to the patches, so the table has a row too many: it is a token of its "
    "own, in front of them."
)
def added_with_all_rows(tokens, class_token, positions):
    return tokens + class_token + positions


@exercise.mistake(
    "the class token has one axis, and the tokens have three: give it one for the pictures and one "
    "for the tokens, too, before you join."
)
def with_one_axis(tokens, class_token, positions):
    return torch.cat([class_token, tokens]) + positions


@exercise.mistake(
    "you join along `dim=1`, which the class token doesn't have: it has one axis, and the tokens "
    "have three."
)
def without_that_axis(tokens, class_token, positions):
    return torch.cat([class_token, tokens], dim=1) + positions


@exercise.mistake(
    "the class token has two axes, and the tokens have three: pictures, tokens, and D numbers."
)
def with_two_axes(tokens, class_token, positions):
    return torch.cat([class_token[None], tokens], dim=1) + positions


@exercise.mistake(
    "you join along the D numbers, so the class token would make each token longer: it is a token "
    "of its own."
)
def along_the_numbers(tokens, class_token, positions):
    return torch.cat([class_token.expand(len(tokens), 1, -1), tokens], dim=2) + positions


@exercise.mistake("the class token is there once for each patch: once in each picture is enough.")
def once_for_each_patch(tokens, class_token, positions):
    return torch.cat([class_token.expand_as(tokens), tokens], dim=1) + positions


@exercise.mistake(
    "you add 1 + n positions to n patches: put the class token in front first, then they fit."
)
def positions_first(tokens, class_token, positions):
    return in_front(tokens + positions, class_token)
