"""Day 1: networks of convolutions, from LeNet to GoogLeNet, and those that the lesson trains.

They are made of the library's layers, which give the same numbers as ours and are faster.
"""

import torch
from torch import Tensor, nn

from utils.convolution.layers import CausalConv1d


class LeNet(nn.Sequential):
    """LeNet-5 with full connections between its maps (after LeCun et al., 1998, fig. 2).

    Shapes: x (B, 1, 32, 32) to logits (B, n_classes).
    """

    def __init__(self, n_classes: int = 10):
        super().__init__(
            *[nn.Conv2d(1, 6, 5), nn.Tanh(), nn.AvgPool2d(2)],
            *[nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2)],
            *[nn.Conv2d(16, 120, 5), nn.Tanh(), nn.Flatten()],
            *[nn.Linear(120, 84), nn.Tanh(), nn.Linear(84, n_classes)],
        )


def conv_relu(
    in_channels: int, out_channels: int, kernel_size: int, stride: int = 1, normalise: bool = False
) -> nn.Sequential:
    """Return a convolution that keeps the image's size at stride 1, and a ReLU.

    normalise: with batch normalisation in between, which makes the convolution's bias idle.
    """
    conv = nn.Conv2d(
        in_channels, out_channels, kernel_size, stride, kernel_size // 2, bias=not normalise
    )
    return nn.Sequential(conv, *([nn.BatchNorm2d(out_channels)] if normalise else []), nn.ReLU())


class DigitsNet(nn.Sequential):
    """Read handwritten digits of 8×8 pixels: three convolutions and one dense layer.

    Shapes: x (B, 1, 8, 8) to logits (B, n_classes).
    """

    def __init__(self, width: int = 24, n_classes: int = 10):
        super().__init__(
            conv_relu(1, width, 3, normalise=True),
            conv_relu(width, width, 3, normalise=True),
            nn.MaxPool2d(2),
            conv_relu(width, 2 * width, 3, normalise=True),
            *[nn.Flatten(), nn.Dropout(0.3), nn.Linear(2 * width * 4 * 4, n_classes)],
        )


class AlexNet(nn.Sequential):
    """AlexNet in one stream, with the widths that libraries use (after Krizhevsky, 2014).

    The paper of 2014 has 384 channels in the fourth layer; `widths` of 2012 are 96, 256, 384, 384,
    256.

    Shapes: x (B, 3, 224, 224) to logits (B, n_classes).
    """

    def __init__(
        self,
        widths: tuple[int, int, int, int, int] = (64, 192, 384, 256, 256),
        n_classes: int = 1000,
    ):
        a, b, c, d, e = widths
        super().__init__(
            *[nn.Conv2d(3, a, 11, stride=4, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2)],
            *[nn.Conv2d(a, b, 5, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2)],
            *[nn.Conv2d(b, c, 3, padding=1), nn.ReLU()],
            *[nn.Conv2d(c, d, 3, padding=1), nn.ReLU()],
            *[nn.Conv2d(d, e, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2), nn.Flatten()],
            *[nn.Dropout(), nn.Linear(e * 6 * 6, 4096), nn.ReLU()],
            *[nn.Dropout(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, n_classes)],
        )


class Inception(nn.Module):
    """Look at several scales side by side (Szegedy et al., 2015, fig. 2b).

    `n1`, `n3`, `n5`, `n_pool` are the channels that the 1×1, 3×3, 5×5 and pooling branches give;
    `r3`, `r5` those to which a 1×1 convolution first reduces the input of 3×3 and 5×5.
    Shapes: x (B, C, H, W) to (B, n1 + n3 + n5 + n_pool, H, W).
    """

    def __init__(
        self,
        C: int,
        n1: int,
        r3: int,
        n3: int,
        r5: int,
        n5: int,
        n_pool: int,
        normalise: bool = False,
    ):
        super().__init__()

        def conv(in_channels: int, out_channels: int, kernel_size: int) -> nn.Sequential:
            return conv_relu(in_channels, out_channels, kernel_size, normalise=normalise)

        self.branches = nn.ModuleList(
            [
                conv(C, n1, 1),
                nn.Sequential(conv(C, r3, 1), conv(r3, n3, 3)),
                nn.Sequential(conv(C, r5, 1), conv(r5, n5, 5)),
                nn.Sequential(nn.MaxPool2d(3, 1, padding=1), conv(C, n_pool, 1)),
            ]
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([branch(x) for branch in self.branches], dim=1)


class GoogLeNet(nn.Sequential):
    """GoogLeNet without its auxiliary classifiers (Szegedy et al., 2015, table 1).

    Shapes: x (B, 3, 224, 224) to logits (B, n_classes).
    """

    def __init__(self, n_classes: int = 1000):
        def pool():
            return nn.MaxPool2d(3, 2, ceil_mode=True)

        super().__init__(
            *[conv_relu(3, 64, 7, 2), pool(), nn.LocalResponseNorm(5)],
            *[conv_relu(64, 64, 1), conv_relu(64, 192, 3), nn.LocalResponseNorm(5), pool()],
            Inception(192, 64, 96, 128, 16, 32, 32),  # 3a
            Inception(256, 128, 128, 192, 32, 96, 64),
            pool(),
            Inception(480, 192, 96, 208, 16, 48, 64),  # 4a
            Inception(512, 160, 112, 224, 24, 64, 64),
            Inception(512, 128, 128, 256, 24, 64, 64),
            Inception(512, 112, 144, 288, 32, 64, 64),
            Inception(528, 256, 160, 320, 32, 128, 128),
            pool(),
            Inception(832, 256, 160, 320, 32, 128, 128),  # 5a
            Inception(832, 384, 192, 384, 48, 128, 128),
            *[nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.4), nn.Linear(1024, n_classes)],
        )


class SmallAlexNet(nn.Sequential):
    """AlexNet's five convolutions, normalised, and its dense layers, for digits of 8×8 pixels.

    Shapes: x (B, 1, 8, 8) to logits (B, n_classes).
    """

    def __init__(self, n_classes: int = 10):
        super().__init__(
            conv_relu(1, 16, 3, normalise=True),
            *[conv_relu(16, 32, 3, normalise=True), nn.MaxPool2d(2)],
            conv_relu(32, 48, 3, normalise=True),
            conv_relu(48, 32, 3, normalise=True),
            *[conv_relu(32, 32, 3, normalise=True), nn.MaxPool2d(2), nn.Flatten()],
            *[nn.Dropout(0.3), nn.Linear(32 * 2 * 2, 128), nn.ReLU()],
            *[nn.Dropout(0.3), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, n_classes)],
        )


class SmallGoogLeNet(nn.Sequential):
    """Three normalised Inception blocks and the mean of each map, for digits of 8×8 pixels.

    Shapes: x (B, 1, 8, 8) to logits (B, n_classes).
    """

    def __init__(self, n_classes: int = 10):
        super().__init__(
            conv_relu(1, 24, 3, normalise=True),
            *[Inception(24, 12, 12, 24, 8, 12, 12, normalise=True), nn.MaxPool2d(2)],
            Inception(60, 24, 24, 48, 8, 12, 12, normalise=True),
            Inception(96, 32, 24, 64, 8, 16, 16, normalise=True),
            *[nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.3), nn.Linear(128, n_classes)],
        )


class RecallNet(nn.Module):
    """A stack of causal convolutions of width 2 that answers from its last step.

    doubling: dilations of 1, 2, 4, … instead of 1, so that it can see 2**n_layers steps.
    Shapes: x (B, n_symbols, T) to logits (B, n_symbols).
    """

    def __init__(self, n_layers: int, doubling: bool, n_symbols: int = 4, width: int = 32):
        super().__init__()
        layers: list[nn.Module] = []
        for layer in range(n_layers):
            channels = width if layer else n_symbols
            layers.append(CausalConv1d(channels, width, 2, dilation=2**layer if doubling else 1))
            layers.append(nn.ReLU())
        self.layers = nn.Sequential(*layers)
        self.answer = nn.Linear(width, n_symbols)

    def forward(self, x: Tensor) -> Tensor:
        return self.answer(self.layers(x)[:, :, -1])
