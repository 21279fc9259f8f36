"""Figures in one style: readable in light and dark mode, in print and without colour vision.

A lesson calls `use_book_style()` in its first cell. Curves differ in colour (Okabe and Ito's
palette), line style and marker; magnitudes are shown in cividis, signed values in purple and orange
around zero.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
DASHES = ["-", "--", "-.", ":", (0, (7, 2)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 1))]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
MAGNITUDE, SIGNED, GREY = "cividis", "PuOr", "gray"
PAPER, INK = "#fbfaf6", "#1a1a1a"
WIDTH = 6.4  # inches

STYLE = {
    "figure.figsize": (WIDTH, 3.8),
    "figure.dpi": 120,
    "figure.constrained_layout.use": True,
    "figure.facecolor": PAPER,  # opaque: in dark mode a figure is a light card
    "axes.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "font.size": 13,  # a phone shows a figure at about half its size
    "axes.titlesize": 13,
    "legend.fontsize": 12,
    "xtick.labelsize": 12,
    "ytick.labelsize": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#d9d6cd",
    "lines.linewidth": 2.0,
    "lines.markersize": 6,
    "axes.prop_cycle": cycler(color=COLOURS) + cycler(linestyle=DASHES),
    "image.cmap": MAGNITUDE,
    "image.interpolation": "nearest",
}


def use_book_style() -> None:
    """Draw all figures from here on in the book's style."""
    plt.rcParams.update(STYLE)


def image_grid(images, titles=None, columns: int = 8, signed: bool = False) -> Figure:
    """Show images side by side on one common scale.

    Shapes: images (B, H, W), (B, 1, H, W) or (B, 3, H, W), or a list of images of any sizes;
        colour images hold values in 0..1; titles: one for each image.
    signed: show values around zero (filters, differences), with a scale beside them.
    Raises: ValueError if an image has another shape or values, or a title is missing.
    """
    pictures = [_picture(image) for image in images]
    if not pictures:
        raise ValueError("There is no image to show: `images` is empty.")
    if titles is not None and len(titles) != len(pictures):
        raise ValueError(f"There are {len(pictures)} images, but {len(titles)} titles.")
    in_colour = any(picture.ndim == 3 for picture in pictures)
    if in_colour and signed:
        raise ValueError("Signed values are shown one channel at a time: choose a channel first.")
    low = min(picture.min() for picture in pictures)
    high = max(picture.max() for picture in pictures)
    if in_colour and not (-1e-4 <= low and high <= 1 + 1e-4):
        raise ValueError(f"Colour images hold values in 0..1; these run from {low:g} to {high:g}.")

    across = min(columns, len(pictures))
    down = -(-len(pictures) // across)
    cell = min(WIDTH / across, 3.2)  # inches
    tallest = max(picture.shape[0] / picture.shape[1] for picture in pictures)
    size = (cell * across, down * (cell * tallest + (0.35 if titles is not None else 0.05)))
    figure, grid = plt.subplots(down, across, figsize=size, squeeze=False)
    limits = _limits(low, high, signed)
    for index, ax in enumerate(grid.flat):
        ax.axis("off")
        if index < len(pictures):
            picture = pictures[index]
            shown = ax.imshow(picture.clip(*limits), cmap=SIGNED if signed else GREY)
            shown.set_clim(*limits)
            if titles is not None:
                title = titles[index]
                ax.set_title(str(title.item() if isinstance(title, torch.Tensor) else title))
    if signed:
        figure.colorbar(shown, ax=grid, shrink=0.8)
    return figure


def heat_map(
    matrix,
    *,
    xlabel: str,
    ylabel: str,
    rows=None,
    columns=None,
    value_label: str = "",
    annotate: bool = False,
    signed: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Show a matrix (rows, columns) as colours, the first row on top.

    rows, columns: names on the ticks. annotate: write each number into its cell, else a scale
    with `value_label` stands beside the map. signed: colours around zero.
    Raises: ValueError if `matrix` has not two axes, or the names do not fit it.
    """
    values = _array(matrix)
    if values.ndim != 2 or not values.size:
        raise ValueError(f"A heat map shows a matrix with two axes; this has shape {values.shape}.")
    ax = ax or plt.subplots()[1]
    low, high = _limits(values.min(), values.max(), signed)
    cmap = SIGNED if signed else MAGNITUDE
    shown = ax.imshow(values, cmap=cmap, vmin=low, vmax=high, aspect="auto")
    ax.grid(False)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    for axis, names, size in ((ax.yaxis, rows, len(values)), (ax.xaxis, columns, len(values[0]))):
        if names is None:
            axis.set_major_locator(MaxNLocator(integer=True))
        elif len(names) != size:
            raise ValueError(f"There are {len(names)} names for {size} rows or columns.")
        else:
            axis.set_ticks(range(size), [str(name) for name in names])
    if not annotate:
        ax.figure.colorbar(shown, ax=ax, label=value_label)
        return ax
    whole = bool((values == values.round()).all())
    for (row, column), value in np.ndenumerate(values):
        red, green, blue, _ = shown.to_rgba(value)
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        text = f"{value:,.0f}" if whole else f"{value:.2f}"
        ax.text(column, row, text, ha="center", va="center", color="white" if dark else "black")
    return ax


def curves(
    lines: dict,
    xlabel: str,
    ylabel: str,
    *,
    spread: dict | None = None,
    logx: bool = False,
    logy: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw `lines`, {label: (x, y)}; `spread`, {label: (low, high)}, shades a band around one.

    Raises: ValueError if lengths differ, or a logarithmic axis gets a value that is not positive.
    """
    if not lines:
        raise ValueError("There is no curve to draw: `lines` is empty.")
    bands = _spread_of(lines, spread)
    ax = ax or plt.subplots()[1]
    for label, (x, y) in lines.items():
        x, y, band = _array(x), _array(y), [_array(edge) for edge in bands.get(label, ())]
        if any(values.shape != x.shape or values.ndim != 1 for values in (y, *band)):
            shapes = ", ".join(str(values.shape) for values in (x, y, *band))
            raise ValueError(
                f"The curve {label!r} needs x, y and spread of one length, not {shapes}."
            )
        if (logx and (x <= 0).any()) or (logy and any((v <= 0).any() for v in (y, *band))):
            raise ValueError(
                f"The curve {label!r} has values ≤ 0, which a logarithmic axis can't show."
            )
        every = max(1, len(x) // 8)
        (line,) = ax.plot(
            x, y, label=label, marker=MARKERS[len(ax.lines) % len(MARKERS)], markevery=every
        )
        if band:
            ax.fill_between(x, *band, color=line.get_color(), alpha=0.2, linewidth=0)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    if logx:
        ax.set_xscale("log")
    if logy:
        ax.set_yscale("log")
    if len(ax.lines) > 1:
        ax.legend()
    return ax


def bars(
    values: dict,
    xlabel: str,
    *,
    spread: dict | None = None,
    logx: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw {label: number} as lying bars, with numbers; `spread`, {label: (low, high)}, as a line.

    Raises: ValueError if there is no value, or a spread has no bar.
    """
    if not values:
        raise ValueError("There is no bar to draw: `values` is empty.")
    bands = _spread_of(values, spread)
    ax = ax or plt.subplots(figsize=(WIDTH, 0.9 + 0.5 * len(values)))[1]
    ax.barh(list(values), list(values.values()), color=COLOURS[0], height=0.6, log=logx)
    for position, (label, value) in enumerate(values.items()):
        low, high = bands.get(label, (value, value))
        if label in bands:
            ax.plot([low, high], [position] * 2, color=INK, marker="|", linestyle="-")
        number = f"{value:,}" if isinstance(value, int) else f"{value:.3g}"
        place = {"xytext": (5, 0), "textcoords": "offset points", "va": "center"}
        ax.annotate(number, (max(value, high), position), **place)
    ax.margins(x=0.18)
    if not logx and ax.get_xlim()[1] >= 1e4:
        ax.xaxis.set_major_formatter(EngFormatter())
    ax.invert_yaxis()
    ax.grid(visible=False, axis="y")
    ax.set(xlabel=xlabel)
    return ax


def _array(values) -> np.ndarray:
    """Tensor, array or list as an array of float64."""
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu().numpy()
    return np.asarray(values, dtype=np.float64)


def _picture(image) -> np.ndarray:
    """(H, W), (1, H, W) or (3, H, W) as matplotlib has it: (H, W) or (H, W, 3)."""
    picture = _array(image)
    if picture.ndim == 3 and picture.shape[0] in (1, 3):
        picture = picture[0] if picture.shape[0] == 1 else picture.transpose(1, 2, 0)
    elif picture.ndim != 2:
        raise ValueError(
            f"An image is (H, W), (1, H, W) or (3, H, W); this has shape {picture.shape}."
        )
    return picture


def _limits(low: float, high: float, signed: bool) -> tuple[float, float]:
    """The values at the two ends of the colour scale."""
    if signed:
        reach = max(abs(low), abs(high)) or 1.0
        return -reach, reach
    return (low, high) if high > low else (low, low + 1)


def _spread_of(drawn: dict, spread: dict | None) -> dict:
    if unknown := set(spread or {}) - set(drawn):
        raise ValueError(
            f"There is a spread for {sorted(unknown)}, but nothing of that name to draw."
        )
    return spread or {}
