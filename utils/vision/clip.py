"""Day 12: CLIP: one encoder for pictures, one for sentences, and what makes them agree."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_sizes
from utils.transformer import EncoderOnly, TransformerConfig, mean_pool
from utils.vision.contrastive import check_temperature
from utils.vision.vit import VisionTransformer

COLDEST = 0.01  # a temperature below it made training unstable (Radford et al., 2021, §2.5)


class CLIP(nn.Module):
    """Give pictures and sentences that belong together the same direction (Radford et al., 2021).

    image_encoder: gives vectors (B, E) of images (B, C, H, W).
    text_encoder: gives vectors (B, E) of ids (B, T) and lengths (B,).
    temperature: with which learning begins; it is learned, as a logarithm.
    Raises: ValueError as the encoders do, or if the temperature isn't positive.
    """

    def __init__(
        self, image_encoder: nn.Module, text_encoder: nn.Module, temperature: float = 0.07
    ):
        super().__init__()
        check_temperature(temperature)
        self.image_encoder, self.text_encoder = image_encoder, text_encoder
        self.log_scale = nn.Parameter(torch.tensor(-math.log(temperature)))

    @property
    def temperature(self) -> Tensor:
        """What cosines are divided by, at least 0.01."""
        return (-self.log_scale).exp().clamp(min=COLDEST)

    def encode_images(self, images: Tensor) -> Tensor:
        """Return unit vectors. Shapes: images (B, C, H, W) to (B, E)."""
        return F.normalize(self.image_encoder(images), dim=1)

    def encode_texts(self, ids: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Return unit vectors. Shapes: ids (B, T), padded behind, lengths (B,), to (B, E).

        Without lengths, `load_clip`'s encoder finds the ends, and Day 6's takes all of T for text.
        """
        return F.normalize(self.text_encoder(ids, lengths), dim=1)

    def forward(
        self, images: Tensor, ids: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return what `contrastive_loss` takes: both vectors, (B, E), and the temperature."""
        return self.encode_images(images), self.encode_texts(ids, lengths), self.temperature


def small_clip(
    vision: TransformerConfig,
    text: TransformerConfig,
    *,
    image_size: int,
    patch_size: int,
    width: int,
    channels: int = 3,
    pool: Callable[..., Tensor] = mean_pool,
) -> CLIP:
    """Return a CLIP of Day 6's blocks, untrained. width: E, of the space that both share.

    pool: makes one vector of a sentence's.
    Raises: ValueError if a size doesn't fit.
    """
    check_sizes(width=width)
    encoder = VisionTransformer(
        vision, channels=channels, image_size=image_size, patch_size=patch_size, n_classes=width
    )
    return CLIP(encoder, EncoderOnly(text, width, pool=pool))
