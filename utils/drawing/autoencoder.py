"""Day 13: a picture in a few dozen symbols: an encoder, a codebook, and a decoder.

Shapes: images (B, C, H, W) with H = W, a multiple of 4; a quarter of it is the side of the grid of
codes, which are (B, n), n = H/4 · W/4, row by row.
"""

import math
from typing import NamedTuple

from torch import Tensor, nn

from utils.arguments import check_sizes
from utils.convolution import ResidualBlock, conv_relu
from utils.drawing.codes import Codebook
from utils.drawing.gumbel import GumbelCodebook
from utils.vision.patch_embedding import check_type

STRIDE = 4  # pixels between codes, each way


class Reconstruction(NamedTuple):
    """What an autoencoder makes of images."""

    images: Tensor  # (B, C, H, W), in 0..1
    codes: Tensor  # (B, n)
    loss: Tensor  # the codebook's, one number


class VQAutoencoder(nn.Module):
    """Write a picture in codes, and draw it from them (van den Oord et al., 2017, §4.1).

    Day 1's convolutions, two of them of stride 2; the decoder doubles each side twice. Published
    autoencoders have other layers, so it takes no weights but those of its own kind.

    channels: C, of the images.
    codebook: a `Codebook`, or a `GumbelCodebook`.
    width: channels between the two strides; there are twice as many after the second.
    Shapes: images (B, C, H, W) to `Reconstruction`.
    Raises: ValueError if a size is below 1, or the images don't fit.
    """

    def __init__(self, channels: int, codebook: Codebook | GumbelCodebook, width: int = 32):
        super().__init__()
        check_sizes(channels=channels, width=width)
        self.channels, self.codebook = channels, codebook
        wide = 2 * width
        self.encoder = nn.Sequential(
            conv_relu(channels, width, 3, stride=2),
            conv_relu(width, wide, 3, stride=2),
            ResidualBlock(wide, normalise=False),
            nn.Conv2d(wide, codebook.in_channels, 1),
        )
        self.decoder = nn.Sequential(
            conv_relu(codebook.D, wide, 3),
            ResidualBlock(wide, normalise=False),
            nn.Upsample(scale_factor=2),  # each pixel becomes four
            conv_relu(wide, width, 3),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(width, channels, 3, padding=1),
            nn.Sigmoid(),
        )

    def forward(self, images: Tensor) -> Reconstruction:
        vectors, codes, loss = self.codebook(self.annotate(images))
        return Reconstruction(self.decoder(vectors), codes, loss)

    def annotate(self, images: Tensor) -> Tensor:
        """Return what the codebook reads, a vector for each place: (B, D, H/4, W/4)."""
        fits = images.dim() == 4 and images.shape[1] == self.channels and images.numel()
        if not fits or images.shape[2] != images.shape[3] or images.shape[2] % STRIDE:
            raise ValueError(
                f"Expected images (B, {self.channels}, H, W), H = W a multiple of {STRIDE}, got "
                f"{tuple(images.shape)}."
            )
        check_type(images, self.encoder)
        return self.encoder(images)

    def encode(self, images: Tensor) -> Tensor:
        """Return codes. Shapes: images (B, C, H, W) to (B, n)."""
        return self.codebook.choose(self.annotate(images))

    def decode(self, codes: Tensor) -> Tensor:
        """Draw the images of codes. Shapes: (B, n) to (B, C, H, W).

        Raises: ValueError if n is no square, or a code is none of the codebook's.
        """
        side = math.isqrt(codes.shape[-1]) if codes.dim() == 2 else 0
        if side == 0 or side**2 != codes.shape[1]:
            raise ValueError(f"Expected codes (B, n) of a square grid, got {tuple(codes.shape)}.")
        vectors = self.codebook.vectors(codes)  # (B, n, D)
        return self.decoder(vectors.mT.unflatten(2, (side, side)))
