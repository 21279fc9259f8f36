"""A convolution in which each channel has a kernel of its own and is not mixed with the others."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def depthwise_conv2d(x: Tensor, weight: Tensor) -> Tensor:
    """Lay each channel's kernel on every window of that channel, without padding.

    Shapes: x (B, C, H, W), weight (C, K, K). Returns: (B, C, H_out, W_out).
    """
    K = weight.shape[1]
    windows = x.unfold(2, K, 1).unfold(3, K, 1)  # (B, C, H_out, W_out, K, K)
    return torch.einsum("bchwuv,cuv->bchw", windows, weight)


exercise = Exercise(depthwise_conv2d)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, C: int, H: int, W: int, K: int) -> tuple[Tensor, Tensor]:
    return random(B, C, H, W), random(C, K, K)


@exercise.stage("one channel")
def one_channel():
    return [drawn(1, 1, 3, 4, K=2)]


@exercise.stage("several channels and images")
def several_channels():
    return [drawn(2, 3, 5, 6, K=3), drawn(3, 4, 6, 5, K=2)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("you summed over the channels: here each channel keeps to itself.")
def summed(x, weight):
    return summed_to_one(x, weight).expand(-1, x.shape[1], -1, -1)


@exercise.mistake("you summed over the channels and were left with one; each has its own output.")
def summed_to_one(x, weight):
    return depthwise_conv2d(x, weight).sum(1, keepdim=True)


@exercise.mistake("all channels got the first kernel; each has its own.")
def first_kernel(x, weight):
    return depthwise_conv2d(x, weight[:1].expand_as(weight))


@exercise.mistake("you flipped the kernel; cross-correlation lays it on as it is.")
def flipped(x, weight):
    return depthwise_conv2d(x, weight.flip(1, 2))


@exercise.mistake("rows and columns of the kernel are swapped.")
def transposed(x, weight):
    return depthwise_conv2d(x, weight.transpose(1, 2))


@exercise.mistake(
    "each kernel was laid on the sum of all channels, so the channels are mixed: an output should "
    "see only its own channel."
)
def mixed(x, weight):
    return depthwise_conv2d(x.sum(1, keepdim=True).expand_as(x), weight)


@exercise.mistake("the channels were summed away: they are an axis of the result.")
def channel_axis_lost(x, weight):
    return depthwise_conv2d(x, weight).sum(1)


@exercise.mistake(
    "an ordinary convolution wants kernels as deep as the picture, since it mixes the channels. "
    "Which argument keeps them in groups?"
)
def groups_forgotten(x, weight):
    return F.conv2d(x, weight[:, None])


@exercise.mistake("that is the mean of the products; an answer is their sum.")
def mean(x, weight):
    return depthwise_conv2d(x, weight / weight[0].numel())


@exercise.mistake("you padded the picture: here there is no padding.")
def padded(x, weight):
    K = weight.shape[1]
    return depthwise_conv2d(F.pad(x, [K // 2] * 4), weight)


@exercise.mistake(
    "the last position where the kernel fits is missing: count the positions once more."
)
def one_place_short(x, weight):
    return depthwise_conv2d(x, weight)[:, :, :-1, :-1]
