"""The convolution over sequences, with channels, biases and a stride."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random


def conv1d(x: Tensor, weight: Tensor, bias: Tensor, stride: int) -> Tensor:
    """Lay the kernels on every window of a sequence, without padding and without flipping them.

    Shapes: x (B, C, T), weight (C_out, C, K), bias (C_out,). Returns: (B, C_out, T_out).
    """
    windows = x.unfold(2, weight.shape[2], stride)  # (B, C, T_out, K)
    return torch.einsum("bctk,ock->bot", windows, weight) + bias[:, None]


exercise = Exercise(conv1d, gradient=False)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, C: int, T: int, C_out: int, K: int, stride: int) -> tuple:
    return random(B, C, T), random(C_out, C, K), random(C_out), stride


@exercise.stage("one channel, one kernel, stride 1")
def one_kernel():
    return [drawn(1, 1, 5, 1, 3, stride=1)]


@exercise.stage("several channels")
def several_channels():
    return [drawn(1, 3, 6, 2, 2, stride=1)]


@exercise.stage("batches, strides, odd and even lengths")
def strides():
    return [
        drawn(2, 3, 11, 5, 4, stride=2),
        drawn(3, 2, 12, 4, 3, stride=3),
        drawn(4, 2, 9, 3, 3, stride=2),
    ]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake(
    "you flipped the kernel: that is the convolution of mathematics; deep learning "
    "cross-correlates."
)
def flipped(x, weight, bias, stride):
    return conv1d(x, weight.flip(2), bias, stride)


@exercise.mistake("every output channel has a bias, and yours is missing.")
def bias_forgotten(x, weight, bias, stride):
    return conv1d(x, weight, 0 * bias, stride)


@exercise.mistake("an output channel sums over all input channels; you used only the first.")
def first_channel_only(x, weight, bias, stride):
    return conv1d(x[:, :1], weight[:, :1], bias, stride)


@exercise.mistake("the stride is ignored: the kernel should jump, not walk.")
def stride_ignored(x, weight, bias, stride):
    return conv1d(x, weight, bias, 1)


@exercise.mistake("windows overlap: the stride says how far to jump, whatever the kernel's width.")
def jumps_by_the_kernel(x, weight, bias, stride):
    return conv1d(x, weight, bias, weight.shape[2])


@exercise.mistake(
    "the last position where the kernel fits is missing: count the positions once more."
)
def one_window_short(x, weight, bias, stride):
    return conv1d(x[:, :, :-1], weight, bias, stride)


@exercise.mistake("a kernel that can jump n times has n + 1 positions.")
def jumps_for_places(x, weight, bias, stride):
    return conv1d(x, weight, bias, stride)[:, :, :-1]


@exercise.mistake(
    "the biases were laid along time, since broadcasting starts at the right: which axis holds "
    "the output channels?"
)
def bias_along_time(x, weight, bias, stride):
    return conv1d(x, weight, 0 * bias, stride) + bias


@exercise.mistake("the bias was added to every product: add it once, to the sum over the window.")
def bias_in_every_product(x, weight, bias, stride):
    return conv1d(x, weight, bias * weight[0].numel(), stride)


@exercise.mistake("the bias was added at every position of the kernel: add it once to each output.")
def bias_at_every_place(x, weight, bias, stride):
    return conv1d(x, weight, bias * weight.shape[2], stride)


@exercise.mistake("the bias was added for every input channel: an output has only one.")
def bias_from_every_channel(x, weight, bias, stride):
    return conv1d(x, weight, bias * weight.shape[1], stride)


@exercise.mistake(
    "the number of positions is correct, but they lie side by side: how far does the kernel jump?"
)
def stride_only_counted(x, weight, bias, stride):
    T_out = conv1d(x, weight, bias, stride).shape[2]
    return conv1d(x, weight, bias, 1)[:, :, :T_out]


@exercise.mistake(
    "the numbers are correct, but the channels come last: they belong right after the batch."
)
def channels_last(x, weight, bias, stride):
    return conv1d(x, weight, bias, stride).mT


@exercise.mistake("that is the mean of the products; an answer is their sum.")
def mean(x, weight, bias, stride):
    return conv1d(x, weight / weight[0].numel(), bias, stride)


@exercise.mistake("you padded the sequence at both ends: here there is no padding.")
def padded(x, weight, bias, stride):
    K = weight.shape[2]
    return conv1d(F.pad(x, (K // 2, K // 2)), weight, bias, stride)


@exercise.mistake(
    "you padded the sequence in front, as a causal convolution does: here there is no padding."
)
def causal(x, weight, bias, stride):
    return conv1d(F.pad(x, (weight.shape[2] - 1, 0)), weight, bias, stride)


@exercise.mistake("the bias is subtracted: add it to the sum.")
def bias_subtracted(x, weight, bias, stride):
    return conv1d(x, weight, -bias, stride)


@exercise.mistake(
    "all output channels come from the first kernel: each kernel gives one of its own."
)
def first_kernel(x, weight, bias, stride):
    return conv1d(x, weight[:1].expand_as(weight), bias, stride)
