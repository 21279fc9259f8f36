"""Put patches together again: the picture that they were cut from."""

import math

from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def unpatch(patches: Tensor, C: int, H: int, W: int) -> Tensor:
    """Return the pictures that these are the patches of, row by row, each channel by channel.

    Shapes: patches (B, n, C·P·P) to (B, C, H, W); P follows from the rest.
    """
    P = math.isqrt(patches.shape[2] // C)
    grid = patches.reshape(len(patches), H // P, W // P, C, P, P)
    return grid.permute(0, 3, 1, 4, 2, 5).reshape(len(patches), C, H, W)


exercise = Exercise(unpatch)


# What it is tried on ------------------------------------------------------------------------------


def cut(B: int, C: int, rows: int, columns: int, P: int) -> tuple:
    return random(B, rows * columns, C * P * P), C, rows * P, columns * P


@exercise.stage("one row of grey patches")
def one_row():
    return [cut(1, 1, 1, 4, 2)]


@exercise.stage("a grey picture of six patches")
def grey():
    return [cut(1, 1, 3, 2, 2)]


@exercise.stage("pictures in colour")
def colour():
    return [cut(2, 3, 4, 5, 2), cut(4, 2, 3, 2, 3), cut(3, 4, 2, 5, 1)]


# What goes wrong ----------------------------------------------------------------------------------


def grid(patches: Tensor, C: int, H: int, W: int) -> Tensor:
    """Return (B, H/P, W/P, C, P, P)."""
    P = math.isqrt(patches.shape[2] // C)
    return patches.reshape(len(patches), H // P, W // P, C, P, P)


@exercise.mistake(
    "a plain view fills the picture's rows with one patch after the other: a row of pixels runs "
    "through all patches that lie side by side."
)
def plain_view(patches, C, H, W):
    return patches.reshape(len(patches), C, H, W)


@exercise.mistake(
    "when you flatten, the rows of a patch follow each other: between two of them lie those of its "
    "neighbours."
)
def patch_by_patch(patches, C, H, W):
    return grid(patches, C, H, W).permute(0, 3, 1, 2, 4, 5).reshape(len(patches), C, H, W)


@exercise.mistake(
    "you put the channels before the grid: the row of patches is the grid, row by row, and the "
    "channels are inside a patch."
)
def channels_before_the_grid(patches, C, H, W):
    P = math.isqrt(patches.shape[2] // C)
    read = patches.reshape(len(patches), C, H // P, W // P, P, P)
    return read.permute(0, 1, 2, 4, 3, 5).reshape(len(patches), C, H, W)


@exercise.mistake(
    "you read the numbers of a patch pixel by pixel, with its colours side by side: they run "
    "channel by channel."
)
def pixel_by_pixel(patches, C, H, W):
    P = math.isqrt(patches.shape[2] // C)
    read = patches.reshape(len(patches), H // P, W // P, P, P, C)
    return read.permute(0, 5, 1, 3, 2, 4).reshape(len(patches), C, H, W)


@exercise.mistake("you fill the picture column by column: its patches come row by row.")
def down_the_columns(patches, C, H, W):
    P = math.isqrt(patches.shape[2] // C)
    filled = patches.reshape(len(patches), W // P, H // P, C, P, P)
    return filled.permute(0, 3, 2, 4, 1, 5).reshape(len(patches), C, H, W)


@exercise.mistake(
    "rows and columns of the grid are exchanged: how many patches lie side by side depends on the "
    "width."
)
def sides_exchanged(patches, C, H, W):
    P = math.isqrt(patches.shape[2] // C)
    wrong = patches.reshape(len(patches), W // P, H // P, C, P, P)
    return wrong.permute(0, 3, 1, 4, 2, 5).reshape(len(patches), C, H, W)


@exercise.mistake("each patch is mirrored at its diagonal: its pixels come row by row.")
def mirrored(patches, C, H, W):
    return grid(patches, C, H, W).permute(0, 3, 1, 5, 2, 4).reshape(len(patches), C, H, W)


@exercise.mistake(
    "you deal the pixels of a patch out over the whole picture: they stay together, in a square."
)
def dealt_out(patches, C, H, W):
    return grid(patches, C, H, W).permute(0, 3, 4, 1, 5, 2).reshape(len(patches), C, H, W)


@exercise.mistake("your pictures are (B, H, W, C): the channels come before height and width.")
def channels_last(patches, C, H, W):
    return unpatch(patches, C, H, W).permute(0, 2, 3, 1)


@exercise.mistake("height and width are exchanged in the result.")
def turned(patches, C, H, W):
    return unpatch(patches, C, H, W).mT


@exercise.mistake("the patches still have axes of their own: merge them into height and width.")
def not_merged(patches, C, H, W):
    return grid(patches, C, H, W).permute(0, 3, 1, 4, 2, 5)


@exercise.mistake(
    "that is the order of axes with which pictures are cut. To put them together, undo it: begin "
    "with the axes as the patches have them."
)
def cut_again(patches, C, H, W):
    return grid(patches, C, H, W).permute(0, 2, 4, 1, 3, 5).reshape(len(patches), C, H, W)


@exercise.mistake(
    "you read the patches as if they were a picture already: their axes are patch row, patch "
    "column, channel, and the two of the pixels."
)
def taken_for_a_picture(patches, C, H, W):
    P = math.isqrt(patches.shape[2] // C)
    read = patches.reshape(len(patches), C, H // P, P, W // P, P)
    return read.permute(0, 2, 4, 1, 3, 5).reshape(len(patches), C, H, W)


@exercise.mistake(
    "your grid has √n patches on each side: a picture needn't be square, and has H/P rows and W/P "
    "columns of them."
)
def square_grid(patches, C, H, W):
    n, P = math.isqrt(patches.shape[1]), math.isqrt(patches.shape[2] // C)
    read = patches.reshape(len(patches), n, n, C, P, P)
    return read.permute(0, 3, 1, 4, 2, 5).reshape(len(patches), C, H, W)


@exercise.mistake(
    "your grid has H/P patches on both sides: a picture needn't be square, and has W/P columns of "
    "them."
)
def as_wide_as_high(patches, C, H, W):
    P = math.isqrt(patches.shape[2] // C)
    read = patches.reshape(len(patches), H // P, H // P, C, P, P)
    return read.permute(0, 3, 1, 4, 2, 5).reshape(len(patches), C, H, W)


@exercise.mistake(
    "your grid has W/P patches on both sides: a picture needn't be square, and has H/P rows of "
    "them."
)
def as_high_as_wide(patches, C, H, W):
    P = math.isqrt(patches.shape[2] // C)
    read = patches.reshape(len(patches), W // P, W // P, C, P, P)
    return read.permute(0, 3, 1, 4, 2, 5).reshape(len(patches), C, H, W)


@exercise.mistake(
    "H/√n is the side of a patch in a square picture alone: in all of them, a patch has C·P·P "
    "numbers."
)
def side_of_a_square(patches, C, H, W):
    n = math.isqrt(patches.shape[1])
    read = patches.reshape(len(patches), n, n, C, H // n, H // n)
    return read.permute(0, 3, 1, 4, 2, 5).reshape(len(patches), C, H, W)


@exercise.mistake(
    "`fold` reads each patch as a column, (B, C·P·P, n): turn the rows into columns with `.mT`."
)
def folded_as_rows(patches, C, H, W):
    P = math.isqrt(patches.shape[2] // C)
    return F.fold(patches, (H, W), P, stride=P)


@exercise.mistake(
    "`fold` lets patches overlap unless you tell it how far the next one is: give it `stride=P`."
)
def folded_without_stride(patches, C, H, W):
    return F.fold(patches.mT, (H, W), math.isqrt(patches.shape[2] // C))


@exercise.mistake(
    "√(C·P·P) is the side of a patch only if it is grey: divide by the number of channels first."
)
def side_with_colours(patches, C, H, W):
    P = math.isqrt(patches.shape[2])
    read = patches.reshape(len(patches), H // P, W // P, C, P, P)
    return read.permute(0, 3, 1, 4, 2, 5).reshape(len(patches), C, H, W)
