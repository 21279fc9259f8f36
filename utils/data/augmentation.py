"""More pictures from few: variants of a picture that mean the same."""

import torch
from torch import Tensor
from torch.nn import functional as F


def jitter(images: Tensor, turn: float = 12, stretch: float = 0.12, shift: float = 1) -> Tensor:
    """Turn, stretch, slant and move each image a little, at random.

    Shapes: images (B, C, H, W) to the same; what comes in from outside is 0.
    turn: degrees at most; stretch: share of the size at most, of slant too; shift: pixels at most.
    """
    batch_size, _, height, width = images.shape

    def draw(most: float) -> Tensor:
        return (2 * torch.rand(batch_size) - 1) * most

    angle, slant = torch.deg2rad(draw(turn)), draw(stretch)
    across, down = 1 + draw(stretch), 1 + draw(stretch)
    cos, sin = torch.cos(angle), torch.sin(angle)
    # rows of the matrix that says where each output pixel looks; the image spans -1 to 1
    row_x = torch.stack([cos * across, (slant * cos - sin) * down, draw(2 * shift / width)], dim=1)
    row_y = torch.stack([sin * across, (slant * sin + cos) * down, draw(2 * shift / height)], dim=1)
    grid = F.affine_grid(
        torch.stack([row_x, row_y], dim=1), list(images.shape), align_corners=False
    )
    return F.grid_sample(images, grid.to(images), align_corners=False)
