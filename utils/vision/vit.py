"""Day 12: the Vision Transformer: Day 6's encoder reads patches where it read words."""

from dataclasses import replace

from torch import Tensor

from utils.arguments import check_choice, check_sizes
from utils.classification import first_pool
from utils.transformer import EncoderOnly, Parts, TransformerConfig
from utils.transformer.config import PAPERS
from utils.vision.patch_embedding import PatchEmbedding


def patches_pool(x: Tensor, lengths: None = None) -> Tensor:
    """Return the mean of all patches, without the class token. Shapes: (B, 1 + N, D) to (B, D)."""
    return x[:, 1:].mean(dim=1)


POOLS = {"class": first_pool, "mean": patches_pool}


class VisionTransformer(EncoderOnly):
    """Say what a picture shows (Dosovitskiy et al., 2021, §3.1).

    It is Day 6's `EncoderOnly` with patches for words; the paper's has `norm="pre"` and
    `activation="gelu"`.

    config: sizes and choices; its vocabulary isn't used, and its positions are learned ones, as
        many as there are patches and the class token.
    image_size: H = W, a multiple of patch_size.
    pool: "class", as in the paper, or "mean" over the patches (ibid., appendix D.3).
    Shapes: images (B, channels, H, W) to logits (B, n_classes), and all weights
        (B, L, h, 1 + N, 1 + N) if they are needed.
    Raises: ValueError if a size doesn't fit, a choice is unknown, or an image has another size.
    """

    def __init__(
        self,
        config: TransformerConfig,
        *,
        channels: int,
        image_size: int,
        patch_size: int,
        n_classes: int,
        pool: str = "class",
        parts: Parts = PAPERS,
    ):
        check_sizes(image_size=image_size, patch_size=patch_size)
        check_choice("pool", pool, POOLS)
        if image_size % patch_size:
            raise ValueError(f"Patches of {patch_size} don't divide a picture of {image_size}.")
        n_positions = 1 + (image_size // patch_size) ** 2
        super().__init__(
            replace(config, positions="learned", max_len=n_positions),
            n_classes,
            parts._replace(embedding=lambda _, D: PatchEmbedding(channels, patch_size, D)),
            POOLS[pool],
        )
        self.image_size = image_size

    def forward(self, images: Tensor, need_weights: bool = False) -> Tensor | tuple[Tensor, Tensor]:
        if images.shape[2:] != (self.image_size, self.image_size):
            raise ValueError(
                f"Expected images of {self.image_size} × {self.image_size} pixels, got "
                f"{tuple(images.shape)}."
            )
        return super().forward(images, None, need_weights)
