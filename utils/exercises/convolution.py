"""Checks of Day 1, and the mistakes that they know."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.convolution import max_pool2d, receptive_field
from utils.exercises.checking import Checker, Exercise, Mistake, Prediction, Stage
from utils.measure import experiments


def random(*shape: int) -> Tensor:
    """Draw a tensor in double precision, in which mistakes can't hide behind rounding."""
    return torch.randn(*shape, dtype=torch.float64)


# 1.1 ------------------------------------------------------------------------------------------


def same_padding(kernel_size: int, dilation: int) -> int:
    return dilation * (kernel_size - 1) // 2


# 1.4 ------------------------------------------------------------------------------------------


def conv1d(x: Tensor, weight: Tensor, bias: Tensor, stride: int) -> Tensor:
    windows = x.unfold(2, weight.shape[2], stride)  # (B, C, T_out, K)
    return torch.einsum("bctk,ock->bot", windows, weight) + bias[:, None]


def conv1d_one_window_short(x: Tensor, weight: Tensor, bias: Tensor, stride: int) -> Tensor:
    return conv1d(x[:, :, :-1], weight, bias, stride)


def conv1d_separate_channels(x: Tensor, weight: Tensor, bias: Tensor, stride: int) -> Tensor:
    windows = x[:, :1].unfold(2, weight.shape[2], stride)
    return torch.einsum("bctk,ock->bot", windows, weight[:, :1]) + bias[:, None]


# 1.5 ------------------------------------------------------------------------------------------


def depthwise_conv2d(x: Tensor, weight: Tensor) -> Tensor:
    K = weight.shape[1]
    windows = x.unfold(2, K, 1).unfold(3, K, 1)  # (B, C, H_out, W_out, K, K)
    return torch.einsum("bchwuv,cuv->bchw", windows, weight)


# 1.6 ------------------------------------------------------------------------------------------


def min_pool2d(x: Tensor, kernel_size: int, stride: int, padding: int) -> Tensor:
    return -max_pool2d(-x, kernel_size, stride, padding)


def min_pool2d_padded_with(value: float):
    def wrong(x: Tensor, kernel_size: int, stride: int, padding: int) -> Tensor:
        return min_pool2d(F.pad(x, [padding] * 4, value=value), kernel_size, stride, 0)

    return wrong


def min_pool2d_over_channels(x: Tensor, kernel_size: int, stride: int, padding: int) -> Tensor:
    return min_pool2d(x, kernel_size, stride, padding).amin(1, keepdim=True)


# 1.7 ------------------------------------------------------------------------------------------


def layers_needed(length: int, kernel_size: int, doubling: bool) -> int:
    layers = []
    while receptive_field(layers) < length:
        layers.append((kernel_size, 1, 2 ** len(layers) if doubling else 1))
    return len(layers)


def layers_that_add(length: int, gain: int, field: int, doubling: bool) -> int:
    layers = 0
    while field < length:
        field += gain * (2**layers if doubling else 1)
        layers += 1
    return layers


# 1.8 ------------------------------------------------------------------------------------------


def fold_batch_norm(
    weight: Tensor, bias: Tensor, mean: Tensor, var: Tensor, gamma: Tensor, beta: Tensor, eps: float
) -> tuple[Tensor, Tensor]:
    scale = gamma / torch.sqrt(var + eps)
    return weight * scale[:, None, None, None], (bias - mean) * scale + beta


def fold_with_eps_outside(weight, bias, mean, var, gamma, beta, eps):
    return fold_batch_norm(weight, bias, mean, (var.sqrt() + eps) ** 2, gamma, beta, 0.0)


def fold_with_variance(weight, bias, mean, var, gamma, beta, eps):
    return fold_batch_norm(weight, bias, mean, (var + eps) ** 2, gamma, beta, 0.0)


def fold_without_old_bias(weight, bias, mean, var, gamma, beta, eps):
    return fold_batch_norm(weight, 0 * bias, mean, var, gamma, beta, eps)


def fold_bias_unscaled(weight, bias, mean, var, gamma, beta, eps):
    folded, shift = fold_batch_norm(weight, 0 * bias, mean, var, gamma, beta, eps)
    return folded, shift + bias


def batch_norm_inputs(channels: int, out_channels: int, K: int) -> tuple:
    # variances near ε show where ε stands
    var = torch.rand(out_channels, dtype=torch.float64) + 0.1
    draw = [random(out_channels) for _ in range(4)]
    return random(out_channels, channels, K, K), draw[0], draw[1], var, draw[2], draw[3], 0.1


# 1.9 ------------------------------------------------------------------------------------------


def weight_gradient(x: Tensor, grad_y: Tensor) -> Tensor:
    windows = x.unfold(2, grad_y.shape[2], 1).unfold(3, grad_y.shape[3], 1)  # (B, C, K, K, H, W)
    return torch.einsum("bcuvij,boij->ocuv", windows, grad_y)


# 1.10 -----------------------------------------------------------------------------------------

BINOMIAL = torch.tensor([[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]], dtype=torch.float64)


def blur_pool(x: Tensor) -> Tensor:
    return blur(x, BINOMIAL / 16)[:, :, ::2, ::2]


def blur(x: Tensor, kernel: Tensor) -> Tensor:
    padded = F.pad(x, [1] * 4, mode="reflect")
    return depthwise_conv2d(padded, kernel.to(x.dtype).expand(x.shape[1], 3, 3))


# 1.3, as the stored experiment has it


def hurt_by_shuffling() -> str:
    stored = experiments.load("shuffled")

    def errors(model: str, shuffled: bool) -> float:
        return 1 - stored.spread("test", model=model, shuffled=shuffled)[0]

    dense, convolutional = (
        errors(model, True) > 1.25 * errors(model, False) for model in ("dense", "DigitsNet")
    )
    return {
        (True, True): "both",
        (True, False): "dense",
        (False, True): "convolutional",
        (False, False): "neither",
    }[dense, convolutional]


# 1.11 -----------------------------------------------------------------------------------------


def smallest_move() -> int:
    generator = torch.Generator().manual_seed(0)
    first, second = torch.randn(2, 1, 1, 3, 3, dtype=torch.float64, generator=generator)
    picture = torch.randn(1, 1, 64, 64, dtype=torch.float64, generator=generator)

    def inner_map(x: Tensor, move: int) -> Tensor:
        y = F.conv2d(F.conv2d(torch.roll(x, move, dims=3), first, stride=2), second, stride=2)
        return torch.roll(y, -round(move / 4), dims=3)[..., 4:-4]

    still = inner_map(picture, 0)
    return next(move for move in range(1, 64) if torch.allclose(still, inner_map(picture, move)))


check = Checker(
    Exercise(
        "1.1",
        same_padding,
        (
            Stage("a 3-wide kernel, undilated", lambda: [(3, 1)]),
            Stage(
                "several kernels and dilations",
                lambda: [(5, 1), (3, 2), (7, 3), (1, 4), (4, 2), (2, 6)],
            ),
        ),
        {
            "dilation forgotten": Mistake(
                "dilation spreads the kernel's weights apart: how many pixels does it reach over?",
                lambda kernel_size, dilation: kernel_size // 2,
            ),
            "both sides": Mistake(
                "that is what both sides need together; padding counts one side.",
                lambda kernel_size, dilation: dilation * (kernel_size - 1),
            ),
            "whole reach": Mistake(
                "you counted the pixels that the kernel covers; how many places are lost?",
                lambda kernel_size, dilation: dilation * (kernel_size - 1) + 1,
            ),
            "halved first": Mistake(
                "halve after multiplying: an even kernel has an odd number of gaps.",
                lambda kernel_size, dilation: (kernel_size - 1) // 2 * dilation,
            ),
            "kernel halved": Mistake(
                "an even kernel has an odd number of gaps: multiply by the gaps before you halve.",
                lambda kernel_size, dilation: dilation * (kernel_size // 2),
            ),
            "kernel not kernel - 1": Mistake(
                "count the gaps between a dilated kernel's weights: K weights have K - 1 gaps.",
                lambda kernel_size, dilation: dilation * kernel_size // 2,
            ),
        },
        gradient=False,
    ),
    Prediction(
        "1.2",
        lambda: sum(p.numel() for p in torch.nn.Conv2d(3, 16, 5).parameters()),
        {
            "bias": Mistake("each output channel also has a bias.", 1200),
            "input channels": Mistake("a kernel is as deep as the image has channels.", 416),
            "neither bias nor channels": Mistake(
                "two things are missing: the depth of a kernel, and the biases.", 400
            ),
            "one kernel, no bias": Mistake(
                "that is one kernel without its bias; how many kernels are there?", 75
            ),
            "one kernel": Mistake("each output channel has a kernel of its own.", 76),
            "bias per weight": Mistake("there is one bias an output channel, not more.", 2400),
        },
    ),
    Prediction(
        "1.3",
        hurt_by_shuffling,
        {
            "dense": Mistake("does a dense layer know which pixels are neighbours?", "dense"),
            "both": Mistake("only one of the two looks at neighbours.", "both"),
            "neither": Mistake("what is left, after the shuffle, of an edge?", "neither"),
        },
        choices=("dense", "convolutional", "both", "neither"),
    ),
    Exercise(
        "1.4",
        conv1d,
        (
            Stage(
                "one channel, one kernel, stride 1",
                lambda: [(random(1, 1, 5), random(1, 1, 3), random(1), 1)],
            ),
            Stage(
                "several channels",
                lambda: [(random(1, 3, 6), random(2, 3, 2), random(2), 1)],
            ),
            Stage(
                "batches, strides, odd and even lengths",
                lambda: [
                    (random(2, 3, 11), random(5, 3, 4), random(5), 2),
                    (random(3, 2, 12), random(4, 2, 3), random(4), 3),
                    (random(4, 2, 9), random(3, 2, 3), random(3), 2),
                ],
            ),
        ),
        {
            "flipped": Mistake(
                "you flipped the kernel: that is the convolution of mathematics; deep learning "
                "cross-correlates.",
                lambda x, weight, bias, stride: conv1d(x, weight.flip(2), bias, stride),
            ),
            "bias forgotten": Mistake(
                "every output channel has a bias, and yours is missing.",
                lambda x, weight, bias, stride: conv1d(x, weight, 0 * bias, stride),
            ),
            "channels": Mistake(
                "an output channel sums over all input channels; you used the first alone.",
                conv1d_separate_channels,
            ),
            "stride ignored": Mistake(
                "the stride is ignored: the kernel should jump, not walk.",
                lambda x, weight, bias, stride: conv1d(x, weight, bias, 1),
            ),
            "every other window": Mistake(
                "windows overlap: the stride says how far to jump, whatever the kernel's width.",
                lambda x, weight, bias, stride: conv1d(x, weight, bias, weight.shape[2]),
            ),
            "one short": Mistake(
                "the last place where the kernel fits is missing: count the places once more.",
                conv1d_one_window_short,
            ),
        },
    ),
    Exercise(
        "1.5",
        depthwise_conv2d,
        (
            Stage("one channel", lambda: [(random(1, 1, 3, 4), random(1, 2, 2))]),
            Stage(
                "several channels and images",
                lambda: [
                    (random(2, 3, 5, 6), random(3, 3, 3)),
                    (random(3, 4, 6, 5), random(4, 2, 2)),
                ],
            ),
        ),
        {
            "summed": Mistake(
                "you summed over the channels: here each channel keeps to itself.",
                lambda x, w: (
                    depthwise_conv2d(x, w).sum(1, keepdim=True).expand(-1, x.shape[1], -1, -1)
                ),
            ),
            "summed to one": Mistake(
                "you summed over the channels and were left with one; each has its own output.",
                lambda x, w: depthwise_conv2d(x, w).sum(1, keepdim=True),
            ),
            "first kernel": Mistake(
                "all channels got the first kernel; each has its own.",
                lambda x, w: depthwise_conv2d(x, w[:1].expand_as(w)),
            ),
            "flipped": Mistake(
                "you flipped the kernel; cross-correlation lays it on as it is.",
                lambda x, w: depthwise_conv2d(x, w.flip(1, 2)),
            ),
            "transposed": Mistake(
                "rows and columns of the kernel are exchanged.",
                lambda x, w: depthwise_conv2d(x, w.transpose(1, 2)),
            ),
        },
    ),
    Exercise(
        "1.6",
        min_pool2d,
        (
            Stage("no padding", lambda: [(random(1, 1, 4, 4), 2, 2, 0)]),
            Stage(
                "maps with positive values only, padded",
                lambda: [(random(1, 1, 4, 4).exp() + 5, 3, 2, 1)],
            ),
            Stage("values beyond any constant", lambda: [(random(1, 2, 4, 4) + 1e9, 3, 2, 1)]),
            Stage(
                "several channels, odd sizes, windows that overlap",
                lambda: [
                    (random(2, 3, 7, 6), 3, 2, 1),
                    (random(3, 2, 5, 8), 3, 1, 1),
                    (random(2, 4, 6, 5) - 9, 2, 2, 1),
                ],
            ),
        ),
        {
            "zero padding": Mistake(
                "zeros at the border win where all values are positive: what value can never win?",
                min_pool2d_padded_with(0.0),
            ),
            "padding of max": Mistake(
                "-∞ never wins a maximum, but here the smallest wins.",
                min_pool2d_padded_with(-math.inf),
            ),
            "large constant": Mistake(
                "a large number is not larger than every number: what is?",
                min_pool2d_padded_with(1e6),
            ),
            "channels": Mistake(
                "the window runs over rows and columns; the channels stay apart.",
                min_pool2d_over_channels,
            ),
            "maximum": Mistake("that is the largest value of each window.", max_pool2d),
            "sign": Mistake(
                "the smallest is minus the largest of the negatives; one minus is missing.",
                lambda x, kernel_size, stride, padding: max_pool2d(
                    -x, kernel_size, stride, padding
                ),
            ),
            "stride": Mistake(
                "windows are `stride` apart, whatever their size.",
                lambda x, kernel_size, stride, padding: min_pool2d(
                    x, kernel_size, kernel_size, padding
                ),
            ),
        },
    ),
    Exercise(
        "1.7",
        layers_needed,
        (
            Stage("a reach of one pixel", lambda: [(1, 3, False)]),
            Stage("undilated layers", lambda: [(9, 3, False), (10, 3, False), (21, 5, False)]),
            Stage("doubling dilations", lambda: [(15, 3, True), (16, 3, True), (64, 2, True)]),
        ),
        {
            "kernel": Mistake(
                "a layer adds K - 1 pixels to the reach: the middle one was there before.",
                lambda length, kernel_size, doubling: (
                    math.ceil(math.log2((length - 1) / (kernel_size - 1) + 1))
                    if doubling
                    else math.ceil(length / kernel_size)
                ),
            ),
            "one short": Mistake(
                "the reach of your stack is still a little too short: may you round down?",
                lambda length, kernel_size, doubling: (
                    int(math.log2((length - 1) / (kernel_size - 1) + 1))
                    if doubling
                    else (length - 1) // (kernel_size - 1)
                ),
            ),
            "adds the kernel": Mistake(
                "a layer adds K - 1 steps, not K: one of its weights lies on what was seen before.",
                lambda length, kernel_size, doubling: layers_that_add(
                    length, kernel_size, 1, doubling
                ),
            ),
            "starts at 0": Mistake(
                "before the first layer an output already sees one step: its own.",
                lambda length, kernel_size, doubling: layers_that_add(
                    length, kernel_size - 1, 0, doubling
                ),
            ),
            "no doubling": Mistake(
                "with doubling dilations each layer adds twice what the one before added.",
                lambda length, kernel_size, doubling: layers_needed(length, kernel_size, False),
            ),
        },
        gradient=False,
    ),
    Exercise(
        "1.8",
        fold_batch_norm,
        (
            Stage("one channel", lambda: [batch_norm_inputs(1, 1, 1)]),
            Stage(
                "several channels", lambda: [batch_norm_inputs(3, 4, 2), batch_norm_inputs(2, 5, 3)]
            ),
        ),
        {
            "eps": Mistake("ε stands inside the root, beside the variance.", fold_with_eps_outside),
            "variance": Mistake(
                "normalisation divides by a deviation, and you have a variance.", fold_with_variance
            ),
            "old bias": Mistake(
                "the convolution had a bias before it was normalised; where did it go?",
                fold_without_old_bias,
            ),
            "eps forgotten": Mistake(
                "ε is missing: what if a channel never varied?",
                lambda weight, bias, mean, var, gamma, beta, eps: fold_batch_norm(
                    weight, bias, mean, var, gamma, beta, 0.0
                ),
            ),
            "gamma forgotten": Mistake(
                "the layer scales what it has normalised; where is γ?",
                lambda weight, bias, mean, var, gamma, beta, eps: fold_batch_norm(
                    weight, bias, mean, var, torch.ones_like(gamma), beta, eps
                ),
            ),
            "beta forgotten": Mistake(
                "the layer adds something last; where is β?",
                lambda weight, bias, mean, var, gamma, beta, eps: fold_batch_norm(
                    weight, bias, mean, var, gamma, 0 * beta, eps
                ),
            ),
            "mean forgotten": Mistake(
                "normalising begins by taking something away; where is μ?",
                lambda weight, bias, mean, var, gamma, beta, eps: fold_batch_norm(
                    weight, bias, 0 * mean, var, gamma, beta, eps
                ),
            ),
            "bias unscaled": Mistake(
                "the old bias is normalised and scaled like everything that the convolution gives.",
                fold_bias_unscaled,
            ),
        },
    ),
    Exercise(
        "1.9",
        weight_gradient,
        (
            Stage("one image, one channel", lambda: [(random(1, 1, 3, 3), random(1, 1, 2, 2))]),
            Stage(
                "several images and channels",
                lambda: [
                    (random(2, 3, 6, 5), random(2, 4, 5, 3)),
                    (random(3, 2, 7, 8), random(3, 5, 4, 6)),
                ],
            ),
        ),
        {
            "mean": Mistake(
                "the kernel is used for every image of the batch, and the contributions add up.",
                lambda x, grad_y: weight_gradient(x, grad_y) / x.shape[0],
            ),
            "flipped": Mistake(
                "the result is flipped: which pixel did the weight (u, v) meet at place (i, j)?",
                lambda x, grad_y: weight_gradient(x, grad_y).flip(2, 3),
            ),
            "last image": Mistake(
                "only one image counts; the kernel was used for all of the batch.",
                lambda x, grad_y: weight_gradient(x[-1:], grad_y[-1:]),
            ),
            "axes": Mistake(
                "input and output channels are exchanged; the gradient is shaped like the weight.",
                lambda x, grad_y: weight_gradient(x, grad_y).transpose(0, 1),
            ),
            "places averaged": Mistake(
                "every place where the kernel stands contributes in full; nothing is averaged.",
                lambda x, grad_y: weight_gradient(x, grad_y) / grad_y[0, 0].numel(),
            ),
        },
    ),
    Exercise(
        "1.10",
        blur_pool,
        (
            Stage("one channel", lambda: [(random(1, 1, 4, 4),)]),
            Stage(
                "several channels and odd sizes",
                lambda: [(random(2, 3, 5, 7),), (random(3, 2, 6, 5),)],
            ),
        ),
        {
            "not normalised": Mistake(
                "the picture gets brighter: a blur's weights sum to 1.",
                lambda x: blur(x, BINOMIAL)[:, :, ::2, ::2],
            ),
            "subsampled first": Mistake(
                "once every other pixel is gone, blurring can't bring it back: which comes first?",
                lambda x: blur(x[:, :, ::2, ::2], BINOMIAL / 16),
            ),
            "odd rows": Mistake(
                "row 0 and column 0 stay; you kept the odd ones.",
                lambda x: blur(x, BINOMIAL / 16)[:, :, 1::2, 1::2],
            ),
            "zero border": Mistake(
                "the border gets darker: it is to be reflected, not filled with zeros.",
                lambda x: depthwise_conv2d(
                    F.pad(x, [1] * 4), (BINOMIAL / 16).to(x.dtype).expand(x.shape[1], 3, 3)
                )[:, :, ::2, ::2],
            ),
            "not subsampled": Mistake(
                "blurred, but still of full size: every other row and column should go.",
                lambda x: blur(x, BINOMIAL / 16),
            ),
            "box": Mistake(
                "that is the mean of nine pixels; the middle should weigh four times a corner.",
                lambda x: blur(x, torch.ones(3, 3) / 9)[:, :, ::2, ::2],
            ),
        },
    ),
    Prediction(
        "1.11",
        smallest_move,
        {
            "one layer": Mistake("that is enough for the first layer alone.", 2),
            "sum": Mistake(
                "strides do not add up: what is a step of the second map, in pixels?", 3
            ),
            "any": Mistake("a picture that moves by one pixel falls between the places.", 1),
            "another layer": Mistake("there are two layers of stride 2, not three.", 8),
        },
    ),
)
