"""The larger pictures of Day 1 show what the layers compute."""

import pytest
import torch
from drawings import numbers, texts

from utils import convolution
from utils.data.sequences import two_marks
from utils.show.mechanisms import convolution as convolution_pictures

pytestmark = pytest.mark.usefixtures("closed")


SMALL = torch.tensor([[1.0, 2, 0, 1], [0, 1, 3, 2], [2, 0, 1, 1]])
KERNEL = torch.tensor([[1.0, -1], [2, 0]])


def test_one_place_is_drawn_with_the_numbers_of_the_layer():
    map_ = convolution.conv2d(SMALL[None, None], KERNEL[None, None])[0, 0]
    ax = convolution_pictures.one_place(SMALL, KERNEL)
    drawn = numbers(ax)
    assert drawn[:16] == [*SMALL.flatten().tolist(), *KERNEL.flatten().tolist()]
    assert drawn[16:] == [map_[0, 0].item()]
    (told,) = [text for text in texts(ax) if "=" in text]
    sum_, result = told.replace("−", "-").split("=")
    assert eval(sum_.replace("·", "*")) == float(result) == map_[0, 0]


def test_a_map_is_as_large_as_the_settings_make_it():
    said = texts(convolution_pictures.settings())
    ways = {"plain": (1, 0, 1), "padding 1": (1, 1, 1)}
    ways |= {"stride 2, padding 1": (2, 1, 1), "dilation 2": (1, 0, 2)}
    for name, how in ways.items():
        size = convolution.conv_output_size(5, 3, *how)
        assert said[said.index(name) + 1] == f"{size} × {size}"


@pytest.mark.parametrize("x", [[0.0, 0, 1, 1, 0, 0, 0, 0], [0.0, 1, 0, 2, 0, 0, 0]])
def test_what_moves_along_is_computed_at_both_strides(x):
    x, w = torch.tensor(x), torch.tensor([1.0, -1])
    drawn, expected = numbers(convolution_pictures.moved_along(x, w)), []
    for stride in (1, 2):
        for row in (x, x.roll(1)):
            y = torch.nn.functional.conv1d(row[None, None], w[None, None], stride=stride)
            expected += [*row.tolist(), *y.flatten().tolist()]
    assert drawn == expected


def test_pooling_is_drawn_with_the_numbers_of_the_layer():
    x = torch.tensor([[0.0, 2, 1, 0], [1, 0, 0, 3], [0, 0, 5, 1], [1, 0, 2, 2]])
    pooled = convolution.max_pool2d(x[None, None], 2).flatten().tolist()
    drawn = numbers(convolution_pictures.pooled(x))
    assert drawn[:16] == x.flatten().tolist() and drawn[16:20] == pooled
    assert abs(drawn[20] - x.mean().item()) < 0.0051


@pytest.mark.parametrize(
    ("how", "layers"),
    [
        ({}, [(3, 1, 1)] * 3),
        ({"strides": (1, 2, 1)}, [(3, 1, 1), (3, 2, 1), (3, 1, 1)]),
        ({"dilations": (1, 2, 4)}, [(3, 1, 1), (3, 1, 2), (3, 1, 4)]),
        ({"strides": (1, 1), "dilations": (1, 1)}, [(3, 1, 1)] * 2),
    ],
)
def test_the_top_unit_sees_what_the_formula_says(how, layers):
    ax = convolution_pictures.reach(**how)
    field = convolution.receptive_field(layers)
    assert f"sees {field}" in texts(ax)


def test_a_line_has_its_marks_where_the_task_has_them():
    lines, first = two_marks(4, length=20, distance=6, seed=2)
    ax = convolution_pictures.marks(lines)
    places = [(text.get_text(), *text.get_position()) for text in ax.texts if text.get_text()]
    circles, squares = (sorted((y, x) for sign, x, y in places if sign == s) for s in "○□")
    assert len(circles) == len(squares) == 4
    for (y, circle), (below, square), who in zip(circles, squares, first.tolist(), strict=True):
        assert y == below and (circle > square) == who
        assert abs(abs(circle - square) - 6 * 15 / 20) < 1e-6


def test_the_card_fills_its_sheet_from_the_first_place_to_the_last():
    said = texts(convolution_pictures.card(SMALL / 3, KERNEL))
    weights = [f"{weight:g}" for weight in KERNEL.flatten().tolist()]
    read = [text.replace("−", "-") for text in said if text]
    assert read == [*weights, "the card", "first", "next", "… last"]


def test_channels_have_a_slice_for_each_and_a_map_for_each_kernel():
    said = texts(convolution_pictures.channels())
    assert [said.count(name) for name in ("red", "kernel 1", "kernel 2", "map 1", "map 2")] == [
        1
    ] * 5
    assert said.count("+ $b$") == 2


def test_the_road_leads_around_two_convolutions():
    said = texts(convolution_pictures.roads())
    assert said.count("conv") == said.count("ReLU") == 2 and "the road around" in said
