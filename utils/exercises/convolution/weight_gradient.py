"""The gradient of a loss with respect to a convolution's kernels, by hand."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def weight_gradient(x: Tensor, grad_y: Tensor) -> Tensor:
    """Cross-correlate the pictures with the gradient of the outputs, at stride 1, without padding.

    Shapes: x (B, C, H, W), grad_y (B, C_out, H_out, W_out). Returns: (C_out, C, K, K).
    """
    windows = x.unfold(2, grad_y.shape[2], 1).unfold(3, grad_y.shape[3], 1)  # (B, C, K, K, H, W)
    return torch.einsum("bcuvij,boij->ocuv", windows, grad_y)


exercise = Exercise(weight_gradient, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, C: int, C_out: int, H: int, W: int, K: int) -> tuple[Tensor, Tensor]:
    return random(B, C, H, W), random(B, C_out, H - K + 1, W - K + 1)


@exercise.stage("one image, one channel")
def one_image():
    return [drawn(1, 1, 1, 3, 3, K=2)]


@exercise.stage("several images and channels")
def several_images():
    return [
        drawn(2, 3, 4, 6, 5, K=2),
        drawn(3, 2, 5, 7, 8, K=3),
    ]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("the kernel is used for every image of the batch, and the contributions add up.")
def mean_over_images(x, grad_y):
    return weight_gradient(x, grad_y) / x.shape[0]


@exercise.mistake(
    "the result is flipped: which pixel did the weight (u, v) meet at position (i, j)?"
)
def flipped(x, grad_y):
    return weight_gradient(x, grad_y).flip(2, 3)


@exercise.mistake("only one image counts here; the kernel was used for the whole batch.")
def last_image_only(x, grad_y):
    return weight_gradient(x[-1:], grad_y[-1:])


@exercise.mistake("input and output channels are swapped; the gradient is shaped like the weight.")
def channels_exchanged(x, grad_y):
    return weight_gradient(x, grad_y).transpose(0, 1)


@exercise.mistake("every position of the kernel contributes in full; nothing is averaged.")
def mean_over_places(x, grad_y):
    return weight_gradient(x, grad_y) / grad_y[0, 0].numel()


@exercise.mistake(
    "the contributions are still separate, image by image: the kernel has one gradient for them "
    "all."
)
def images_apart(x, grad_y):
    images = zip(x.split(1), grad_y.split(1), strict=True)
    return torch.stack([weight_gradient(*image) for image in images])


@exercise.mistake(
    "a convolution sums over channels: over what does this gradient sum, and which axis has to be "
    "there instead?"
)
def summed_over_channels(x, grad_y):
    return F.conv2d(x, grad_y)


@exercise.mistake("rows and columns of the gradient are swapped.")
def transposed(x, grad_y):
    return weight_gradient(x, grad_y).mT
