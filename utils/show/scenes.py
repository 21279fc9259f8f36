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


def decided(picture: Tensor, falls: Mapping[str, Tensor]) -> Figure:
    """Show a picture, and for each sentence which of its patches speak for it or against it.

    Shapes: picture (3, H, W), falls (rows, columns) of the similarity, where a patch is hidden.
    """
    figure, axes = plt.subplots(1, 1 + len(falls), figsize=(WIDTH, 2.6))
    H, W = picture.shape[1:]
    most = max(fall.abs().max().item() for fall in falls.values())
    axes[0].imshow(picture.permute(1, 2, 0).numpy(), extent=(0, W, H, 0))
    for ax, (sentence, fall) in zip(axes[1:], falls.items(), strict=True):
        form = {"cmap": SIGNED, "vmin": -most, "vmax": most, "extent": (0, W, H, 0)}
        shown = ax.imshow(fall.numpy(), **form)
        ax.contour(picture.amax(dim=0).numpy(), [0.3], extent=(0, W, 0, H), colors="gray")
        ax.set_title(sentence)
    for ax in axes:
        ax.axis("off")
    figure.colorbar(shown, ax=axes, shrink=0.7, label="fall")
    return figure
