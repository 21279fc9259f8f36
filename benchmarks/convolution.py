"""Day 1: the convolution in the setting of the lesson, pooling and batch normalisation."""

from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.runner import Case, with_parameters
from utils.convolution import BatchNorm2d, avg_pool2d, conv2d, conv2d_loop, max_pool2d

GENERATOR = torch.Generator().manual_seed(0)
draw = partial(torch.randn, generator=GENERATOR)

IMAGES = draw(32, 16, 28, 28)
RECOMMENDED = Case(
    "conv2d 3×3, padding 1 (recommended)",
    partial(conv2d, padding=1),
    partial(F.conv2d, padding=1),
    (IMAGES, draw(16, 16, 3, 3), draw(16)),
    bound=2,
)


def convolution(name: str, kernel_size: int, **how: int) -> Case:
    inputs = (IMAGES, draw(16, 16, kernel_size, kernel_size), draw(16))
    return Case(name, partial(conv2d, **how), partial(F.conv2d, **how), inputs)


CASES = [
    RECOMMENDED,
    convolution("conv2d 3×3, stride 2, padding 1", 3, stride=2, padding=1),
    convolution("conv2d 3×3, dilation 2, padding 2", 3, dilation=2, padding=2),
    convolution("conv2d 1×1", 1),
    Case(
        "conv2d_loop 3×3 (naive: to read, not to use), 2×3×10×10",
        conv2d_loop,
        F.conv2d,
        (draw(2, 3, 10, 10), draw(4, 3, 3, 3), draw(4)),
    ),
    Case(
        "max_pool2d 2×2",
        partial(max_pool2d, kernel_size=2),
        partial(F.max_pool2d, kernel_size=2),
        (IMAGES,),
    ),
    Case(
        "avg_pool2d 2×2",
        partial(avg_pool2d, kernel_size=2),
        partial(F.avg_pool2d, kernel_size=2),
        (IMAGES,),
    ),
    Case(
        "BatchNorm2d, training",
        with_parameters(BatchNorm2d(16), ["weight", "bias"]),
        with_parameters(nn.BatchNorm2d(16), ["weight", "bias"]),
        (IMAGES, draw(16), draw(16)),
    ),
]
