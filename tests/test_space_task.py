"""Day 12: what the space is like that pictures and sentences share, and what misleads in it."""

import pytest
import torch

from utils.data.scenes import Scene, Thing
from utils.show.views import models
from utils.tasks import space
from utils.tasks.scenes import clip, restored_clip

THREE = Scene((Thing("three", "red"),))


@pytest.fixture(scope="module")
def model():
    held = models.load("clip")
    return restored_clip(held.weights, held.header["temperature"])


def test_a_gap_is_the_distance_of_means():
    images = torch.tensor([[1.0, 0, 0], [0, 1, 0]])
    found = space.gap(images, -images)
    assert found == {"gap": pytest.approx(2**0.5), "own": -1, "others": 0}


def test_sentences_and_a_probe_name_forms_and_chance_is_less(model):
    untrained = clip().eval()
    assert space.worded(model, 60) > 0.7 > 0.4 > space.worded(untrained, 60)
    assert space.probed(model, 200, 60) > 0.6 > space.probed(model, 15, 60)
    assert space.probed(model, 50, 60, seed=1) != space.probed(model, 50, 60)


def test_shuffled_words_are_found_less_often_and_a_thing_beside_it_misleads(model):
    in_order, shuffled = (space.found_first(model, 200, shuffled=how) for how in (False, True))
    assert in_order > shuffled > 0.3
    found = space.misled(model, 60)
    assert found["alone"] > 0.7 > found["beside another"] > 0.1 and found["the other"] > 0.1
    assert found["beside another"] + found["the other"] <= 1


def test_another_form_keeps_what_it_can():
    circle = Thing("circle", "red", "large")
    assert space.with_another(circle, "three") == THREE
    assert space.with_another(circle, "square").things[0].size == "large"
    assert space.with_another(THREE.things[0], "square").things[0].size == "small"
