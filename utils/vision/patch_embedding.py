"""Day 12: a picture as a sentence: its patches in a row, each a vector, as words are.

Shapes: images (B, C, H, W); P is the side of a patch, N = H/P · W/P patches go row by row, from the
top left to the bottom right. The numbers of a patch are channel by channel, in each row by row, as
the weights of a convolution are.
"""

import math

import torch
from torch import Tensor, nn

from utils.arguments import check_plain, check_sizes


def patches(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into patches (Dosovitskiy et al., 2021, §3.1).

    Shapes: images (B, C, H, W) to (B, N, C·P·P).
    Raises: ValueError if there is no image, or the images have other axes, or sides that aren't
        multiples of the patch's.
    """
    check_sizes(patch_size=patch_size)
    P = patch_size
    if images.dim() != 4 or 0 in images.shape or images.shape[2] % P or images.shape[3] % P:
        raise ValueError(
            "Expected at least one image (B, C, H, W) whose sides are multiples of the patch's "
            f"side of {P}, got {tuple(images.shape)}."
        )
    B, C, H, W = images.shape
    cut = images.reshape(B, C, H // P, P, W // P, P)
    return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * P * P)


def unpatch(patches: Tensor, C: int, H: int, W: int) -> Tensor:
    """Put patches together: the images that they were cut from.

    Shapes: patches (B, N, C·P·P) to (B, C, H, W).
    Raises: ValueError if no side of a patch gives images of this size.
    """
    check_sizes(C=C, H=H, W=W)
    P = math.isqrt(patches.shape[-1] // C)
    if patches.dim() != 3 or P < 1 or patches.shape[1:] != (H // P * (W // P), C * P * P):
        raise ValueError(f"Patches {tuple(patches.shape)} don't make images of {(C, H, W)}.")
    grid = patches.reshape(len(patches), H // P, W // P, C, P, P)
    return grid.permute(0, 3, 1, 4, 2, 5).reshape(len(patches), C, H, W)


class PatchEmbedding(nn.Module):
    """One matrix makes vectors of patches, and a learned vector stands in front (ibid., eq. 1).

    The positions are added by the encoder, as for words. A convolution whose stride is its kernel
    size gives the same numbers.

    class_token: whether a vector of its own stands in front, from which the class is read.
    Shapes: images (B, channels, H, W) to (B, 1 + N, d_model), or (B, N, d_model) without it.
    Raises: ValueError as `patches` does, or if a size is below 1, or for other channels or numbers
        of another type than the weights'.
    """

    def __init__(
        self,
        channels: int,
        patch_size: int,
        d_model: int,
        *,
        class_token: bool = True,
        bias: bool = True,
    ):
        super().__init__()
        check_sizes(channels=channels, patch_size=patch_size, d_model=d_model)
        self.channels, self.patch_size = channels, patch_size
        self.linear = nn.Linear(channels * patch_size**2, d_model, bias)
        self.class_token = nn.Parameter(torch.zeros(d_model)) if class_token else None

    def forward(self, images: Tensor) -> Tensor:
        if images.dim() != 4 or images.shape[1] != self.channels:
            raise ValueError(
                f"Expected images (B, {self.channels}, H, W), got {tuple(images.shape)}."
            )
        check_type(images, self)
        x = self.linear(patches(images, self.patch_size))
        if self.class_token is None:
            return x
        return torch.cat([self.class_token.expand(len(x), 1, -1), x], dim=1)

    def load_library(self, library: nn.Conv2d) -> None:
        """Take the weights of a convolution that stands on each patch once.

        Raises: ValueError if it has other channels, another width or bias, or doesn't do that.
        """
        check_plain(library, nn.Conv2d)
        P, given = self.patch_size, tuple(library.weight.shape)
        wanted = (self.linear.out_features, self.channels, P, P)
        plain = library.padding in ((0, 0), "valid") and library.dilation == (1, 1)
        plain = plain and library.groups == 1
        has_bias = (library.bias is None) == (self.linear.bias is None)
        if given != wanted or library.stride != (P, P) or not (plain and has_bias):
            raise ValueError(
                f"Expected a convolution with weights {wanted}, a stride of {P}, no padding, one "
                f"group and {'a' if self.linear.bias is not None else 'no'} bias, got {library}."
            )
        with torch.no_grad():
            self.linear.weight.copy_(library.weight.flatten(1))
            if library.bias is not None:
                self.linear.bias.copy_(library.bias)


def check_type(images: Tensor, reader: nn.Module) -> None:
    """Raise a ValueError if images are of another type than the weights that read them."""
    wanted = next(reader.parameters()).dtype
    if images.dtype != wanted and not torch.is_autocast_enabled(images.device.type):
        raise ValueError(
            f"Expected images of {wanted}, as the weights are, got {images.dtype}: write "
            f"images.to({wanted}), and divide bytes, from 0 to 255, by 255."
        )
