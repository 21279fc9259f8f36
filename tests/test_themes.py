"""A figure's drawing serves the light and the dark theme, and keeps what its colours say."""

import itertools
import re
from io import BytesIO, StringIO
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from browser import BOOK
from matplotlib.colors import to_hex
from test_diagrams import lightness

from utils.show.diagrams import ROLE, UNITS, box, cells, contrast, note, sheet, tinted
from utils.show.diagrams.sheet import DIM, stroke
from utils.show.plotting import COLOURS, INK, KEPT, PAPER, curves, heat_map, image_grid
from utils.show.plotting import use_book_style as in_style


@pytest.fixture(autouse=True)
def book_style():
    with plt.rc_context({"backend": "agg"}):
        in_style()
        yield
    plt.close("all")


@pytest.fixture
def themes(monkeypatch):
    monkeypatch.syspath_prepend(BOOK / "_ext")
    import themes

    return themes


def stored(figure) -> str:
    """A figure as a notebook stores it."""
    file = BytesIO()
    figure.savefig(file, format="svg", **KEPT)
    return file.getvalue().decode()


def painted(svg: str) -> list[str]:
    """The colours of a drawing, in its order."""
    return re.findall(r"(?:fill|stroke): (#\w{6})", svg)


def forms(svg: str) -> list[str]:
    """What is drawn, without colours."""
    return re.findall(r'<(\w+)[^>]*?(?: d="([^"]*)")?', svg)


def test_lines_and_texts_stand_out_from_dark_paper(themes):
    assert (
        contrast(themes.dark(INK), themes.NIGHT) > 7 and themes.dark(PAPER.lower()) == themes.NIGHT
    )
    for colour in (*COLOURS, DIM, *map(stroke, (None, *ROLE)), *ROLE.values()):
        assert contrast(themes.dark(colour.lower()), themes.NIGHT) > 4.5, colour
    for unknown in ("#4c72b0", "#123456", "#808080"):
        assert contrast(themes.dark(unknown), themes.NIGHT) >= 3


def test_roles_differ_in_the_dark_without_colour_vision_too(themes):
    roles = ("query", "key", "value", "state", "gradient")
    for some in (roles, [role for role in ROLE if role not in roles]):
        for one, other in itertools.combinations(some, 2):
            shades = [lightness(themes.dark(ROLE[role].lower())) for role in (one, other)]
            assert abs(shades[0] - shades[1]) >= 5.5, (one, other)


def test_a_weight_runs_from_the_dark_of_a_box_to_the_full_colour(themes):
    for role in (None, *ROLE):
        full = themes.dark((INK if role is None else ROLE[role]).lower())
        shades = [themes.dark(tinted(role, weight)) for weight in np.linspace(0, 1, 9)]
        assert shades[0] == themes.BOX and shades[-1] == full
        levels = [lightness(shade) for shade in shades]
        assert levels == sorted(levels) and min(np.diff(levels)) > 2


def test_text_is_read_on_every_tint_in_the_dark(themes):
    for role, weight in itertools.product((None, *ROLE), np.linspace(0, 1, 21)):
        ax = sheet(2)
        cells(ax, (0, 0), [["1"]], role=role, weights=weight)
        figure = themes.themed(stored(ax.figure)).dark
        ground, ink = themes.dark(tinted(role, weight)), painted(figure)[-1]
        assert ground in painted(figure) and contrast(ink, ground) >= 4.5
        plt.close(ax.figure)


def test_what_stands_on_no_box_is_light_and_what_stands_on_one_is_as_its_colour_asks(themes):
    ax = sheet(3)
    box(ax, (1, 1), "on yellow", (6, 1), role="head 1")
    note(ax, (12, 1.5), "on paper")
    figure = themes.themed(stored(ax.figure))
    assert painted(figure.dark)[-2:] == ["#000000", themes.dark(INK)]
    assert painted(figure.light)[-1] == INK


def test_colours_that_are_numbers_stay_and_so_do_the_numbers_on_them(themes):
    ax = heat_map(torch.linspace(0, 1, 12).view(3, 4), xlabel="x", ylabel="y", annotate=True)
    figure = themes.themed(stored(ax.figure))
    (mesh,) = ax.collections
    for colour in map(to_hex, mesh.get_facecolors()):
        assert colour in painted(figure.light) and colour in painted(figure.dark)
    written = [to_hex(text.get_color()) for text in ax.texts]
    assert painted(figure.dark)[-12:] == written and {*written} == {"#000000", "#ffffff"}
    assert INK not in painted(figure.dark)  # which names rows and columns


def test_pictures_keep_their_dots(themes):
    figure = themes.themed(stored(image_grid(torch.rand(2, 8, 8), ["one", "two"])))
    light, dark = (re.findall(r'href="data:[^"]+"', text) for text in figure[:2])
    assert len(light) == 2 and light == dark
    assert "pixelated" in figure.light


def test_both_drawings_have_the_same_forms_and_nothing_that_nobody_sees(themes):
    ax = curves({"a": ([0, 1, 2], [[1, 2, 3], [2, 3, 5]]), "b": ([0, 1, 2], [2, 1, 0])}, "x", "y")
    text = stored(ax.figure)
    figure = themes.themed(text)
    assert forms(figure.light) == forms(figure.dark)
    for drawing in figure[:2]:
        ElementTree.parse(StringIO(drawing))
        named = {*re.findall(r' id="([^"]+)"', drawing)}
        assert named == {*re.findall(r'(?:href="|url\()#([^")]+)', drawing)}
        assert len(drawing) < 0.85 * len(text) and "Matplotlib" not in drawing
        assert len(re.findall("<use ", drawing)) == len(re.findall("<use ", text))
    assert not {*painted(figure.dark)} & {INK, PAPER, *map(str.lower, COLOURS[:5])}


def test_hatching_stays(themes):
    ax = sheet(3)
    cells(ax, (1, 1), [["", ""]], hatched=[[True, False]])
    text = stored(ax.figure)
    for drawing in themes.themed(text)[:2]:
        (name,) = re.findall(r'<pattern [^>]*?id="(\w+)"', drawing)
        assert f"url(#{name})" in drawing and '<rect x="0" y="0" width="73" height="73"' in drawing
    assert DIM in themes.themed(text).light and f'"{PAPER}"' in themes.themed(text).light
    assert DIM not in themes.themed(text).dark and PAPER not in themes.themed(text).dark


def test_a_figure_is_as_wide_on_a_phone_as_its_smallest_text_asks(themes):
    for size, least in ((12, 0), (9, 480)):
        ax = sheet(4)
        note(ax, (8, 2), "small").set_fontsize(size)
        figure = themes.themed(stored(ax.figure))
        assert figure.readable == pytest.approx(72 * 6.44 * themes.LEGIBLE / size, abs=2)
        assert (figure.readable > 390) == bool(least) and figure.readable >= least
        assert figure.width == pytest.approx(UNITS * 38.6, abs=1)


def test_the_same_figure_is_stored_as_the_same_text():
    def once():
        return stored(curves({"a": ([0, 1], [[0, 1], [1, 2]])}, "x", "y").figure)

    assert once() == once() and "<dc:date>" not in once()
