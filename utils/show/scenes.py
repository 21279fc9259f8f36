"""Pictures beside the sentences that may describe them."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from utils.show.plotting import SIGNED, WIDTH, heat_map


def fits(pictures: Tensor, sentences: Sequence[str], cosines: Tensor) -> Axes:
    """Show how well each picture (a column, under its picture) fits each sentence (a row).

    Shapes: pictures (B, 3, H, W), cosines (B, n) for n sentences.
    Raises: ValueError if the cosines don't fit.
    """
    B, n = len(pictures), len(sentences)
    if cosines.shape != (B, n):
        raise ValueError(f"{B} pictures and {n} sentences: no cosines {tuple(cosines.shape)}.")
    ax = plt.subplots(figsize=(WIDTH, 1.2 + 0.42 * n))[1]
    heat_map(cosines.T, rows=sentences, xlabel="", ylabel="", value_label="cosine", ax=ax)
    ax.set_xticks([])
    for i, picture in enumerate(pictures):
        above = ax.inset_axes((i + 0.06, -1.0, 0.88, 0.94), transform=ax.transData)
        above.imshow(picture.permute(1, 2, 0).numpy())
        above.axis("off")
    return ax


def decided(picture: Tensor, maps: Mapping[str, Tensor], label: str) -> Figure:
    """Show a picture, and maps of what its patches speak for (purple) or against (orange).

    Shapes: picture (3, H, W), maps {title: (rows, columns)}. label: what the numbers are.
    """
    down = -(-len(maps) // 2)
    figure, grid = plt.subplots(down, 3, figsize=(WIDTH, 2.3 * down), squeeze=False)
    H, W = picture.shape[1:]
    most = max(one.abs().max().item() for one in maps.values())
    grid[0, 0].imshow(picture.permute(1, 2, 0).numpy(), extent=(0, W, H, 0))
    for ax, (title, one) in zip(grid[:, 1:].flat, maps.items(), strict=False):
        form = {"cmap": SIGNED, "vmin": -most, "vmax": most, "extent": (0, W, H, 0)}
        shown = ax.imshow(one.numpy(), **form)
        ax.contour(picture.amax(dim=0).numpy(), [0.3], extent=(0, W, 0, H), colors="gray")
        ax.set_title(title)
    for ax in grid.flat:
        ax.axis("off")
    figure.colorbar(shown, ax=grid, shrink=0.7, label=label)
    return figure
