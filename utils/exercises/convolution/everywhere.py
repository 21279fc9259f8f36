"""The convolution everywhere: the answer at one position, for all positions of the kernel."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, looping, random


def conv2d(x: Tensor, w: Tensor, b: Tensor, stride: int = 1, padding: int = 0) -> Tensor:
    """Shapes: x (B, C, H, W), w (C_out, C, K, K), b (C_out,).

    Returns: the maps (B, C_out, H_out, W_out).
    """
    x = F.pad(x, (padding, padding, padding, padding))
    K = w.shape[-1]
    windows = x.unfold(2, K, stride).unfold(3, K, stride)  # (B, C, H_out, W_out, K, K)
    return torch.einsum("bcijuv,ocuv->boij", windows, w) + b[:, None, None]


exercise = Exercise(
    conv2d,
    runs=True,
    but=looping(
        lambda: drawn(1, 2, 1, 5, 5, K=3), lambda: drawn(16, 2, 4, 5, 5, K=3), "images or kernels"
    ),
)


# What it is tried on ------------------------------------------------------------------------------


def drawn(B, C, C_out, H, W, K, stride=1, padding=0) -> tuple:
    return random(B, C, H, W), random(C_out, C, K, K), random(C_out), stride, padding


@exercise.stage("one channel, one kernel, stride 1, no padding")
def one_kernel():
    return [drawn(1, 1, 1, 3, 4, K=2)]


@exercise.stage("several images, channels and kernels")
def several_channels():
    return [drawn(2, 3, 4, 5, 6, K=3)]


@exercise.stage("a stride")
def strides():
    return [drawn(1, 2, 3, 7, 6, K=3, stride=2), drawn(2, 1, 2, 8, 9, K=2, stride=3)]


@exercise.stage("padding")
def paddings():
    return [drawn(1, 2, 3, 4, 5, K=3, padding=1), drawn(2, 3, 1, 5, 4, K=4, padding=2)]


@exercise.stage("stride and padding at once, odd and even sizes")
def both():
    return [
        drawn(3, 2, 4, 7, 8, K=3, stride=2, padding=1),
        drawn(2, 3, 2, 6, 9, K=2, stride=3, padding=2),
    ]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("each kernel has a bias, and yours is missing.")
def no_bias(x, w, b, stride, padding):
    return conv2d(x, w, 0 * b, stride, padding)


@exercise.mistake(
    "you flipped the kernel: that is the convolution of mathematics. Here it is laid on as it is."
)
def flipped(x, w, b, stride, padding):
    return conv2d(x, w.flip(2, 3), b, stride, padding)


@exercise.mistake("rows and columns of the kernel are swapped.")
def transposed(x, w, b, stride, padding):
    return conv2d(x, w.mT, b, stride, padding)


@exercise.mistake("the stride is ignored: the kernel should jump, not walk.")
def stride_ignored(x, w, b, stride, padding):
    return conv2d(x, w, b, 1, padding)


@exercise.mistake("the padding is ignored: a frame of zeros comes around the picture first.")
def padding_ignored(x, w, b, stride, padding):
    return conv2d(x, w, b, stride, 0)


@exercise.mistake("the frame of zeros is only above and on the left; it has four sides.")
def padded_on_two_sides(x, w, b, stride, padding):
    return conv2d(F.pad(x, (padding, 0, padding, 0)), w, b, stride, 0)


@exercise.mistake("only the columns were padded; the frame of zeros has four sides.")
def only_columns_padded(x, w, b, stride, padding):
    return conv2d(F.pad(x, (padding, padding)), w, b, stride, 0)


@exercise.mistake("the frame should be zeros; yours repeats the border.")
def border_repeated(x, w, b, stride, padding):
    return conv2d(F.pad(x, (padding,) * 4, mode="replicate"), w, b, stride, 0)


@exercise.mistake("windows overlap: the stride says how far to jump, whatever the kernel's size.")
def jumps_by_the_kernel(x, w, b, stride, padding):
    return conv2d(x, w, b, w.shape[-1], padding)


@exercise.mistake(
    "the last position where the kernel fits is missing: count the positions once more."
)
def one_place_short(x, w, b, stride, padding):
    x = F.pad(x, (padding,) * 4)
    return conv2d(x[:, :, :-1, :-1], w, b, stride, 0)


@exercise.mistake("a kernel that can jump n times has n + 1 positions.")
def jumps_for_places(x, w, b, stride, padding):
    return conv2d(x, w, b, stride, padding)[:, :, :-1, :-1]


@exercise.mistake(
    "the number of positions is correct, but they lie side by side: how far does the kernel jump?"
)
def stride_only_counted(x, w, b, stride, padding):
    H, W = conv2d(x, w, b, stride, padding).shape[2:]
    return conv2d(x, w, b, 1, padding)[:, :, :H, :W]


@exercise.mistake("the numbers are correct, but rows and columns of the map are swapped.")
def map_transposed(x, w, b, stride, padding):
    return conv2d(x, w, b, stride, padding).mT


@exercise.mistake(
    "the numbers are correct, but the channels come last: they belong right after the batch."
)
def channels_last(x, w, b, stride, padding):
    return conv2d(x, w, b, stride, padding).permute(0, 2, 3, 1)


@exercise.mistake("all positions are in one axis: a map has rows and columns.")
def places_in_a_row(x, w, b, stride, padding):
    return conv2d(x, w, b, stride, padding).flatten(2)


@exercise.mistake("an answer sums over all channels; you used only the first.")
def first_channel_only(x, w, b, stride, padding):
    return conv2d(x[:, :1], w[:, :1], b, stride, padding)


@exercise.mistake("only the rows were padded; the frame of zeros has four sides.")
def only_rows_padded(x, w, b, stride, padding):
    return conv2d(F.pad(x, (0, 0, padding, padding)), w, b, stride, 0)


@exercise.mistake("the frame of zeros is only below and on the right; it has four sides.")
def padded_on_the_other_two_sides(x, w, b, stride, padding):
    return conv2d(F.pad(x, (0, padding, 0, padding)), w, b, stride, 0)


@exercise.mistake("you counted the positions on the picture without its frame.")
def places_without_the_frame(x, w, b, stride, padding):
    H, W = ((size - w.shape[-1]) // stride + 1 for size in x.shape[2:])
    return conv2d(x, w, b, stride, padding)[:, :, :H, :W]


@exercise.mistake(
    "the biases were laid along a row of the map, since broadcasting starts at the right: which "
    "axis holds the output channels?"
)
def bias_along_a_row(x, w, b, stride, padding):
    return conv2d(x, w, 0 * b, stride, padding) + b


@exercise.mistake(
    "positions and channels are mixed up: the answers were listed position by position, and "
    "reshaping doesn't transpose that list. Bring the channels to the front first."
)
def cut_without_turning(x, w, b, stride, padding):
    y = conv2d(x, w, b, stride, padding)
    return y.permute(0, 2, 3, 1).reshape(y.shape)


@exercise.mistake("the bias was added to every product: add it once, to the sum.")
def bias_in_every_product(x, w, b, stride, padding):
    return conv2d(x, w, b * w[0].numel(), stride, padding)


@exercise.mistake("that is the mean of the products; an answer is their sum.")
def mean(x, w, b, stride, padding):
    return conv2d(x, w / w[0].numel(), b, stride, padding)


@exercise.mistake("the stride applies only to the rows: the kernel jumps along the columns, too.")
def stride_down_only(x, w, b, stride, padding):
    return conv2d(x, w, b, 1, padding)[:, :, ::stride]


@exercise.mistake("the stride applies only to the columns: the kernel jumps along the rows, too.")
def stride_across_only(x, w, b, stride, padding):
    return conv2d(x, w, b, 1, padding)[..., ::stride]


@exercise.mistake("the bias is subtracted: add it to the sum.")
def bias_subtracted(x, w, b, stride, padding):
    return conv2d(x, w, -b, stride, padding)


@exercise.mistake("your answers went through a ReLU: here they may be negative.")
def bent(x, w, b, stride, padding):
    return conv2d(x, w, b, stride, padding).relu()


@exercise.mistake("you share `padding` between two sides: each side gets all of it.")
def padding_halved(x, w, b, stride, padding):
    return conv2d(x, w, b, stride, padding // 2)


@exercise.mistake("you put the frame of zeros around the map: it belongs around the picture.")
def map_padded(x, w, b, stride, padding):
    return F.pad(conv2d(x, w, b, stride, 0), (padding,) * 4)


@exercise.mistake(
    "your frame is twice as wide as `padding`: that many zeros are meant for each side."
)
def padded_twice(x, w, b, stride, padding):
    return conv2d(x, w, b, stride, 2 * padding)


@exercise.mistake("you average over the channels: an answer is the sum over all of them.")
def mean_over_channels(x, w, b, stride, padding):
    return conv2d(x, w / w.shape[1], b, stride, padding)


@exercise.mistake("all maps come from the first kernel: each kernel gives one of its own.")
def first_kernel(x, w, b, stride, padding):
    return conv2d(x, w[:1].expand_as(w), b, stride, padding)


@exercise.mistake("you pad by half of the kernel, which keeps the size: pad by `padding`.")
def same_size(x, w, b, stride, padding):
    return conv2d(x, w, b, stride, w.shape[-1] // 2)


@exercise.mistake("your map is as wide as it is high: a picture may have more columns than rows.")
def square_map(x, w, b, stride, padding):
    H = conv2d(x, w, b, stride, padding).shape[2]
    y = conv2d(x, w, b, stride, padding)
    return F.pad(y, (0, max(0, H - y.shape[3])))[..., :H]
