"""Pictures beside the sentences that may describe them."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from utils.show.plotting import SIGNED, WIDTH, heat_map


def fits(pictures: Tensor, sentences: Sequence[str], cosines: Tensor, marks: Sequence[str]) -> Axes:
    """Show how well each picture (a row, after its picture) fits each sentence (a column).

    Shapes: pictures (B, 3, H, W), cosines (B, n) for n sentences. marks: a word for each picture.
    Raises: ValueError if the cosines or the marks don't fit.
    """
    B, n = len(pictures), len(sentences)
    if cosines.shape != (B, n):
        raise ValueError(f"{B} pictures and {n} sentences: no cosines {tuple(cosines.shape)}.")
    if len(marks) != B:
        raise ValueError(f"There are {B} pictures, but {len(marks)} marks.")
    ax = plt.subplots(figsize=(WIDTH, 1.0 + 0.5 * B))[1]
    columns = [sentence.replace(" ", "\n") for sentence in sentences]  # upright, and narrow
    heat_map(
        cosines, rows=marks, columns=columns, xlabel="", ylabel="", ax=ax, value_label="cosine"
    )
    ax.tick_params(axis="y", length=0, pad=40, rotation=0)
    ax.tick_params(axis="x", length=0, labelsize="small", labeltop=True, labelbottom=False)
    for i, picture in enumerate(pictures):
        before = ax.inset_axes((-0.96, i + 0.06, 0.9, 0.88), transform=ax.transData)
        before.imshow(picture.permute(1, 2, 0).numpy())
        before.axis("off")
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
