"""A blur, and then every other row and column."""

import torch
from torch import Tensor
from torch.nn import functional as F

from utils.exercises.checking import Exercise, random
from utils.exercises.convolution.depthwise_convolution import depthwise_conv2d

BINOMIAL = torch.tensor([[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]], dtype=torch.float64)


def blur_pool(x: Tensor) -> Tensor:
    """Blur each channel by [1, 2, 1]ᵀ[1, 2, 1] / 16, reflected at the border; keep rows 0, 2, 4, …

    Shapes: x (B, C, H, W). Returns: (B, C, ⌈H/2⌉, ⌈W/2⌉).
    """
    return blur(x, BINOMIAL / 16)[:, :, ::2, ::2]


def blur(x: Tensor, kernel: Tensor, border: str = "reflect") -> Tensor:
    padded = F.pad(x, [1] * 4, mode=border)
    return depthwise_conv2d(padded, kernel.to(x.dtype).expand(x.shape[1], 3, 3))


exercise = Exercise(blur_pool)


# What it is tried on ------------------------------------------------------------------------------


@exercise.stage("one channel")
def one_channel():
    return [(random(1, 1, 4, 4),)]


@exercise.stage("several channels and odd sizes")
def several_channels():
    return [(random(2, 3, 5, 7),), (random(3, 2, 6, 5),)]


# What goes wrong ----------------------------------------------------------------------------------


@exercise.mistake("the picture gets brighter: a blur's weights sum to 1.")
def not_normalised(x):
    return blur(x, BINOMIAL)[:, :, ::2, ::2]


@exercise.mistake(
    "once every other pixel is gone, blurring can't bring it back: which comes first?"
)
def subsampled_first(x):
    return blur(x[:, :, ::2, ::2], BINOMIAL / 16)


@exercise.mistake("row 0 and column 0 stay; you kept the odd ones.")
def odd_rows(x):
    return blur(x, BINOMIAL / 16)[:, :, 1::2, 1::2]


@exercise.mistake("the border gets darker: it should be reflected, not filled with zeros.")
def zero_border(x):
    return blur(x, BINOMIAL / 16, border="constant")[:, :, ::2, ::2]


@exercise.mistake("blurred, but still full size: every other row and column should go.")
def not_subsampled(x):
    return blur(x, BINOMIAL / 16)


@exercise.mistake("that is the mean of nine pixels; the middle should weigh four times a corner.")
def box(x):
    return blur(x, torch.ones_like(BINOMIAL) / 9)[:, :, ::2, ::2]


@exercise.mistake("every other pixel is dropped as it is: what should come before that?")
def not_blurred(x):
    return x[:, :, ::2, ::2]


@exercise.mistake("the border is repeated: a reflection starts with the pixel next to it.")
def repeated_border(x):
    return blur(x, BINOMIAL / 16, border="replicate")[:, :, ::2, ::2]


@exercise.mistake(
    "one kernel for a picture of several channels: a convolution would mix them. Which argument "
    "keeps them in groups?"
)
def groups_forgotten(x):
    kernel = (BINOMIAL / 16).to(x.dtype)[None, None]
    return F.conv2d(F.pad(x, [1] * 4, mode="reflect"), kernel, stride=2)


@exercise.mistake("only every other row is left out: every other column should go, too.")
def rows_only(x):
    return blur(x, BINOMIAL / 16)[:, :, ::2]


@exercise.mistake("only every other column is left out: every other row should go, too.")
def columns_only(x):
    return blur(x, BINOMIAL / 16)[..., ::2]


@exercise.mistake("you blur along the rows only: a pixel has neighbours above and below, too.")
def along_rows_only(x):
    return F.conv2d(
        F.pad(x, (1, 1, 0, 0), mode="reflect").flatten(0, 1)[:, None],
        (torch.tensor([[[[1.0, 2, 1]]]]) / 4).to(x),
    ).view(x.shape)[:, :, ::2, ::2]


@exercise.mistake("without a reflected border, the blur loses the outermost pixels.")
def no_border(x):
    return depthwise_conv2d(x, (BINOMIAL / 16).to(x.dtype).expand(x.shape[1], 3, 3))[:, :, ::2, ::2]


@exercise.mistake("that is the mean of two by two pixels: the blur weights three by three.")
def mean_pooled(x):
    return F.avg_pool2d(x, 2, ceil_mode=True)


@exercise.mistake("you divide by 9, the number of weights: what is their sum?")
def divided_by_9(x):
    return blur(x, BINOMIAL / 9)[:, :, ::2, ::2]
