"""Day 12: what the space is like that pictures and sentences share, and what misleads in it."""

import pytest
import torch

from utils.data.scenes import Scene, Thing
from utils.tasks import space
from utils.tasks.scenes import clip

THREE = Scene((Thing("three", "red"),))


@pytest.fixture(scope="module")
def model():
    return clip().eval()


def test_a_gap_is_the_distance_of_means():
    images = torch.tensor([[1.0, 0, 0], [0, 1, 0]])
    found = space.gap(images, -images)
    assert found["gap"] == pytest.approx(2**0.5) and found["own"] == -1
    assert found["others"] == found["among pictures"] == found["among sentences"] == 0


def test_shares_of_an_untrained_model_are_low_and_of_its_probe_not(model):
    assert space.worded(model, "form", 60) < 0.4 and space.worded(model, "colour", 60) < 0.7
    assert space.probed(model, "colour", 200, 60) > 0.5
    found = space.misled(model, 30)
    assert set(found) == {"alone", "beside another", "the other"} and found["alone"] < 0.5
    for share in (space.found_by_bag(model, 20), space.found_in_order(model, 20)):
        assert share < 0.5


def test_another_form_keeps_what_it_can():
    circle = Thing("circle", "red", "large")
    assert space.with_another(circle, form="three") == THREE
    assert space.with_another(circle, form="square").things[0].size == "large"
    assert space.with_another(THREE.things[0], form="square").things[0].size == "small"
    assert space.with_another(THREE.things[0], colour="blue").things[0].colour == "blue"
