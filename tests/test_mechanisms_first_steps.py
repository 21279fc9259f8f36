"""Day 0's pictures show what the layer, autograd and a step compute."""

import pytest
import torch
from drawings import near, numbers, texts
from torch.nn import functional as F

from utils.show.mechanisms import first_steps

pytestmark = pytest.mark.usefixtures("closed")


def pixels_and_weights() -> tuple[torch.Tensor, torch.Tensor]:
    """The layer's weights, a column for each class (4, 3), and its pixels (4, 1), as drawn."""
    found = torch.tensor(numbers(first_steps.layer()))
    return found[:12].view(4, 3), found[12:16, None]


def test_a_drawn_score_is_the_sum_of_weights_times_pixels():
    W, x = pixels_and_weights()
    drawn = numbers(first_steps.layer())[16:19]
    assert near(drawn, x.T @ W)
    told = next(text for text in texts(first_steps.layer()) if text.startswith("= "))
    products = [part.replace("−", "-").split("·") for part in told[2:].split(" + ")]
    assert [[float(number) for number in product] for product in products] == [
        [pixel, weight] for pixel, weight in zip(x[:, 0].tolist(), W[:, 1].tolist(), strict=True)
    ]


def test_the_drawn_slopes_are_autograds_and_only_a_pixel_without_ink_has_none():
    W, x = pixels_and_weights()
    W.requires_grad_()
    scores = x.T @ W
    F.cross_entropy(scores, torch.tensor([2])).backward()
    p = scores.detach().softmax(1)
    drawn = numbers(first_steps.layer(back=True))[22:43]  # after the layer and its classes
    said, wanted, error, slopes = drawn[:3], drawn[3:6], drawn[6:9], drawn[9:]
    assert near(said, p) and wanted == [0, 0, 1] and near(error, p - torch.tensor(wanted))
    assert near(slopes, W.grad)
    assert all((slope == 0) == (i < 3) for i, slope in enumerate(slopes))


def test_the_drawn_column_and_row_are_stretched_as_tensors_are():
    ax = first_steps.stretched()
    drawn = numbers(ax)
    column, row = torch.tensor(drawn[:12]).view(3, 4), torch.tensor(drawn[12:24]).view(3, 4)
    assert near(drawn[24:], column[:, :1] + row[0])
    assert torch.equal(column, column[:, :1].expand(3, 4)) and torch.equal(
        row, row[:1].expand(3, 4)
    )
    assert [text for text in texts(ax) if text.startswith("(")] == ["(3, 1)", "(4,)", "(3, 4)"]


def test_one_drawn_step_is_the_learning_rate_times_the_slope():
    ax = first_steps.one_step()
    places = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    start, end = ((x - 8) / 6 for x in places)
    assert start == pytest.approx(0.9) and end == pytest.approx(0.9 - 0.3 * 2 * 0.9)


def test_one_walk_goes_down_and_the_other_up():
    points = [line for line in first_steps.walks().lines if line.get_marker() == "o"]
    heights = [line.get_ydata().tolist() for line in points]  # y runs down the sheet
    assert len(heights) == 2 and heights[0] == sorted(heights[0])
    assert heights[1] == sorted(heights[1], reverse=True)


def test_the_graphs_numbers_are_those_of_its_equation():
    x, y = 3.0, 4.0
    w, b = (torch.tensor(number, requires_grad=True) for number in (2.0, -1.0))
    loss = (w * x + b - y) ** 2 + w**2 / 2
    loss.backward()
    said = texts(first_steps.graph())
    assert f"L = {loss.item():g}" in said
    by_two_roads = next(text for text in said if " + " in text)
    assert by_two_roads.split("=")[1].strip() == f"{w.grad.item():g}"
    assert said[said.index("b = −1") + 1] == f"{b.grad.item():g}"
