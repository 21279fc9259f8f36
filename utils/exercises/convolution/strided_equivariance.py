"""By how many pixels must a picture move so that the map of two strided layers moves exactly?"""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Prediction


def smallest_move() -> int:
    """Try one move after the other on two random convolutions of stride 2."""
    generator = torch.Generator().manual_seed(0)
    first, second = torch.randn(2, 1, 1, 3, 3, dtype=torch.float64, generator=generator)
    picture = torch.randn(1, 1, 64, 64, dtype=torch.float64, generator=generator)

    def inner_map(x: Tensor, move: int) -> Tensor:
        y = F.conv2d(F.conv2d(torch.roll(x, move, dims=3), first, stride=2), second, stride=2)
        return torch.roll(y, -round(move / 4), dims=3)[..., 4:-4]

    still = inner_map(picture, 0)
    return next(move for move in range(1, 64) if torch.allclose(still, inner_map(picture, move)))


exercise = Prediction(smallest_move)


@exercise.mistake("that is enough for the first layer alone.")
def first_layer_alone():
    return 2


@exercise.mistake(
    "the first map then moves by one and a half positions: how wide is a step of the second, in "
    "pixels?"
)
def between_places():
    return 3


@exercise.mistake("a picture that moves by one pixel lands between the positions.")
def any_move():
    return 1


@exercise.mistake("there are two layers of stride 2, not three.")
def three_layers():
    return 8


@exercise.mistake(
    "that is how many pixels an output sees with 3-wide kernels: how far apart are two outputs?"
)
def receptive_field():
    return 7
