"""Day 12's pictures show what is counted and computed."""

import math

import pytest
import torch
from drawings import arrows, near, numbers, places, texts

from utils.show.mechanisms import vision

pytestmark = pytest.mark.usefixtures("closed")

IMAGE = torch.rand(3, 8, 8, generator=torch.Generator().manual_seed(0))


def test_patches_are_those_of_the_picture_row_by_row():
    ax = vision.row(IMAGE, 2)
    whole, *shown = (torch.as_tensor(image.get_array()).permute(2, 0, 1) for image in ax.images)
    assert torch.equal(whole, IMAGE) and len(shown) == 32
    for parts in (shown[:16], shown[16:]):
        assert torch.equal(parts[1], IMAGE[:, :2, 2:4]) and torch.equal(parts[4], IMAGE[:, 2:4, :2])
    assert [f"{i}" for i in range(1, 17)] == [text for text in texts(ax) if text.isdigit()]


def test_a_token_is_made_of_one_channel_after_the_other():
    patch = torch.arange(1, 13).view(3, 2, 2) / 20
    shown = texts(vision.token(patch))
    values = [text for text in shown if text.startswith(".")]  # each plane, then laid flat
    planes = [[f"{value:.1f}".lstrip("0") for value in plane.flatten().tolist()] for plane in patch]
    assert values == [value for plane in planes for value in 2 * plane]
    assert {"red", "green", "blue", "$D$ × 12 weights"} <= set(shown)


def test_the_answer_comes_from_the_class_token_alone():
    ax = vision.sequence(IMAGE, 2, "“3”", (1, 6, 7, 8, 16))
    dashed = [arrow for arrow in arrows(ax) if arrow.get_linestyle() != "-"]
    assert len(dashed) == 5 and texts(ax).count("…") == 2
    sixth = torch.as_tensor(ax.images[1].get_array()).permute(2, 0, 1)
    assert torch.equal(sixth, IMAGE[:, 2:4, 2:4])


def test_the_patch_below_is_a_whole_row_further_on():
    ax = vision.plane(4, 6)
    (_, above), (_, below) = places(ax, "6")
    assert above < below and len(places(ax, "10")) == 2


def test_the_distance_is_the_weighted_mean():
    weights = torch.zeros(3, 3)
    weights[0, 0], weights[1, 2] = 0.25, 0.75
    ax = vision.looked(weights, (0, 0))
    mean = 0.75 * math.sqrt(5)
    assert f"sum of all products: {mean:.2f} patches" in texts(ax)


def test_a_table_is_read_by_rows_and_by_columns():
    similarity = torch.tensor([[0.9, 0.1], [0.3, 0.6]])
    drawn = numbers(vision.table([IMAGE, IMAGE], ["one", "two"], similarity))
    assert near(drawn, similarity)
    rows, columns = ((similarity / 0.5).softmax(dim=dim) for dim in (1, 0))
    drawn = numbers(vision.both_ways(similarity, 0.5))
    assert near([number for number in drawn if number < 1], rows, columns)


def test_two_towers_meet_in_one_space():
    shown = texts(vision.towers([IMAGE, IMAGE], ["one", "two"]))
    assert {"image\nencoder", "text\nencoder", "one space", "one", "two"} == set(shown)


def test_sentences_with_the_same_words_are_one_bag():
    ax = vision.exchange([IMAGE, IMAGE], ["a red three", "three red a"])
    assert texts(ax)[-3:] == ["a", "red", "three"]
    with pytest.raises(ValueError, match="a red three / a blue three"):
        vision.exchange([IMAGE, IMAGE], ["a red three", "a blue three"])
