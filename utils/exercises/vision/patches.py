"""Cut pictures into patches, and lay each patch out as a row of numbers."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def patches(images: Tensor, patch_size: int) -> Tensor:
    """Return the patches of each image, row by row; a patch's numbers run channel by channel.

    Shapes: images (B, C, H, W) to (B, n, C·P·P), where P is the patch size and n = H/P · W/P.
    """
    B, C, H, W = images.shape
    P = patch_size
    cut = images.reshape(B, C, H // P, P, W // P, P)
    return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * P * P)


exercise = Exercise(patches, runs=True)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("a grey picture of four patches")
def grey():
    return [(random(1, 1, 4, 4), 2)]


@exercise.stage("a picture in three colours")
def colours():
    return [(random(1, 3, 4, 4), 2)]


@exercise.stage("pictures that are not square, and other patch sizes")
def not_square():
    return [(random(2, 3, 4, 10), 2), (random(4, 2, 9, 6), 3), (random(3, 4, 2, 5), 1)]


# What goes wrong ----------------------------------------------------------------------------------


def cut(images: Tensor, P: int) -> Tensor:
    """Return (B, C, H/P, P, W/P, P)."""
    return images.unflatten(3, (-1, P)).unflatten(2, (-1, P))


@exercise.mistake(
    "a plain view cuts the rows of pixels into pieces: a patch is a square, and between two of its "
    "rows lie pixels of other patches."
)
def plain_view(images, P):
    return images.reshape(len(images), -1, images.shape[1] * P * P)


@exercise.mistake(
    "your first view has the axes H/P, W/P, P, P in a row, but the pixels of one axis can't go to "
    "another: H alone is cut into H/P and P, and W into W/P and P."
)
def wrong_split(images, P):
    B, C, H, W = images.shape
    return (
        images.reshape(B, C, H // P, W // P, P, P)
        .permute(0, 2, 3, 1, 4, 5)
        .flatten(3)
        .flatten(1, 2)
    )


@exercise.mistake(
    "the colours still come before the patches when you flatten: a token holds patches of one "
    "colour, where it should hold one patch in all colours."
)
def colours_not_moved(images, P):
    B, C, H, W = images.shape
    return cut(images, P).permute(0, 1, 2, 4, 3, 5).reshape(B, -1, C * P * P)


@exercise.mistake(
    "your tokens go pixel by pixel, with the colours of a pixel side by side: a convolution's "
    "kernel has its numbers channel by channel."
)
def pixel_by_pixel(images, P):
    return cut(images, P).permute(0, 2, 4, 3, 5, 1).flatten(3).flatten(1, 2)


@exercise.mistake("your patches run down the columns: they come row by row, as one reads.")
def down_the_columns(images, P):
    return cut(images, P).permute(0, 4, 2, 1, 3, 5).flatten(3).flatten(1, 2)


@exercise.mistake("each patch is mirrored at its diagonal: its pixels come row by row, too.")
def mirrored(images, P):
    return cut(images, P).permute(0, 2, 4, 1, 5, 3).flatten(3).flatten(1, 2)


@exercise.mistake(
    "each patch is a column of yours, (B, C·P·P, n): an encoder reads tokens as rows, (B, n, D)."
)
def patches_as_columns(images, P):
    return F.unfold(images, P, stride=P)


@exercise.mistake("the patches still have two axes, H/P and W/P: an encoder reads one row of them.")
def in_the_plane(images, P):
    return cut(images, P).permute(0, 2, 4, 1, 3, 5).flatten(3)


@exercise.mistake("each patch is still a small picture, (C, P, P): lay its numbers out in one row.")
def still_pictures(images, P):
    return cut(images, P).permute(0, 2, 4, 1, 3, 5).flatten(1, 2)


@exercise.mistake(
    "you have a token for each colour of each patch: what a patch shows in three colours is one "
    "token."
)
def a_token_for_each_colour(images, P):
    return cut(images, P).permute(0, 1, 2, 4, 3, 5).flatten(4).flatten(1, 3)


@exercise.mistake("your patches overlap: each begins where the one before it ends.")
def overlapping(images, P):
    return F.unfold(images, P).mT


@exercise.mistake(
    "a token of yours takes pixels from all over the picture, one in every H/P rows: a patch holds "
    "neighbours."
)
def far_apart(images, P):
    spread = images.unflatten(3, (P, -1)).unflatten(2, (P, -1))
    return spread.permute(0, 3, 5, 1, 2, 4).flatten(3).flatten(1, 2)


@exercise.mistake(
    "`patch_size` is taken for the number of patches along a side: it is the side of a patch, in "
    "pixels."
)
def size_as_number(images, P):
    parts = images.unflatten(3, (P, -1)).unflatten(2, (P, -1))
    return parts.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


@exercise.mistake("the patches of all pictures are in one row: each picture keeps its own.")
def batch_merged(images, P):
    return patches(images, P).flatten(0, 1)


@exercise.mistake("the axes are in the order (n, B, C·P·P): the batch comes first.")
def patches_first(images, P):
    return patches(images, P).transpose(0, 1)


@exercise.mistake("your patches are in a list: they should be an axis of one tensor.")
def in_a_list(images, P):
    return [part.flatten(1) for rows in images.split(P, 2) for part in rows.split(P, 3)]


@exercise.mistake(
    "you go down the diagonal, one patch a step: for each row of patches there is a patch in every "
    "column."
)
def along_the_diagonal(images, P):
    n = min(images.shape[2:]) // P
    parts = [images[:, :, i * P : (i + 1) * P, i * P : (i + 1) * P] for i in range(n)]
    return torch.stack([part.flatten(1) for part in parts], dim=1)


@exercise.mistake("you average the colours: a token holds the numbers of all of them.")
def colours_averaged(images, P):
    return patches(images.mean(1, keepdim=True), P)


@exercise.mistake("a token of yours takes every P-th pixel: a patch holds neighbours.")
def every_pth_pixel(images, P):
    return patches(images, P).unflatten(2, (-1, P * P)).permute(0, 3, 2, 1).flatten(2)


@exercise.mistake("your patches are strips as wide as the picture: a patch ends after P columns.")
def strips(images, P):
    return torch.stack([strip.flatten(1) for strip in images.split(P, 2)], dim=1)


@exercise.mistake(
    "the first patches of all pictures come first, in one row for all: each picture keeps its own."
)
def joined_for_stacked(images, P):
    return patches(images, P).transpose(0, 1).flatten(0, 1)


@exercise.mistake(
    "your patches begin at pixel 0, 1, 2, …: each begins P pixels after the one before."
)
def start_not_multiplied(images, P):
    rows, columns = (range(side // P) for side in images.shape[2:])
    parts = [images[:, :, i : i + P, j : j + P].flatten(1) for i in rows for j in columns]
    return torch.stack(parts, dim=1)


@exercise.mistake(
    "the axes are in the right order, and still apart: flatten the two of the grid into one, and "
    "the last three, C, P, P, into another."
)
def not_flattened(images, P):
    return cut(images, P).permute(0, 2, 4, 1, 3, 5)


@exercise.mistake(
    "you cut the width into H/P parts, as if it were the height: W is cut into W/P and P."
)
def as_wide_as_high(images, P):
    B, C, H, _ = images.shape
    parts = images.reshape(B, C, H // P, P, H // P, P)
    return parts.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * P * P)


@exercise.mistake(
    "your tokens have P·P numbers, those of one colour: a patch has C·P·P, those of all colours."
)
def colours_forgotten(images, P):
    return patches(images, P).reshape(len(images), -1, P * P)


@exercise.mistake(
    "your loop takes steps of P, and you multiply by P once more: it runs off the picture."
)
def start_multiplied_twice(images, P):
    rows, columns = (range(0, side, P) for side in images.shape[2:])
    parts = [
        images[:, :, i * P : (i + 1) * P, j * P : (j + 1) * P].flatten(1)
        for i in rows
        for j in columns
    ]
    return torch.stack(parts, dim=1)


@exercise.mistake(
    "you cut the height into P and H/P: the patch comes first, then the row in it, so cut it into "
    "H/P and P."
)
def pixels_before_patches(images, P):
    B, C, H, W = images.shape
    parts = images.reshape(B, C, P, H // P, P, W // P)
    return parts.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * P * P)
