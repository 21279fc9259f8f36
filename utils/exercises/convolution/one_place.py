"""The convolution at one position: the answers of all kernels to a window."""

import torch
from torch import Tensor

from utils.exercises.checking import Exercise, looping, random


def at_one_place(window: Tensor, w: Tensor, b: Tensor) -> Tensor:
    """Shapes: window (B, C, K, K), w (C_out, C, K, K), b (C_out,).

    Returns: the answers (B, C_out).
    """
    return torch.einsum("bcuv,ocuv->bo", window, w) + b


exercise = Exercise(
    at_one_place,
    runs=True,
    but=looping(lambda: drawn(1, 2, 1, 3), lambda: drawn(16, 2, 4, 3), "images or kernels"),
)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B: int, C: int, C_out: int, K: int) -> tuple[Tensor, ...]:
    return random(B, C, K, K), random(C_out, C, K, K), random(C_out)


@exercise.stage("one image, one channel, one kernel")
def one_kernel():
    return [drawn(1, 1, 1, 2)]


@exercise.stage("one image with several channels")
def several_channels():
    return [drawn(1, 3, 1, 2)]


@exercise.stage("several kernels")
def several_kernels():
    return [drawn(1, 2, 4, 3)]


@exercise.stage("a batch of images")
def batches():
    return [drawn(5, 3, 2, 3), drawn(4, 2, 4, 2)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("each kernel has a bias, and yours is missing.")
def no_bias(window, w, b):
    return at_one_place(window, w, 0 * b)


@exercise.mistake(
    "you flipped the kernel: that is the convolution of mathematics. Here it is laid on as it is."
)
def flipped(window, w, b):
    return at_one_place(window, w.flip(2, 3), b)


@exercise.mistake("rows and columns of the kernel are swapped.")
def transposed(window, w, b):
    return at_one_place(window, w.mT, b)


@exercise.mistake("that is the mean of the products; an answer is their sum.")
def mean(window, w, b):
    return at_one_place(window, w / w[0].numel(), b)


@exercise.mistake("an answer sums over all channels; you used only the first.")
def first_channel_only(window, w, b):
    return at_one_place(window[:, :1], w[:, :1], b)


@exercise.mistake("the channels are still separate: their products go into one sum.")
def channels_apart(window, w, b):
    return torch.einsum("bcuv,ocuv->boc", window, w) + b[:, None]


@exercise.mistake("the products are there, but nothing has added them up.")
def not_summed(window, w, b):
    return window[:, None] * w + b[:, None, None, None]


@exercise.mistake("each image has answers of its own: don't sum over the batch.")
def summed_over_the_batch(window, w, b):
    return torch.einsum("bcuv,ocuv->o", window, w) + b


@exercise.mistake("all images and all kernels went into one number: which axes should be left?")
def one_number(window, w, b):
    return (at_one_place(window, w, 0 * b).sum() + b.sum()).squeeze()


@exercise.mistake("images are rows and kernels are columns; yours are the other way round.")
def exchanged(window, w, b):
    return at_one_place(window, w, b).T


@exercise.mistake("the bias was added to every product: add it once, to the sum.")
def bias_in_every_product(window, w, b):
    return at_one_place(window, w, b * w[0].numel())


@exercise.mistake("the bias was added for every channel: an answer has only one.")
def bias_in_every_channel(window, w, b):
    return at_one_place(window, w, b * w.shape[1])


@exercise.mistake(
    "windows and kernels were multiplied as they are, so the first image met only the first "
    "kernel, but every image has to meet every kernel. Where does the window need one more axis?"
)
def image_by_image(window, w, b):
    return (window * w).sum(dim=(1, 2, 3)) + b


@exercise.mistake("the bias is subtracted: add it to the sum.")
def bias_subtracted(window, w, b):
    return at_one_place(window, w, -b)


@exercise.mistake("the bias multiplies the answer: add it to the sum.")
def bias_multiplied(window, w, b):
    return at_one_place(window, w, 0 * b) * b


@exercise.mistake("your answers went through a ReLU: here they may be negative.")
def bent(window, w, b):
    return at_one_place(window, w, b).relu()


@exercise.mistake("you average over the channels: an answer is the sum over all of them.")
def mean_over_channels(window, w, b):
    return at_one_place(window, w / w.shape[1], b)


@exercise.mistake("all answers come from the first kernel: each kernel gives one of its own.")
def first_kernel(window, w, b):
    return at_one_place(window, w[:1].expand_as(w), b)
