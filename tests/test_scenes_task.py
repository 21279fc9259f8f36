"""Day 12's scenes: batches of pictures with sentences, sentences to choose from, what is judged."""

from random import Random

import pytest
import torch

from utils.data.scenes import (
    PAIRS_UNSEEN,
    VOCABULARY,
    Scene,
    Thing,
    drawn,
    exchanged,
    part_of,
    shows,
    understand,
)
from utils.tasks import captions
from utils.tasks import scenes as task

THREE = Scene((Thing("three", "red"),))


def scenes_of(ids, lengths):
    """The scenes that some sentences describe, from their ids."""
    decoded = [VOCABULARY.decode(row[:n]) for row, n in zip(ids, lengths, strict=True)]
    return [
        understand((" " if found[0].isascii() else "").join(found).replace("i can", "I can"))
        for found in decoded
    ]


def test_a_batch_has_different_scenes_each_with_its_picture_and_its_sentence():
    batches = captions.PicturesAndSentences(1, 40, n=300)
    chosen = batches.batch(Random(0))
    pictures, ids, lengths, rows = captions.told(chosen, Random(0))
    assert pictures.shape == (40, 3, 24, 24) and rows.tolist() == list(range(40))
    found = scenes_of(ids, lengths)
    assert len(set(found)) == 40
    assert all(shows(picture, scene) for picture, scene in zip(pictures, found, strict=True))
    assert not any(
        shows(picture, scene) for picture, scene in zip(pictures, found[1:], strict=False)
    )
    assert [len(scene.things) for scene in chosen] == [1] * 13 + [2] * 13 + [3] * 14


@pytest.mark.parametrize("batch_size", [8, 64, 200])
def test_what_comes_alone_is_one_thing_and_no_more_than_the_batch(batch_size):
    (batch,) = captions.PicturesAndSentences(1, batch_size, alone=1, n=3000)
    found = scenes_of(*batch[1:3])
    assert len(set(found)) == min(batch_size, 64) and {len(s.things) for s in found} == {1}


def test_a_batch_needs_as_many_scenes_as_it_holds():
    batches = captions.PicturesAndSentences(1, 90, n=60)
    with pytest.raises(ValueError, match=r" 90 .* scenes .* 3 "):
        batches.batch(Random(0))


def test_batches_are_others_at_each_pass_and_the_same_for_a_seed():
    batches = captions.PicturesAndSentences(2, 4, n=100)
    passes = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        passes.append(torch.cat([pictures for pictures, *_ in batches]))
    assert len(batches) == 2 and passes[0].shape[0] == 8
    assert torch.equal(passes[0], passes[1]) and not torch.equal(passes[0], passes[2])


def test_hard_batches_hold_others_with_the_same_words_for_training_and_no_pair_that_is_kept_out():
    batches = captions.PicturesAndSentences(1, 60, n=300, hard=1.0)
    chosen = batches.batch(Random(0))
    _, ids, lengths, _ = captions.told(chosen, Random(0))
    bags = [tuple(sorted(row[:n].tolist())) for row, n in zip(ids, lengths, strict=True)]
    place = {scene: i for i, scene in enumerate(chosen)}
    partners = [(scene, own) for scene, own in chosen.items() if own]
    assert len(partners) > 15 and len(chosen) == 60
    assert all(bags[place[scene]] == bags[place[own]] for scene, own in partners)
    assert all(part_of(scene) == "train" for scene in chosen if len(scene.things) > 1)
    assert [len(scene.things) for scene in chosen].count(3) == 20
    for scene in scenes_of(ids, lengths):
        assert PAIRS_UNSEEN.isdisjoint((t.form, t.colour) for t in scene.things)
    assert all(other in exchanged(s) for s in batches.pool[2] for other in captions.near(s))
    assert not any(captions.PicturesAndSentences(1, 60, n=300).batch(Random(0)).values())


def test_a_bag_of_words_tells_half_of_the_exchanged_sentences_apart():
    model = task.clip().eval()
    with torch.no_grad():
        model.text_encoder.encoder.embedding.positions.table.zero_()
    assert set(task.told_from_exchanged(model, 40).values()) == {0.5}


@pytest.mark.parametrize("kind", task.KINDS)
def test_sixteen_different_scenes_begin_with_the_given_one(kind):
    found = task.candidates(THREE, kind, 3)
    assert len(found) == len(set(found)) == 16 and found[0] == THREE


def test_hard_sentences_share_the_form_or_the_colour():
    things = [scene.things[0] for scene in task.candidates(THREE, "hard")[1:]]
    assert all((thing.form == "three") != (thing.colour == "red") for thing in things)
    assert len({thing.colour for thing in things if thing.form == "three"}) == 4


def test_a_shape_keeps_its_size_among_easy_and_hard_sentences():
    shown = Scene((Thing("circle", "red", "large"),))
    for kind in ("easy", "hard"):
        sizes = {thing.size for scene in task.candidates(shown, kind) for thing in scene.things}
        assert sizes == {"large", None}


def test_several_things_have_no_easy_sentences_and_no_other_kind_is_known():
    two = Scene((Thing("three", "red"), Thing("four", "blue")), ("above",))
    with pytest.raises(ValueError, match="mixed"):
        task.candidates(two, "hard")
    with pytest.raises(ValueError, match="easy"):
        task.candidates(THREE, "odd")


class Knows(torch.nn.Module):
    """Sees what `pictures` were drawn from, and gives each scene a direction of its own."""

    def __init__(self, shown):
        super().__init__()
        self.shown, self.vectors = shown, {}

    def direction(self, scene):
        torch.manual_seed(len(self.vectors))
        return self.vectors.setdefault(scene, torch.nn.functional.normalize(torch.randn(64), dim=0))

    def encode_images(self, pictures):
        return torch.stack([self.direction(scene) for scene in self.shown])

    def encode_texts(self, ids, lengths):
        return torch.stack([self.direction(scene) for scene in scenes_of(ids, lengths)])


def test_what_knows_all_chooses_its_own_sentence_wherever_it_is():
    shown = task.distinct_scenes(12, 0, part="test")
    model, pictures = Knows(shown), drawn(shown, 0, "test")
    options = [task.candidates(scene, "mixed", i) for i, scene in enumerate(shown)]
    assert task.chosen(model, pictures, options).tolist() == [0] * 12
    assert task.chosen(model, pictures, [of[::-1] for of in options]).tolist() == [15] * 12


def test_an_untrained_model_is_near_chance_and_scores_are_shares():
    model = task.clip()
    assert task.named(model, 100, kind="hard") < 0.4
    assert all(share < 0.2 for share in task.retrieved(model, 50))
    found = task.told_from_exchanged(model, 100)
    assert set(found) == set(task.EXCHANGES)
    assert all(0.2 < share < 0.8 for share in found.values())


def test_training_lowers_the_loss_with_the_loss_that_is_given():
    model, called = task.clip(), []

    def loss(images, texts, temperature):
        called.append(temperature.item())
        return task.contrastive_loss(images, texts, temperature)

    before = model.log_scale.item()
    history = task.train(model, captions.PicturesAndSentences(12, 24, n=200), loss=loss)
    assert len(called) == 12 and history.step_loss[-1] < history.step_loss[0]
    assert model.log_scale.item() != before


def test_a_fixed_temperature_stays():
    model = task.clip(temperature=0.1)
    task.train(model, captions.PicturesAndSentences(2, 8, n=100), learn_temperature=False)
    assert model.temperature.item() == pytest.approx(0.1)


def test_found_both_ways_is_the_mean_of_three_draws_of_a_part(monkeypatch):
    shares = {0: (0.2, 0.4), 1: (0.6, 0.8), 2: (1.0, 0.0)}
    asked = []

    def retrieved(model, *, part, seed):
        asked.append((model, part))
        return shares[seed]

    monkeypatch.setattr(task, "retrieved", retrieved)
    assert task.found_both_ways("clip", "test") == pytest.approx(0.5)
    assert asked == [("clip", "test")] * 3
