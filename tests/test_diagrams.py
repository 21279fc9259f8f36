"""Pictures of mechanisms: shapes stand where they say, texts fit, and colours hold for everyone."""

import itertools
import math

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex, to_rgb
from matplotlib.patches import Circle, FancyArrowPatch, Polygon, Rectangle, Wedge

from utils.show import diagrams
from utils.show.diagrams import (
    ROLE,
    UNITS,
    Block,
    arrow,
    box,
    brace,
    cells,
    contrast,
    dial,
    hand,
    label,
    light,
    note,
    picture,
    sector,
    sheet,
    stack,
    tinted,
    words,
)
from utils.show.diagrams.sheet import SIZE, TIGHT, stroke
from utils.show.plotting import INK, PAPER, WIDTH, use_book_style


@pytest.fixture(autouse=True)
def book_style():
    with plt.rc_context({"backend": "agg"}):
        use_book_style()
        yield
    plt.close("all")


@pytest.fixture
def ax():
    return sheet(8)


def of_kind(ax, kind) -> list:
    return [patch for patch in ax.patches[1:] if isinstance(patch, kind)]  # the first is the paper


def fills(ax) -> list[str]:
    return [to_hex(patch.get_facecolor()) for patch in of_kind(ax, Rectangle)]


def texts(ax) -> dict:
    return {text.get_text(): text for text in ax.texts}


def reach(ax, text) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a text, on the sheet, as it is drawn."""
    ax.figure.canvas.draw()
    box = text.get_window_extent().transformed(ax.transData.inverted())
    return box.x0, min(box.y0, box.y1), box.x1, max(box.y0, box.y1)


def lightness(colour: str) -> float:
    """CIE L*, from 0 to 100."""
    level = (contrast(colour, "#000000") * 0.05) - 0.05
    return 116 * level ** (1 / 3) - 16


def test_contrast_is_what_the_guidelines_say():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)  # WCAG's known value
    assert contrast("#0072B2", PAPER) == contrast(PAPER, "#0072B2")


def test_a_sheet_has_the_books_width_one_scale_and_rows_that_run_down(ax):
    ax.figure.canvas.draw()
    assert tuple(ax.figure.get_size_inches()) == (WIDTH, WIDTH / 2)
    (x0, y0), (x1, y1), (_, y2) = ax.transData.transform([(0, 0), (1, 1), (0, 8)])
    assert x1 - x0 == pytest.approx(y0 - y1)  # a square is a square
    assert x0 == y2 == pytest.approx(0)
    assert not ax.axison
    assert ax.patches[0].get_width() == UNITS and to_hex(ax.patches[0].get_facecolor()) == PAPER


def test_roles_differ_in_print_and_without_colour_vision():
    roles = ("query", "key", "value", "state", "gradient")
    for some in (roles, [role for role in ROLE if role not in roles]):
        for one, other in itertools.combinations(some, 2):
            assert abs(lightness(ROLE[one]) - lightness(ROLE[other])) >= 8, (one, other)


def test_every_line_stands_out_from_the_paper():
    for role in (None, *ROLE):
        assert contrast(stroke(role), PAPER) >= 3
    assert stroke("query").lower() == ROLE["query"].lower()  # dark enough as it is
    hues = [
        np.subtract(to_rgb(colour), min(to_rgb(colour))) for colour in (ROLE["key"], stroke("key"))
    ]
    assert np.argsort(hues[0]).tolist() == np.argsort(hues[1]).tolist()


def test_text_is_read_on_every_tint():
    for role, weight in itertools.product((None, *ROLE), np.linspace(0, 1, 21)):
        ax = sheet(2)
        cells(ax, (0, 0), [["1"]], role=role, weights=weight)
        assert contrast(to_hex(ax.texts[0].get_color()), fills(ax)[0]) >= 4.5
        plt.close(ax.figure)


def test_a_weight_runs_from_white_to_the_full_colour():
    assert tinted("key", 0) == "#ffffff" and tinted("key") == ROLE["key"].lower()
    assert tinted(None, 1) == INK
    assert np.allclose(
        to_rgb(tinted("value", 0.5)), (1 + np.array(to_rgb(ROLE["value"]))) / 2, atol=1e-2
    )


def test_cells_stand_in_rows_from_the_top_with_their_numbers(ax):
    numbers = torch.tensor([[0.0, 1.414, 0.5], [-1, 12, 0.125]])
    block = cells(ax, (2, 1), numbers, role="query", weights=[[0, 0.5, 1]], size=(1.2, 0.8))
    assert (block.x, block.y, block.rows, block.columns) == (2, 1, 2, 3)
    assert (block.width, block.height) == (pytest.approx(3.6), pytest.approx(1.6))
    corners = [patch.get_xy() for patch in of_kind(ax, Rectangle)]
    assert np.allclose(corners, [(2 + 1.2 * j, 1 + 0.8 * i) for i in range(2) for j in range(3)])
    assert fills(ax) == 2 * [tinted("query", weight) for weight in (0, 0.5, 1)]
    assert [text.get_text() for text in ax.texts] == ["0", "1.41", "0.5", "-1", "12", "0.12"]
    assert np.allclose(ax.texts[4].get_position(), block[1, 1].middle)


def test_cells_without_a_role_are_white_and_with_one_full(ax):
    cells(ax, (0, 0), [["", "a"]])
    cells(ax, (0, 2), [[""]], role="state")
    assert fills(ax) == ["#ffffff", "#ffffff", ROLE["state"].lower()]


def test_what_is_hidden_is_struck_out_and_what_does_not_count_is_hatched(ax):
    causal = torch.ones(2, 2).tril().bool()
    cells(
        ax,
        (1, 1),
        [["", ""]] * 2,
        role="key",
        struck=~causal,
        hatched=[[False], [True]],
        size=(1, 1),
    )
    (line,) = ax.lines
    assert line.get_xydata().tolist() == [[2, 2], [3, 1]]  # the first row's second cell
    assert [patch.get_hatch() for patch in of_kind(ax, Rectangle)] == [None, None, "////", "////"]
    assert fills(ax)[2:] == [PAPER, PAPER]


def test_parts_of_a_block_are_blocks():
    block = Block(1, 2, 6, 4, rows=2, columns=3)
    assert block[1, 2] == Block(5, 4, 2, 2) == block[-1, -1]
    assert block[0, :] == Block(1, 2, 6, 2, 1, 3)
    assert block[:, 1:] == Block(3, 2, 4, 4, 2, 2)
    assert block.middle == (4, 4)
    sides = {side: block.at(side, 0.5) for side in ("left", "right", "top", "bottom")}
    assert sides == {"left": (0.5, 4), "right": (7.5, 4), "top": (4, 1.5), "bottom": (4, 6.5)}


def test_a_picture_shows_its_pixels_and_its_patches_are_parts_of_it(ax):
    block = picture(ax, (1, 2), torch.eye(4)[:2].expand(3, 2, 4), 3.0)
    (shown,) = ax.images
    assert shown.get_array().shape == (2, 4, 3) and shown.get_extent() == [1, 4, 3.5, 2]
    assert ax.get_xlim() == (0, UNITS) and ax.get_ylim() == (8, 0)
    assert block[0:2, 2:4] == Block(2.5, 2, 1.5, 1.5, 2, 2)
    picture(ax, (5, 2), torch.full((2, 2), 0.5), 1.0)
    assert ax.images[1].get_clim() == (0, 1)


def test_words_are_as_wide_as_they_are_long_and_stand_side_by_side(ax):
    it, because = words(ax, (1, 2), "it because", gap=0.5)
    assert because.width > 2 * it.width and because.x == pytest.approx(it.x + it.width + 0.5)
    for block, text in zip((it, because), ax.texts, strict=True):
        left, top, right, bottom = reach(ax, text)
        assert block.x < left < right < block.x + block.width
        assert block.y < top < bottom < block.y + block.height
        assert right - left > block.width - 0.35  # and no wider than that


def test_a_stack_grows_up_and_the_road_goes_through_it(ax):
    lower, upper = stack(ax, (4, 7), ["norm", "attention"], (3, 1))
    assert [(block.x, block.width, block.height) for block in (lower, upper)] == [(2.5, 3, 1)] * 2
    assert [lower.y, upper.y] == pytest.approx([5.3, 3.6])
    ends = [arrow._posA_posB for arrow in of_kind(ax, FancyArrowPatch)]
    heights = [y for end in ends for _, y in end]
    assert heights == pytest.approx([7, 6.3, 5.3, 4.6, 3.6, 2.9])
    assert {x for end in ends for x, _ in end} == {4}


def test_an_arrow_is_thicker_with_its_weight_and_dashed_on_demand(ax):
    for weight in (0, 0.5, 1):
        arrow(ax, (1, 1), (5, 1), weight=weight, role="value", dashed=weight == 1)
    drawn = of_kind(ax, FancyArrowPatch)
    widths = [patch.get_linewidth() for patch in drawn]
    assert widths[1] - widths[0] == pytest.approx(widths[2] - widths[1]) and widths[0] < widths[1]
    heads = [patch.get_mutation_scale() for patch in drawn]
    assert heads[0] < heads[1] < heads[2]
    assert {to_hex(patch.get_edgecolor()) for patch in drawn} == {stroke("value")}
    assert [patch.get_linestyle() != "-" for patch in drawn] == [False, False, True]


@pytest.mark.parametrize("bend", [-0.3, -0.1, 0, 0.1, 0.3])
@pytest.mark.parametrize("end", [(12, 4), (4, 4), (8, 7), (8, 1.2), (11, 6)])
def test_an_arrow_bends_to_its_left_and_its_text_does_not_touch_it(ax, end, bend):
    start = 8, 4
    arrow(ax, start, end, bend=bend, text="softmax")
    ax.figure.canvas.draw()
    (drawn,) = of_kind(ax, FancyArrowPatch)
    one, two, three = drawn.get_path().vertices[:3]  # of the quadratic curve that is its shaft
    s = np.linspace(0, 1, 101)[:, None]
    curve = (1 - s) ** 2 * one + 2 * s * (1 - s) * two + s**2 * three
    left, top, right, bottom = reach(ax, ax.texts[0])
    touching = (
        (left < curve[:, 0]) & (curve[:, 0] < right) & (top < curve[:, 1]) & (curve[:, 1] < bottom)
    )
    assert not touching.any()
    along, off = np.subtract(end, start), curve[50] - np.add(start, end) / 2
    to_the_left = off @ [along[1], -along[0]] / (along @ along)  # y runs down
    assert to_the_left == pytest.approx(bend, abs=0.02)


def test_labels_stand_outside_one_for_all_or_one_for_each(ax):
    block = cells(ax, (5, 3), [[1, 2, 3], [4, 5, 6]])
    label(ax, block, "left", "cat", "there")
    label(ax, block, "top", "a", "b", "c")
    label(ax, block, "right", "$(T, d_k)$")
    label(ax, block, "bottom", "weights\nby rows")
    edges = {name: reach(ax, text) for name, text in texts(ax).items()}
    for name, row in (("cat", 0), ("there", 1)):
        assert (
            edges[name][2] < block.x
            and texts(ax)[name].get_position()[1] == block[row, 0].middle[1]
        )
    for name, column in zip("abc", range(3), strict=True):
        assert edges[name][3] < block.y
        assert texts(ax)[name].get_position()[0] == block[0, column].middle[0]
    assert edges["$(T, d_k)$"][0] > block.x + block.width
    assert edges["weights\nby rows"][1] > block.y + block.height


def test_a_brace_spans_its_side_and_its_text_stands_outside_it(ax):
    block = box(ax, (5, 3), "", (4, 2))
    for side in ("left", "right", "top", "bottom"):
        brace(ax, block, side, side)
        x, y = of_kind(ax, Polygon)[-1].get_xy().T
        spans = (y.min(), y.max()) if side in ("left", "right") else (x.min(), x.max())
        assert spans == pytest.approx((3, 5) if side in ("left", "right") else (5, 9))
        left, top, right, bottom = reach(ax, texts(ax)[side])
        outside = {"left": right < x.min(), "right": left > x.max(), "top": bottom < y.min()}
        assert outside.get(side, top > y.max())


def test_what_is_new_is_framed_around_and_lit_from_below(ax):
    block = box(ax, (5, 3), "new", (4, 2))
    light(ax, block, margin=0.5)
    ground, frame = ax.patches[-2:]
    for patch in (ground, frame):
        (x0, y0), (x1, y1) = (
            patch.get_path().get_extents(patch.get_transform() - ax.transData).get_points()
        )
        assert np.allclose([x0, x1, *sorted((y0, y1))], [4.5, 9.5, 2.5, 5.5])
    assert ground.get_zorder() < ax.patches[1].get_zorder() < frame.get_zorder()
    assert not frame.get_fill() and frame.get_linewidth() >= 2


def test_hands_turn_clockwise_from_twelve_and_sectors_with_them(ax):
    face = dial(ax, (4, 4), 2)
    assert of_kind(ax, Circle)[0].radius == 2
    for angle, way in ((0, (0, -1)), (math.pi / 2, (1, 0)), (math.pi, (0, 1)), (0.5, None)):
        hand(ax, face, angle, role="query", text="q", dashed=way is None)
        start, end = ax.lines[-1].get_xydata()
        way = way or (math.sin(0.5), -math.cos(0.5))
        assert np.allclose(start, (4, 4)) and np.allclose(
            (end - start) / np.hypot(*(end - start)), way
        )
        assert np.hypot(*(end - start)) < 2 < np.hypot(*np.subtract(ax.texts[-1].get_position(), 4))
    assert [line.get_linestyle() for line in ax.lines] == ["-"] * 3 + ["--"]
    sector(ax, face, 0, math.pi / 2)
    (wedge,) = of_kind(ax, Wedge)
    inside = wedge.get_path().contains_points([(5, 3), (3, 3), (5, 5), (3, 5)])
    assert inside.tolist() == [True, False, False, False]


def test_all_texts_have_the_size_that_a_phone_can_show(ax):
    block = cells(ax, (5, 3), [[1]])
    words(ax, (1, 1), "a word", gap=0.2)
    label(ax, block, "left", "name")
    arrow(ax, (1, 6), (8, 6), text="softmax")
    stack(ax, (12, 7), ["box"], (2, 1))
    note(ax, (8, 7.5), "note", weight="bold")
    assert len(ax.texts) == 7 and {text.get_fontsize() for text in ax.texts} == {SIZE}
    assert SIZE / 72 * 390 / WIDTH >= 11  # CSS px


LONG = "a note from one edge of the sheet to the other edge of it, and to no other"


def test_a_text_that_does_not_fit_is_a_little_smaller_and_so_are_those_beside_it(ax):
    box(ax, (1, 1), "elements", (2.05, 0.85))
    cells(ax, (4, 1), [["-0.58", "1"]], size=(1.15, 0.75))
    words(ax, (0, 3), "as many words of a sentence as a sheet of 16 can hold", gap=0.15)
    note(ax, (0.02, 5), LONG, align="left")
    assert len(ax.texts) == 17 and {text.get_fontsize() for text in ax.texts} == {TIGHT}
    assert all(0 <= reach(ax, text)[0] and reach(ax, text)[2] <= UNITS for text in ax.texts)


def test_a_text_in_a_box_is_named_by_what_it_stands_on(ax):
    box(ax, (1, 1), "values", (3, 1), role="value")
    note(ax, (8, 4), "note")
    assert [text.get_gid() for text in ax.texts] == ["on-009e73", None]


@pytest.mark.parametrize(
    ("draw", "says"),
    [
        (lambda ax: cells(ax, (0, 0), [[1, 2], [3]]), r"\[2, 1\]"),
        (lambda ax: cells(ax, (0, 0), []), r"\[\]"),
        (lambda ax: cells(ax, (0, 0), [1, 2]), r"\[0, 0\]"),
        (lambda ax: cells(ax, (0, 0), torch.zeros(2, 0)), r"\[0, 0\]"),
        (lambda ax: cells(ax, (0, 0), [[1]], weights=1.2), "weight.* 1.2"),
        (lambda ax: cells(ax, (0, 0), [[1]], weights=math.nan), "weight.* nan"),
        (lambda ax: cells(ax, (0, 0), [[1, 2]], weights=torch.ones(2, 1, 2)), "1 × 2 "),
        (lambda ax: cells(ax, (0, 0), [[1, 2]], struck=[True, False, True]), "1 × 2 "),
        (lambda ax: cells(ax, (0, 0), [[1]], role="quary"), "'quary'.*'query'"),
        (lambda ax: cells(ax, (0, 0), [["a long text"]]), "'a long text' .* 1.05 × 0.85"),
        (lambda ax: box(ax, (1, 1), "tall", (4, 0.2)), "'tall' .* 4.00 × 0.20"),
        (lambda ax: box(ax, (14, 1), "a", (3, 1)), "shape.* 14.00 .* 17.00"),
        (lambda ax: box(ax, (1, -0.5), "a", (3, 1)), "shape.* -0.50 .* 0.50"),
        (lambda ax: box(ax, (1, 1), "a", (3, 1), role="answer"), "'answer'"),
        (lambda ax: note(ax, (15.5, 1), "beyond"), "'beyond'"),
        (lambda ax: note(ax, (3, 7.95), "below"), "'below'"),
        (lambda ax: picture(ax, (1, 1), torch.zeros(2, 4, 4), 3), r"\(2, 4, 4\)"),
        (lambda ax: picture(ax, (14, 1), torch.zeros(4, 4), 3), "shape.* 14.00 .* 17.00"),
        (lambda ax: words(ax, (1, 1), "much " * 20, gap=0.2), "shape.* 16.00 "),
        (lambda ax: arrow(ax, (1, 1), (2, 2), weight=-0.1), "weight.* -0.1"),
        (lambda ax: arrow(ax, (1, 1), (2, 2), role="W_q"), "'W_q'"),
        (lambda ax: arrow(ax, (1, 1), (20, 1)), "arrow.* 20.00 "),
        (lambda ax: arrow(ax, (1, 1), (15, 1), bend=0.3), "arrow.* -3.20 "),
        (lambda ax: hand(ax, Block(1, 1, 2, 2), 0, role="clock"), "'clock'"),
        (lambda ax: dial(ax, (1, 4), 2), "shape.* -1.00 .* 3.00"),
        (lambda ax: label(ax, Block(4, 4, 2, 2, 2, 3), "top", "a", "b"), " 3 cells .* 2"),
        (lambda ax: label(ax, Block(4, 4, 2, 2), "above", "a"), "'above'"),
        (lambda ax: brace(ax, Block(4, 4, 2, 2), "above", "a"), "'above'"),
        (lambda ax: Block(0, 0, 2, 2, 2, 2)[2, 0], r"\(2, 0\)"),
        (lambda ax: Block(0, 0, 2, 2, 2, 2)[0, 2:], r"\(0, slice\(2"),
    ],
)
def test_bad_input_gets_one_sentence(ax, draw, says):
    with pytest.raises(ValueError, match=says) as refused:
        draw(ax)
    assert "\n" not in str(refused.value)


def test_the_package_offers_what_it_names():
    assert all(hasattr(diagrams, name) for name in diagrams.__all__)
