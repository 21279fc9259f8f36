"""Day 1: convolution. Read `layers` first, then `networks`."""

from utils.convolution.layers import (
    BatchNorm2d,
    CausalConv1d,
    Conv2d,
    ResidualBlock,
    avg_pool2d,
    conv2d,
    conv2d_loop,
    conv_output_size,
    max_pool2d,
    receptive_field,
    shifted_views,
)
from utils.convolution.networks import (
    AlexNet,
    DigitsNet,
    GoogLeNet,
    Inception,
    LeNet,
    RecallNet,
    SmallAlexNet,
    SmallGoogLeNet,
    conv_relu,
)

__all__ = [
    "AlexNet",
    "BatchNorm2d",
    "CausalConv1d",
    "Conv2d",
    "DigitsNet",
    "GoogLeNet",
    "Inception",
    "LeNet",
    "RecallNet",
    "ResidualBlock",
    "SmallAlexNet",
    "SmallGoogLeNet",
    "avg_pool2d",
    "conv2d",
    "conv2d_loop",
    "conv_output_size",
    "conv_relu",
    "max_pool2d",
    "receptive_field",
    "shifted_views",
]
