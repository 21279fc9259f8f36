"""Figures in one style: readable in light and dark mode, in print and without colour vision.

A lesson calls `use_book_style()` in its first cell. Curves differ in colour (Okabe and Ito's
palette), line style and marker; magnitudes are shown in cividis, signed values in purple and orange
around zero.
"""

from dataclasses import replace
from functools import cache
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
import torch
from IPython import get_ipython
from matplotlib import cycler
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.ticker import EngFormatter, FixedLocator, MaxNLocator

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
DASHES = ["-", "--", "-.", ":", (0, (7, 2)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 1))]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
MAGNITUDE, SIGNED, GREY = "cividis", "PuOr", "gray"
PAPER, INK = "#fbfaf6", "#1a1a1a"
WIDTH = 6.4  # inches
DENSE = 400  # cells from which on a heat map is stored as dots
FONT = Path(__file__).parent / "fonts" / "NotoSansSC.otf"  # the Chinese that the book uses
CHINESE = ["Noto Sans SC"]  # that font; then those that a reader may have, for all other Chinese
CHINESE += ["Noto Sans CJK SC", "Source Han Sans SC", "PingFang SC", "Heiti SC"]
CHINESE += ["Microsoft YaHei", "SimHei", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei"]

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
    "font.size": 14,  # a phone shows a figure at five sixths of its size
    "axes.titlesize": 14,
    "legend.fontsize": 13,
    "xtick.labelsize": 13,
    "ytick.labelsize": 13,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#d9d6cd",
    "lines.linewidth": 2.0,
    "lines.markersize": 6,
    "axes.prop_cycle": cycler(color=COLOURS) + cycler(linestyle=DASHES),
    "image.cmap": MAGNITUDE,
    "image.interpolation": "none",  # its own dots, each a square however large it is shown
    "svg.fonttype": "path",  # no reader's font is wider than ours
    "svg.hashsalt": "the book",  # the same names in each run
}
# How figures are stored; the dots are those of dense parts, which are no drawings.
KEPT = {"bbox_inches": "tight", "pad_inches": 0.02, "dpi": 240, "metadata": {"Date": None}}


def use_book_style() -> None:
    """Draw all figures from here on in the book's style, in a notebook as drawings (SVG)."""
    plt.rcParams.update(STYLE)
    plt.rcParams["font.family"] = ["sans-serif", *chinese_fonts()]
    if "inline" in plt.get_backend():
        settings = {"figure_format": "svg", "print_figure_kwargs": KEPT}
        for name, value in settings.items():
            get_ipython().run_line_magic("config", f"InlineBackend.{name} = {value!r}")


@cache
def chinese_fonts() -> list[str]:
    """The fonts for Chinese: the book's, and for what it lacks the reader's own."""
    fontManager.addfont(FONT)
    fonts = {font.name: font for font in fontManager.ttflist}
    there = [name for name in CHINESE if name in fonts]
    for name in there:  # most have no bold face, and some none of 400: each text would be warned of
        fontManager.ttflist += [replace(fonts[name], weight=weight) for weight in (400, 700)]
    return there


def in_chinese(characters: str, pinyin: str) -> list[str]:
    """The words of a sentence for a figure; pinyin says to who reads the page how they sound."""
    return characters.split()


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
            many = picture.shape[1] > cell * KEPT["dpi"]  # more dots than are stored
            how = {"cmap": SIGNED if signed else GREY, "interpolation": "auto" if many else "none"}
            shown = ax.imshow(picture.clip(*limits), **how)
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

    rows, columns: names on the ticks; the cell of row i and column j has its middle at
    (j + 0.5, i + 0.5). annotate: write each number into its cell, else a scale
    with `value_label` stands beside the map. signed: colours around zero.
    Raises: ValueError if `matrix` has not two axes, or the names do not fit it.
    """
    values = _array(matrix)
    if values.ndim != 2 or not values.size:
        raise ValueError(f"A heat map shows a matrix with two axes; this has shape {values.shape}.")
    names = {}
    for axis, given, size in (("y", rows, len(values)), ("x", columns, len(values[0]))):
        if given is not None and len(given) != size:
            raise ValueError(f"There are {len(given)} names for {size} rows or columns.")
        names[f"{axis}ticklabels"] = [str(name) for name in given] if given is not None else False
    low, high = _limits(values.min(), values.max(), signed)
    whole = bool((values == values.round()).all())
    ax = sns.heatmap(
        values,
        vmin=low,
        vmax=high,
        cmap=SIGNED if signed else MAGNITUDE,
        annot=annotate,
        fmt=",.0f" if whole else ".2f",
        cbar=not annotate,
        cbar_kws={"label": value_label},
        rasterized=values.size > DENSE,
        ax=ax or plt.subplots()[1],
        **names,
    )
    for axis, given in ((ax.yaxis, rows), (ax.xaxis, columns)):
        if given is None:  # numbers from 0 on, in the middle of their cells
            axis.set_major_locator(FixedLocator(_places(axis) + 0.5))
            axis.set_major_formatter(lambda place, _: f"{place - 0.5:.0f}")
    (cells,) = ax.collections
    for text, value in zip(ax.texts, values.flat, strict=annotate):
        red, green, blue, _ = cells.to_rgba(value)
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        text.set_color("white" if dark else "black")
    ax.tick_params(axis="y", labelrotation=0)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    return ax


def _places(axis: Axis) -> np.ndarray:
    """Whole numbers to label on an axis, few enough to be read."""
    low, high = sorted(axis.get_view_interval())
    places = MaxNLocator(nbins=6, integer=True).tick_values(low, high)
    return places[(low <= places) & (places < high)]


def curves(
    lines: dict,
    xlabel: str,
    ylabel: str,
    *,
    middle: str = "mean",
    within: float = 100,
    logx: bool = False,
    logy: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw `lines`, {label: (x, y)}; where y is (runs, len(x)), the middle of the runs in a band.

    middle, within: "mean" or "median" of the runs, and how many per cent of them the band holds.
    Raises: ValueError if lengths differ, or a logarithmic axis gets a value that is not positive.
    """
    if not lines:
        raise ValueError("There is no curve to draw: `lines` is empty.")
    ax = ax or plt.subplots()[1]
    for label, (x, y) in lines.items():
        x, y = _array(x), _array(y)
        if x.ndim != 1 or y.ndim not in (1, 2) or y.shape[-1:] != x.shape:
            raise ValueError(
                f"The curve {label!r} needs x of n numbers, and y of n or (runs, n), not "
                f"{x.shape} and {y.shape}."
            )
        lowest = y if y.ndim == 1 else np.percentile(y, 50 - within / 2, axis=0)
        if (logx and (x <= 0).any()) or (logy and (lowest <= 0).any()):
            raise ValueError(
                f"The curve {label!r} has values ≤ 0, which a logarithmic axis can't show."
            )
        place = len(ax.lines) % len(COLOURS)
        style = {"marker": MARKERS[place], "markevery": max(1, len(x) // 8), "label": label}
        style |= {"color": COLOURS[place], "linestyle": DASHES[place]}
        if y.ndim == 1:
            ax.plot(x, y, **style)
            continue
        x = np.broadcast_to(x, y.shape)
        band = {"estimator": middle, "errorbar": ("pi", within), "err_kws": {"linewidth": 0}}
        band["markeredgecolor"] = COLOURS[place]
        sns.lineplot(x=x.ravel(), y=y.ravel(), legend=False, ax=ax, **style, **band)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    if logx:
        ax.set_xscale("log")
    if logy:
        ax.set_yscale("log")
    if len(ax.lines) > 1:
        ax.legend()
    return ax


def bars(values: dict, xlabel: str, *, ax: Axes | None = None) -> Axes:
    """Draw {label: number, or a number for each run} as lying bars, with numbers.

    Of several runs, the bar is their mean, and a line goes from the lowest to the highest.
    Raises: ValueError if there is no value.
    """
    if not values:
        raise ValueError("There is no bar to draw: `values` is empty.")
    runs = {label: np.atleast_1d(_array(value)) for label, value in values.items()}
    ax = ax or plt.subplots(figsize=(WIDTH, 0.9 + 0.5 * len(values)))[1]
    labels = [str(label) for label, several in runs.items() for _ in several]
    sns.barplot(
        x=np.concatenate(list(runs.values())),
        y=labels,
        orient="h",
        errorbar=("pi", 100),
        color=COLOURS[0],
        saturation=1,
        width=0.6,
        err_kws={"color": INK, "linestyle": "-"},
        capsize=0.3,
        ax=ax,
    )
    for position, (label, several) in enumerate(runs.items()):
        number = f"{values[label]:,}" if isinstance(values[label], int) else f"{several.mean():.3g}"
        sign, end = (1, several.max()) if several.mean() >= 0 else (-1, several.min())
        place = {
            "textcoords": "offset points",
            "va": "center",
            "ha": "left" if sign > 0 else "right",
        }
        ax.annotate(number, (end, position), (5 * sign, 0), **place)
    ax.margins(x=0.18)
    if ax.get_xlim()[1] >= 1e4:
        ax.xaxis.set_major_formatter(EngFormatter())
    ax.grid(visible=False, axis="y")
    ax.set(xlabel=xlabel, ylabel="")
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
