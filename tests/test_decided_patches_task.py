"""Which patches a sentence depends on: four ways, and the scene's truth."""

import pytest
import torch

from utils.data.scenes import draw, understand
from utils.tasks import decided_patches as task
from utils.tasks.scenes import clip, vectors_of

PICTURE = draw(understand("a red three left of a blue seven"), 0).clamp(min=0.1)


def test_each_patch_is_hidden_once_and_nothing_else_changes():
    hidden = task.hidden_in_turn(PICTURE, 4)
    assert hidden.shape == (36, 3, 24, 24)
    assert (hidden[7, :, 4:8, 4:8] == 0).all()
    hidden[7, :, 4:8, 4:8] = PICTURE[:, 4:8, 4:8]
    assert torch.equal(hidden[7], PICTURE)


def test_shares_of_attention_add_up_and_occlusion_is_a_fall():
    model = clip(0).eval()
    (sentence,) = vectors_of(model, [understand("a red three")])
    found = task.scores(model, PICTURE, sentence)
    assert tuple(found) == task.WAYS and all(of.shape == (36,) for of in found.values())
    assert 0 < found["attention"].sum() < 1 and 0 < found["roll-out"].sum() < 1
    blank = PICTURE.clone()
    blank[:, :4, :4] = 0
    with torch.no_grad():
        both = model.encode_images(torch.stack([PICTURE, blank])) @ sentence
    assert found["occlusion"][0].item() == pytest.approx((both[0] - both[1]).item(), abs=1e-6)


def test_where_there_is_no_ink_nothing_can_fall():
    model = clip(0).eval()
    (sentence,) = vectors_of(model, [understand("a red three")])
    picture = draw(understand("a red three left of a blue seven"), 0)
    found = task.scores(model, picture, sentence)
    for way in ("gradient × input", "occlusion"):
        assert (found[way][~task._inked(picture, 4)].abs() < 1e-6).all() and found[way].any()


def test_the_strongest_patch_is_asked_for_the_named_thing(monkeypatch):
    def knows(model, picture, sentence):
        ink = task._inked(picture, 4).float()
        return dict.fromkeys(task.WAYS, -ink) | {"knows ink": ink}

    monkeypatch.setattr(task, "scores", knows)
    monkeypatch.setattr(task, "WAYS", ("knows ink", *task.WAYS))
    found = task.on_the_thing(clip(0).eval(), 20)
    assert found["occlusion"] == 0 and 0 < found["knows ink"] <= 1 and 0.2 < found["any ink"] < 0.8
