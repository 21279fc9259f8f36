"""Figures show the values that they were given, and their style serves every reader."""

import itertools
import re
from datetime import date, timedelta
from io import BytesIO

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from kernels import execute
from matplotlib.colors import to_rgb
from matplotlib.font_manager import FontEntry
from matplotlib.ft2font import FT2Font
from nbformat.v4 import new_code_cell, new_notebook

from utils import ROOT
from utils.data.dates import FORMATS, UNSEEN_FORMATS, render
from utils.show import plotting
from utils.show.plotting import bars, curves, heat_map, image_grid, use_book_style


@pytest.fixture(autouse=True)
def book_style():
    with plt.rc_context({"backend": "agg"}):
        use_book_style()
        yield
    plt.close("all")


def shown(figure_or_ax) -> list[np.ndarray]:
    axes = getattr(figure_or_ax, "axes", figure_or_ax)
    axes = axes if isinstance(axes, list) else [figure_or_ax]
    return [np.asarray(image.get_array()) for ax in axes for image in ax.images]


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def contrast(one: str, other: str) -> float:
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def test_text_and_first_curves_stand_out_from_an_opaque_paper():
    for key in ("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor"):
        assert contrast(plt.rcParams[key], plt.rcParams["figure.facecolor"]) > 7
    for colour in plotting.COLOURS[:3]:
        assert contrast(colour, plt.rcParams["axes.facecolor"]) > 3
    figure = curves({"a": ([0, 1], [0, 1])}, "x", "y").figure
    assert figure.get_facecolor()[3] == 1


def test_chinese_is_drawn_in_characters(recwarn, caplog):
    assert plotting.in_chinese("我 爱", pinyin="wǒ ài") == ["我", "爱"]
    figure, ax = plt.subplots()
    ax.set_title("我 loves 学习")
    ax.set_xlabel("深度", weight="bold", style="italic")
    figure.canvas.draw()
    assert not [warning for warning in recwarn if "missing" in str(warning.message)]
    assert not caplog.messages  # a font that lacks a face is told of in the log


def test_what_the_books_font_lacks_is_set_in_the_readers(monkeypatch):
    there = [FontEntry(name=name) for name in ("DejaVu Sans", "SimHei", "PingFang SC")]
    monkeypatch.setattr(plotting.fontManager, "ttflist", there)
    plotting.chinese_fonts.cache_clear()
    try:
        use_book_style()
        fonts = ["Noto Sans SC", "PingFang SC", "SimHei"]
        assert plt.rcParams["font.family"] == ["sans-serif", *fonts]
    finally:
        plotting.chinese_fonts.cache_clear()


def test_the_books_font_has_all_chinese_that_the_book_uses():
    has = set(map(chr, FT2Font(plotting.FONT).get_charmap()))
    sources = [path for name in ("chapters", "utils") for path in ROOT.glob(f"{name}/**/*.py")]
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    days = (date(2004, 1, 1) + timedelta(n) for n in range(366))
    text += "".join(render(day, "zh", form) for day in days for form in FORMATS + UNSEEN_FORMATS)
    lacking = set(re.findall(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]", text)) - has
    assert not lacking, (
        f"{''.join(sorted(lacking))}: make {plotting.FONT.name} anew from the whole of Noto Sans "
        "SC, as CONTRIBUTING.md says"
    )


def test_in_a_notebook_a_figure_is_a_drawing_and_the_same_in_each_run():
    draw = "from utils.show.plotting import *\nuse_book_style()\nbars({'a': 1}, 'x')"
    notebook = new_notebook(cells=[new_code_cell(draw), new_code_cell("bars({'a': 1}, 'x')")])
    execute(notebook)
    first, second = (cell.outputs[-1]["data"] for cell in notebook.cells)
    assert set(first) == set(second) == {"image/svg+xml", "text/plain"}
    assert first == second and "<dc:date>" not in first["image/svg+xml"]


def test_many_cells_are_stored_as_dots_two_for_each_of_the_pages():
    for size, dense in ((10, False), (40, True)):
        ax = heat_map(torch.rand(size, size), xlabel="x", ylabel="y")
        file = BytesIO()
        ax.figure.savefig(file, format="svg", **plotting.KEPT)
        dots = re.findall(r'width="(\S+)" height="\S+"[^>]*href="data', file.getvalue().decode())
        assert len(file.getvalue()) < 120_000 and bool(ax.collections[0].get_rasterized()) == dense
        assert plotting.KEPT["dpi"] >= 2 * 96 and len(dots) <= 2


def test_figures_fit_the_page_and_a_phone_reads_them():
    assert plt.rcParams["figure.figsize"][0] <= 6.4
    for key in ("font.size", "axes.titlesize", "legend.fontsize", "xtick.labelsize"):
        on_phone = plt.rcParams[key] / 72 * 390 / plt.rcParams["figure.figsize"][0]  # CSS px
        assert on_phone >= 11
    for number in (1, 3, 8, 30):
        assert image_grid(torch.rand(number, 8, 8)).get_figwidth() <= 6.4


def test_curves_differ_without_colour():
    lines = {str(i): ([1, 2], [i, i]) for i in range(len(plotting.COLOURS))}
    drawn = curves(lines, "x", "y").lines
    looks = {(str(line._unscaled_dash_pattern), line.get_marker()) for line in drawn}
    for part in zip(*looks, strict=True):
        assert len(set(part)) == len(lines)
    assert len({line.get_color() for line in drawn}) == len(lines)


def test_image_grid_shows_grey_images_in_order_on_one_scale():
    images = torch.arange(3 * 4 * 5.0).view(3, 1, 4, 5)
    figure = image_grid(images, titles=torch.tensor([7, 8, 9]), columns=2)
    for picture, image in zip(shown(figure), images, strict=True):
        np.testing.assert_array_equal(picture, image[0])
    assert [ax.get_title() for ax in figure.axes] == ["7", "8", "9", ""]
    assert {image.get_clim() for ax in figure.axes for image in ax.images} == {(0, 59)}


def test_image_grid_shows_colour_images():
    image = torch.rand(3, 4, 5)
    np.testing.assert_allclose(shown(image_grid([image]))[0], image.permute(1, 2, 0))


def test_signed_colours_are_centred_at_zero():
    filters = torch.tensor([[[-1.0, 0.0], [0.5, 3.0]]])
    assert image_grid(filters, signed=True).axes[0].images[0].get_clim() == (-3, 3)
    (cells,) = heat_map(filters[0], xlabel="x", ylabel="y", signed=True).collections
    assert cells.get_clim() == (-3, 3)
    middle = plt.get_cmap(plotting.SIGNED)(0.5)
    assert min(middle) > 0.9


def test_heat_map_shows_the_matrix_with_its_names():
    matrix = torch.tensor([[1.0, 20.0, 3.0], [4.0, 5.0, 6000.0]], requires_grad=True)
    ax = heat_map(matrix, xlabel="to", ylabel="from", rows="ab", columns=[5, 6, 7], annotate=True)
    np.testing.assert_array_equal(ax.collections[0].get_array(), matrix.detach())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("to", "from")
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b"]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["5", "6", "7"]
    written = {t.get_position(): t.get_text() for t in ax.texts}
    assert written[(1.5, 0.5)] == "20" and written[(2.5, 1.5)] == "6,000"
    assert ax.yaxis_inverted(), "the first row stands on top"


def test_a_large_heat_map_counts_its_rows_and_columns_from_0():
    ax = heat_map(torch.rand(30, 64), xlabel="x", ylabel="y")
    ax.figure.canvas.draw()
    for axis, size in ((ax.xaxis, 64), (ax.yaxis, 30)):
        named = {
            label.get_position()[axis is ax.yaxis]: label.get_text()
            for label in axis.get_ticklabels()
        }
        assert 3 <= len(named) <= 8 and max(named) < size
        assert all(text == f"{place - 0.5:.0f}" for place, text in named.items())


def test_numbers_in_a_heat_map_are_readable_on_their_colour():
    ax = heat_map(torch.linspace(0, 1, 50).view(5, 10), xlabel="x", ylabel="y", annotate=True)
    for text in ax.texts:
        column, row = (int(place) for place in text.get_position())
        cell = ax.collections[0].to_rgba(ax.collections[0].get_array()[row, column])
        assert contrast(text.get_color(), cell[:3]) > 3


def test_heat_map_has_a_scale_with_its_unit():
    figure = heat_map(torch.rand(2, 3), xlabel="x", ylabel="y", value_label="loss (nats)").figure
    assert [ax.get_ylabel() for ax in figure.axes] == ["y", "loss (nats)"]


def test_curves_draw_values_bands_and_labels():
    x, y = torch.tensor([1.0, 10.0, 100.0]), np.array([3.0, 2.0, 1.0])
    lines = {"LeNet": (x, [y - 0.5, y, y + 0.5, y + 1]), "dense": (x, y + 1)}
    ax = curves(lines, "step", "loss (nats)", logx=True, logy=True)
    np.testing.assert_allclose(ax.lines[0].get_xydata(), np.stack([x, y + 0.25], 1))
    np.testing.assert_array_equal(ax.lines[1].get_xydata(), np.stack([x, y + 1], 1))
    assert ax.lines[0].get_color() == plotting.COLOURS[0] != ax.lines[1].get_color()
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["LeNet", "dense"]
    (band,) = ax.collections
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices}
    assert {(1.0, 2.5), (1.0, 4.0), (100.0, 0.5), (100.0, 2.0)} <= corners


def test_a_band_can_hold_most_runs_around_their_median():
    runs = np.array([0.0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 100])[:, None] * [1, 2]
    ax = curves({"a": ([0, 1], runs)}, "x", "y", middle="median", within=80)
    assert ax.lines[0].get_ydata().tolist() == [5, 10]
    (band,) = ax.collections
    assert {(0.0, 1.0), (0.0, 9.0), (1.0, 2.0), (1.0, 18.0)} <= set(
        map(tuple, band.get_paths()[0].vertices)
    )


def test_one_curve_needs_no_legend_and_figures_can_be_combined():
    ax = plt.subplots()[1]
    assert curves({"a": ([0, 1], [0, 1])}, "x", "y", ax=ax) is ax and ax.get_legend() is None
    assert heat_map(torch.rand(2, 2), xlabel="x", ylabel="y", ax=ax) is ax
    assert bars({"a": 1}, "x", ax=ax) is ax


def test_bars_draw_numbers_and_spread():
    ax = bars({"AlexNet": 61_100_840, "GoogLeNet": 6_998_552}, "parameters")
    assert [bar.get_width() for bar in ax.patches] == [61_100_840, 6_998_552]
    assert [text.get_text() for text in ax.texts] == ["61,100,840", "6,998,552"]
    top, bottom = (ax.transData.transform((0, bar.get_y()))[1] for bar in ax.patches)
    assert top > bottom, "the first bar stands on top"
    ax = bars({"dense": 0.9, "LeNet": [0.97, 0.98, 0.99]}, "accuracy")
    assert [text.get_text() for text in ax.texts] == ["0.9", "0.98"]
    drawn = np.concatenate([line.get_xydata() for line in ax.lines])
    assert drawn[drawn[:, 1].round() == 1, 0].min() == 0.97
    assert drawn[drawn[:, 1].round() == 1, 0].max() == 0.99
    ax = bars({"dense": [0.8, 0.9], "LeNet": [0.97, 0.98]}, "accuracy")
    assert {line.get_linestyle() for line in ax.lines} == {"-"}


HEAT = {"xlabel": "x", "ylabel": "y"}


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        (lambda: image_grid([]), "no image"),
        (lambda: image_grid(torch.rand(2, 4, 4), titles=["a"]), "2 images, .* 1 "),
        (lambda: image_grid(torch.rand(2, 2, 4, 4)), r"\(2, 4, 4\)"),
        (lambda: image_grid(torch.rand(2, 3, 4, 4) * 255), r" 0\.\.1"),
        (lambda: image_grid(torch.rand(2, 3, 4, 4), signed=True), "one channel"),
        (lambda: heat_map(torch.rand(2, 3, 4), **HEAT), r"\(2, 3, 4\)"),
        (lambda: heat_map(torch.rand(2, 3), rows="abc", **HEAT), "3 names .* 2 "),
        (lambda: heat_map(torch.rand(2, 3), columns="ab", **HEAT), "2 names .* 3 "),
        (lambda: curves({}, "x", "y"), "no curve"),
        (lambda: curves({"a": ([1, 2], [1])}, "x", "y"), r"'a' .*\(2,\).*\(1,\)"),
        (lambda: curves({"a": ([1], [[1, 2]])}, "x", "y"), r"'a' .*\(1,\).*\(1, 2\)"),
        (lambda: curves({"a": ([[1]], [[1]])}, "x", "y"), r"'a' .*\(1, 1\).*\(1, 1\)"),
        (lambda: curves({"a": ([0, 1], [1, 2])}, "x", "y", logx=True), "≤ 0"),
        (lambda: curves({"a": ([1, 2], [0, 2])}, "x", "y", logy=True), "≤ 0"),
        (lambda: bars({}, "x"), "no bar"),
    ],
)
def test_bad_input_gets_one_sentence(draw, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        draw()
    assert "\n" not in str(caught.value)


def test_constant_images_have_a_scale():
    for value, signed in itertools.product((0.0, 2.0), (False, True)):
        low, high = (
            image_grid(torch.full((1, 3, 3), value), signed=signed).axes[0].images[0].get_clim()
        )
        assert low < high
