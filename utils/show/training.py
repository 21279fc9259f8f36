"""What `fit` has seen, drawn."""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from utils.show.plotting import curves


def learning_curves(history) -> Figure:
    """Draw the loss and each metric of a `History` by epoch, training and validation together.

    Raises: ValueError if no epoch was finished.
    """
    if not history.seconds:
        raise ValueError("There is nothing to plot: no epoch was finished.")
    figure, axes = plt.subplots(1, len(history.train), squeeze=False)
    for ax, name in zip(axes.flat, history.train, strict=True):
        parts = {"training": history.train[name]}
        if name in history.validation:
            parts["validation"] = history.validation[name]
        lines = {part: (range(1, len(y) + 1), y) for part, y in parts.items()}
        curves(lines, "epoch", name, ax=ax)
        ax.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    return figure
