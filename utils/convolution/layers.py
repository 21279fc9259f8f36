"""Day 1: the convolution and the layers around it, from a loop over pixels on.

Shapes: an image batch is (B, C, H, W). A kernel is (C_out, C, K, K): one weight for each output
channel, input channel, row and column. Deep learning's "convolution" is a cross-correlation: the
kernel is laid on the image as it is, not flipped.
"""

import math
from numbers import Real

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_at_least, check_sizes


def conv_output_size(
    size: int, kernel_size: int, stride: int = 1, padding: int = 0, dilation: int = 1
) -> int:
    """Return how many places a kernel can stand in along one side (Dumoulin & Visin, 2016, §5.1).

    Raises: ValueError if the dilated kernel is larger than the padded image, or a number too small.
    """
    if min(kernel_size, stride, dilation) < 1 or padding < 0:
        raise ValueError(
            "Kernel size, stride and dilation are at least 1 and padding at least 0, "
            f"got {kernel_size}, {stride}, {dilation} and {padding}."
        )
    reach = dilation * (kernel_size - 1) + 1  # pixels from the kernel's first to its last weight
    if reach > size + 2 * padding:
        raise ValueError(
            f"A kernel that reaches over {reach} pixels does not fit into {size} pixels with "
            f"padding {padding}: use a smaller kernel or dilation, or more padding."
        )
    return (size + 2 * padding - reach) // stride + 1


def conv2d_loop(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Cross-correlate by four nested loops: slow, and the definition (no stride, no padding).

    Shapes: x (B, C, H, W), weight (C_out, C, K, K), bias (C_out,).
    Returns: (B, C_out, H - K + 1, W - K + 1).
    """
    check_kernels(x, weight, bias)
    batch_size, _, height, width = x.shape
    out_channels, _, K, K_w = weight.shape
    y = x.new_zeros(
        batch_size, out_channels, conv_output_size(height, K), conv_output_size(width, K_w)
    )
    for b in range(batch_size):
        for o in range(out_channels):
            for i in range(y.shape[2]):
                for j in range(y.shape[3]):
                    y[b, o, i, j] = (x[b, :, i : i + K, j : j + K_w] * weight[o]).sum()
    return y if bias is None else y + bias[:, None, None]


def pixels_met(size: int, kernel_size: int, stride: int = 1, dilation: int = 1) -> list[slice]:
    """Return, for each weight along one side of the kernel, the pixels that it meets."""
    places = conv_output_size(size, kernel_size, stride, dilation=dilation)
    starts = range(0, dilation * kernel_size, dilation)
    return [slice(start, start + stride * (places - 1) + 1, stride) for start in starts]


def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
) -> Tensor:
    """Cross-correlate with one matrix product a kernel row (after Chellapilla et al., 2006).

    Shapes: x (B, C, H, W), weight (C_out, C, K, K), bias (C_out,).
    Returns: (B, C_out, H_out, W_out), sizes by `conv_output_size`.
    Raises: ValueError if the channels disagree or the kernel does not fit into the image.
    """
    check_kernels(x, weight, bias, padding)
    x = F.pad(x, (padding, padding, padding, padding))
    rows = pixels_met(x.shape[2], weight.shape[2], stride, dilation)
    columns = pixels_met(x.shape[3], weight.shape[3], stride, dilation)
    shifted = torch.cat([x[..., v] for v in columns], dim=1)  # (B, K·C, H, W_out)
    y = (x.new_zeros(len(weight)) if bias is None else bias)[:, None]
    for u, row in enumerate(rows):
        kernel_row = weight[:, :, u].transpose(1, 2).flatten(1)  # (C_out, K·C)
        met = shifted[:, :, row].flatten(2)  # (B, K·C, H_out·W_out)
        y = torch.baddbmm(y, kernel_row.expand(len(x), -1, -1), met)  # y + kernel_row @ met
    return y.unflatten(2, (-1, shifted.shape[3]))


class Conv2d(nn.Module):
    """Convolution layer with He's initialisation (He et al., 2015, eq. 10).

    Shapes: x (B, C, H, W) to (B, C_out, H_out, W_out). Loads the weights of `nn.Conv2d`.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        bias: bool = True,
    ):
        super().__init__()
        self.stride, self.padding, self.dilation = stride, padding, dilation
        fan_in = in_channels * kernel_size**2
        weight = torch.randn(out_channels, in_channels, kernel_size, kernel_size)
        self.weight = nn.Parameter(weight * math.sqrt(2 / fan_in))
        self.bias = nn.Parameter(torch.zeros(out_channels)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        return conv2d(x, self.weight, self.bias, self.stride, self.padding, self.dilation)


def shifted_views(x: Tensor, kernel_size: int, stride: int) -> Tensor:
    """Collect what each place (u, v) in a window sees: the image shifted by (u, v).

    Shapes: x (B, C, H, W). Returns: (K·K, B, C, H_out, W_out).
    """
    check_images(x)
    rows, columns = (pixels_met(size, kernel_size, stride) for size in x.shape[2:])
    return torch.stack([x[:, :, u, v] for u in rows for v in columns])


def max_pool2d(x: Tensor, kernel_size: int, stride: int | None = None, padding: int = 0) -> Tensor:
    """Keep the largest value of each window; what is padded never wins.

    Shapes: x (B, C, H, W) to (B, C, H_out, W_out). The stride is the window's size unless given.
    Raises: ValueError if a window does not fit, or could lie in the padding alone.
    """
    check_at_least(0, "padding", padding)
    if padding > kernel_size // 2:
        raise ValueError(f"Padding {padding} is more than half of the window's {kernel_size}.")
    x = F.pad(x, (padding, padding, padding, padding), value=-math.inf)
    stride = kernel_size if stride is None else stride
    return shifted_views(x, kernel_size, stride).max(dim=0).values


def avg_pool2d(x: Tensor, kernel_size: int, stride: int | None = None) -> Tensor:
    """Average each window. Shapes: x (B, C, H, W) to (B, C, H_out, W_out)."""
    stride = kernel_size if stride is None else stride
    return shifted_views(x, kernel_size, stride).mean(dim=0)


def receptive_field(layers: list[tuple[int, int, int]]) -> int:
    """Return how many input pixels along one side a unit of the last layer can see.

    A layer is (kernel size, stride, dilation). Each adds dilation · (kernel - 1) steps, and a step
    is as wide as the product of all strides before it (Araujo et al., 2019, eq. 2).
    Raises: ValueError if one of these is below 1.
    """
    field, step = 1, 1
    for kernel_size, stride, dilation in layers:
        check_sizes(kernel_size=kernel_size, stride=stride, dilation=dilation)
        field += dilation * (kernel_size - 1) * step
        step *= stride
    return field


class BatchNorm2d(nn.Module):
    """Normalise each channel over batch and image (Ioffe & Szegedy, 2015, Algorithms 1 and 2).

    Shapes: x (B, C, H, W) to the same. Loads the weights of `nn.BatchNorm2d` of equal eps.
    Raises: ValueError if the channels disagree, a single value has no variance, or momentum is no
    number from 0 to 1 (the library's None averages over all batches).
    """

    def __init__(self, channels: int, momentum: float = 0.1, eps: float = 1e-5):
        super().__init__()
        check_momentum(momentum)
        self.momentum, self.eps = momentum, eps
        self.weight = nn.Parameter(torch.ones(channels))  # γ
        self.bias = nn.Parameter(torch.zeros(channels))  # β
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))
        self.register_buffer("num_batches_tracked", torch.tensor(0))  # the library stores it

    def forward(self, x: Tensor) -> Tensor:
        check_images(x, len(self.weight))
        mean, var, dtype = self.running_mean, self.running_var, x.dtype
        x = x.to(torch.promote_types(dtype, mean.dtype))  # of mixed precision, statistics in full
        n = x.numel() // x.shape[1]
        if self.training and n > 0:
            check_spread(x)
            mean = x.mean(dim=(0, 2, 3))
            var = x.var(dim=(0, 2, 3), correction=0)
            with torch.no_grad():
                self.running_mean.lerp_(mean, self.momentum)
                self.running_var.lerp_(var * n / (n - 1), self.momentum)
                self.num_batches_tracked += 1
        x_hat = (x - mean[:, None, None]) / torch.sqrt(var + self.eps)[:, None, None]
        return (self.weight[:, None, None] * x_hat + self.bias[:, None, None]).to(dtype)


class ResidualBlock(nn.Module):
    """Two 3×3 convolutions and a road around them: y = ReLU(x + f(x)) (He et al., 2016, eq. 1).

    normalise: with batch normalisation, which makes the convolutions' biases idle.
    Shapes: x (B, C, H, W) to the same.
    """

    def __init__(self, channels: int, normalise: bool = True):
        super().__init__()

        def conv() -> list[nn.Module]:
            layer = nn.Conv2d(channels, channels, 3, padding=1, bias=not normalise)
            return [layer, nn.BatchNorm2d(channels)] if normalise else [layer]

        self.f = nn.Sequential(*conv(), nn.ReLU(), *conv())

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x + self.f(x))


class CausalConv1d(nn.Conv1d):
    """Convolve over time so that no output sees what comes after it (van den Oord et al., 2016).

    Shapes: x (B, C, T) to (B, C_out, T). Raises: ValueError if it is to be padded besides.
    """

    def forward(self, x: Tensor) -> Tensor:
        check_unpadded(self.padding)
        return super().forward(F.pad(x, (self.dilation[0] * (self.kernel_size[0] - 1), 0)))


def check_kernels(x: Tensor, weight: Tensor, bias: Tensor | None, padding: int = 0) -> None:
    """Raise a ValueError if images, kernels and bias disagree."""
    if x.dim() != 4 or weight.dim() != 4:
        raise ValueError(
            f"Expected images (B, C, H, W) and kernels (C_out, C, K, K), got {tuple(x.shape)} "
            f"and {tuple(weight.shape)}."
        )
    if x.shape[1] != weight.shape[1]:
        raise ValueError(
            f"The images have {x.shape[1]} channels, the kernels expect {weight.shape[1]}."
        )
    if bias is not None and bias.shape != weight.shape[:1]:  # it would broadcast in silence
        raise ValueError(
            f"Expected a bias of shape ({len(weight)},), one for each output channel, "
            f"got {tuple(bias.shape)}."
        )
    check_at_least(0, "padding", padding)


def check_images(x: Tensor, channels: int | str = "C") -> None:
    """Raise a ValueError if this is no batch of images with so many channels."""
    if x.dim() != 4 or channels not in ("C", x.shape[1]):
        raise ValueError(f"Expected images (B, {channels}, H, W), got {tuple(x.shape)}.")


def check_momentum(momentum: float) -> None:
    """Raise a ValueError if running averages can't move by this share."""
    if not isinstance(momentum, Real) or not 0 <= momentum <= 1:
        raise ValueError(f"The momentum is a number from 0 to 1, got {momentum}.")


def check_spread(x: Tensor) -> None:
    """Raise a ValueError if each channel (B, C, ...) has a single value, so no variance."""
    if x.numel() == x.shape[1]:
        raise ValueError("Batch normalisation needs more than one value a channel.")


def check_unpadded(padding: tuple[int] | str) -> None:
    """Raise a ValueError if a causal convolution is to be padded on both sides."""
    if padding not in ((0,), "valid"):
        raise ValueError(
            f"A causal convolution is padded in front, by itself, got a padding of {padding}: "
            "leave it out."
        )
