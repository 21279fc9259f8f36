"""Which patches decided? Paint each of them over in turn, and ask again."""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, random

Score = Callable[[Tensor], Tensor]  # images (B, C, H, W) to scores (B,)


def occlusion(score: Score, image: Tensor, patch_size: int, value: float) -> Tensor:
    """Return how much the score falls when each patch is painted over with a value: a map.

    A patch that speaks for the score is above 0.
    score: of images (B, C, H, W), to (B,). Shapes: image (C, H, W) to (H/P, W/P).
    """
    P = patch_size
    falls = torch.zeros(image.shape[1] // P, image.shape[2] // P, dtype=image.dtype)
    for i in range(len(falls)):
        for j in range(falls.shape[1]):
            hidden = image.clone()
            hidden[:, i * P : (i + 1) * P, j * P : (j + 1) * P] = value
            falls[i, j] = (score(image[None]) - score(hidden[None])).item()
    return falls


exercise = Exercise(occlusion, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


@cache
def looking(C: int, H: int, W: int) -> Score:
    """Return a score for which every pixel counts, and neighbours count together."""
    generator = torch.Generator().manual_seed(C * H * W)
    first, second = torch.randn(2, C, H, W, dtype=torch.float64, generator=generator)

    def score(images: Tensor) -> Tensor:
        seen = (images * first).sum(dim=(1, 2, 3)).tanh()
        return seen + (images * second).sum(dim=(1, 2, 3)).div(8).tanh().square()

    return score


def drawn(C: int, H: int, W: int, P: int, value: float) -> tuple:
    return looking(C, H, W), random(C, H, W).sigmoid(), P, value


@exercise.stage("a picture of two patches")
def two_patches():
    return [drawn(1, 2, 4, 2, 0.5)]


@exercise.stage("more rows than columns of patches")
def more_rows():
    return [drawn(1, 6, 4, 2, 0.5)]


@exercise.stage("pictures in colour, and other values")
def colours():
    return [drawn(3, 6, 9, 3, 0.3), drawn(2, 4, 6, 1, 0.7)]


# What goes wrong ----------------------------------------------------------------------------------


Change = Callable[[Tensor, int, int], Tensor]  # of a copy, at row i and column j of the grid


def asked(score: Score, image: Tensor, P: int, change: Change) -> Tensor:
    """Return the score after each change, (H/P, W/P)."""
    rows, columns = image.shape[1] // P, image.shape[2] // P
    images = [change(image.clone(), i, j) for i in range(rows) for j in range(columns)]
    return score(torch.stack(images)).view(rows, columns)


def square(i: int, j: int, P: int) -> tuple[slice, slice, slice]:
    return slice(None), slice(i * P, i * P + P), slice(j * P, j * P + P)


def painted(value: float | Tensor, P: int) -> Change:
    def change(image: Tensor, i: int, j: int) -> Tensor:
        image[square(i, j, P)] = value
        return image

    return change


@exercise.mistake("the sign is reversed: a patch that speaks for the score should be above 0.")
def reversed_sign(score, image, P, value):
    return -occlusion(score, image, P, value)


@exercise.mistake("you compare with nothing: how high is the score of the whole picture?")
def no_comparison(score, image, P, value):
    return asked(score, image, P, painted(value, P))


@exercise.mistake("the score of the whole picture is missing: how far does it fall from there?")
def without_the_whole(score, image, P, value):
    return -asked(score, image, P, painted(value, P))


@exercise.mistake(
    "patches that were painted over before stay so: each is hidden by itself, in the whole picture."
)
def stays_hidden(score, image, P, value):
    shown = image.clone()

    def change(_, i, j):
        shown[square(i, j, P)] = value
        return shown.clone()

    return score(image[None]) - asked(score, image, P, change)


@exercise.mistake(
    "you compare each patch with a picture in which those before it are painted over: compare with "
    "the whole one."
)
def one_after_the_other(score, image, P, value):
    falls = stays_hidden(score, image, P, value).flatten()
    return falls.diff(prepend=falls.new_zeros(1)).view(image.shape[1] // P, -1)


@exercise.mistake("you paint in black, with 0: the value to paint with is given.")
def black(score, image, P, value):
    return score(image[None]) - asked(score, image, P, painted(0.0, P))


@exercise.mistake("you paint with the picture's mean: the value to paint with is given.")
def mean_colour(score, image, P, value):
    mean = image.mean(dim=(1, 2), keepdim=True)
    return score(image[None]) - asked(score, image, P, painted(mean, P))


@exercise.mistake("you hide everything but the patch: hide the patch, and show the rest.")
def patch_alone(score, image, P, value):
    def change(shown, i, j):
        hidden = torch.full_like(shown, value)
        hidden[square(i, j, P)] = shown[square(i, j, P)]
        return hidden

    return score(image[None]) - asked(score, image, P, change)


@exercise.mistake("you hide one channel of the patch: the others still show it.")
def one_channel(score, image, P, value):
    def change(shown, i, j):
        shown[0, i * P : i * P + P, j * P : j * P + P] = value
        return shown

    return score(image[None]) - asked(score, image, P, change)


@exercise.mistake("you hide whole rows of the picture: a patch ends after P columns.")
def whole_rows(score, image, P, value):
    def change(shown, i, j):
        shown[:, i * P : i * P + P] = value
        return shown

    return score(image[None]) - asked(score, image, P, change)


@exercise.mistake("your square moves on by one pixel: the next patch begins where this one ends.")
def by_one_pixel(score, image, P, value):
    def change(shown, i, j):
        shown[:, i : i + P, j : j + P] = value
        return shown

    return score(image[None]) - asked(score, image, P, change)


@exercise.mistake("you hide one pixel of the patch: the others still show it.")
def one_pixel(score, image, P, value):
    def change(shown, i, j):
        shown[:, i * P, j * P] = value
        return shown

    return score(image[None]) - asked(score, image, P, change)


@exercise.mistake("your map is turned over its diagonal: rows first, then columns.")
def turned(score, image, P, value):
    return occlusion(score, image, P, value).T


@exercise.mistake("you lose the signs: a patch that speaks against the score is below 0.")
def sizes(score, image, P, value):
    return occlusion(score, image, P, value).abs()


@exercise.mistake("that is the fall as a part of the score: return the fall itself.")
def relative(score, image, P, value):
    return occlusion(score, image, P, value) / score(image[None])


@exercise.mistake("your falls are in one row: a map has the rows and columns of patches.")
def in_one_row(score, image, P, value):
    return occlusion(score, image, P, value).flatten()


@exercise.mistake("your falls are spread over pixels: a map has one number for each patch.")
def over_pixels(score, image, P, value):
    return occlusion(score, image, P, value).repeat_interleave(P, 0).repeat_interleave(P, 1)


@exercise.mistake(
    "you multiply the patch by the value, so it still shows what it shows: paint it over."
)
def dimmed(score, image, P, value):
    def change(shown, i, j):
        shown[square(i, j, P)] *= value
        return shown

    return score(image[None]) - asked(score, image, P, change)


@exercise.mistake("you paint the patch with its own mean: the value to paint with is given.")
def own_mean(score, image, P, value):
    def change(shown, i, j):
        shown[square(i, j, P)] = shown[square(i, j, P)].mean()
        return shown

    return score(image[None]) - asked(score, image, P, change)


@exercise.mistake("you scale the map so that its largest fall is 1: return the falls themselves.")
def largest_is_1(score, image, P, value):
    falls = occlusion(score, image, P, value)
    return falls / falls.abs().max()
