"""Day 12's digits: what is shuffled, how both networks are trained, and what a ViT looks at."""

import pytest
import torch

from utils.data.pictures import Dataset, Split, digits
from utils.exercises.vision.attention_distance import attention_distance
from utils.exercises.vision.position_likeness import position_likeness
from utils.tasks import patches as task
from utils.training.optimisers import MuonAndAdamW
from utils.vision import patches


@pytest.mark.parametrize("kind", task.NETWORKS)
def test_each_network_gives_ten_scores_and_the_seed_draws_it(kind):
    one, same, other = (task.network(kind, seed) for seed in (0, 0, 1))
    images = torch.rand(3, 1, 8, 8)
    assert one(images).shape == (3, 10)
    assert torch.equal(one(images), same(images)) and not torch.equal(one(images), other(images))


def test_an_unknown_network_or_order_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="ViT"):
        task.network("RNN")
    with pytest.raises(ValueError, match="pixels"):
        task.shuffled(torch.rand(1, 1, 8, 8), "rows")


@pytest.mark.parametrize("kind", task.NETWORKS)
def test_a_network_for_the_digits_is_the_one_for_the_digits(kind):
    data = digits("file order")
    one, same = task.network(kind, 3), task.network_for(data, kind, seed=3)
    assert str(one) == str(same)
    assert all(map(torch.equal, one.parameters(), same.parameters()))


@pytest.mark.parametrize("kind", task.NETWORKS)
@pytest.mark.parametrize(("sizes", "P"), [((5, 3, 28, 28), None), ((4, 2, 30, 30), 6)])
def test_a_network_has_the_sizes_of_the_data_and_learns_them(kind, sizes, P):
    torch.manual_seed(0)
    part = Split(torch.rand(sizes), torch.arange(len(sizes)) + 7)
    held = Dataset(part, part, part, tuple("abcdefghijk"))
    part = Split(part.images[:4], part.labels)
    model = task.network_for(held, kind, patch_size=P)
    assert model(part.images).shape == (4, 11)
    task.train(model, part, steps=30, rate=1e-2, jittered=False)
    assert task.reads(model, part) == 1


def test_patches_that_do_not_divide_the_data_are_refused():
    part = Split(torch.rand(3, 1, 12, 12), torch.arange(3))
    with pytest.raises(ValueError, match="5 .* 12"):
        task.network_for(Dataset(part, part, part, tuple("abc")), patch_size=5)
    with pytest.raises(ValueError, match="CNN"):
        task.network_for(Dataset(part, part, part, tuple("abc")), "RNN")


def test_positions_begin_as_small_as_in_the_paper():
    table = task.network("ViT").encoder.embedding.positions.table
    assert 0.017 < table.std() < 0.023


def test_pictures_are_drawn_anew_for_each_seed():
    part = digits("file order").train
    few, again, others = (task.some_of(part, 50, seed) for seed in (0, 0, 1))
    assert len(few.labels) == 50 and torch.equal(few.images, again.images)
    assert not torch.equal(few.images, others.images)
    with pytest.raises(ValueError, match="1221 pictures"):
        task.some_of(part, 1222)


def test_patches_are_shuffled_whole_and_alike_in_all_pictures():
    images = torch.rand(2, 1, 8, 8)
    before, after = patches(images, 2), patches(task.shuffled(images, "patches"), 2)
    same = (before[:, :, None] == after[:, None]).all(dim=3)  # (B, N, N)
    assert same.sum() == 2 * 16 and torch.equal(same[0], same[1])
    assert not torch.equal(before, after)
    assert torch.equal(task.shuffled(images, "as it is"), images)


def test_pixels_are_shuffled_alike_in_all_pictures():
    images = torch.rand(2, 1, 8, 8)
    after = task.shuffled(images, "pixels")
    order = [(images[0].flatten() == value).nonzero().item() for value in after[0].flatten()]
    assert sorted(order) == list(range(64)) and order != list(range(64))
    assert torch.equal(images[1].flatten()[order], after[1].flatten())


def test_a_vit_has_the_same_logits_where_patches_and_positions_are_shuffled_alike():
    model, images = task.network("ViT").double(), torch.rand(2, 1, 8, 8).double()
    before = model(images)
    order = torch.randperm(16, generator=torch.Generator().manual_seed(0))
    table = model.encoder.embedding.positions.table
    with torch.no_grad():
        table[1:] = table[1:][order]
    torch.testing.assert_close(model(task.shuffled(images, "patches")), before)


@pytest.mark.parametrize("kind", task.NETWORKS)
def test_training_reads_more_than_chance_and_is_the_same_twice(kind):
    part = Split(*(tensor[:100] for tensor in digits("file order").train))
    read = []
    for _ in range(2):
        model = task.network(kind)
        task.train(model, part, steps=40)
        read.append((task.reads(model, part), [w.detach() for w in model.parameters()]))
    assert read[0][0] == read[1][0] > 0.25
    assert all(map(torch.equal, read[0][1], read[1][1]))


def test_muon_has_the_matrices_of_blocks_alone():
    model = task.network("ViT")
    optimiser, schedule = task.optimiser_for(model, [model.encoder.blocks], 0.02, 40)
    assert isinstance(optimiser, MuonAndAdamW)
    assert {w.dim() for w in optimiser.param_groups[0]["params"]} == {2}
    assert optimiser.param_groups[1]["initial_lr"] == pytest.approx(0.004)
    rates = []
    for _ in range(40):
        rates.append(optimiser.param_groups[0]["lr"])
        optimiser.step()
        schedule.step()
    assert max(rates) == pytest.approx(0.02) and rates.index(max(rates)) in (1, 2)
    assert optimiser.param_groups[0]["lr"] == pytest.approx(0, abs=1e-6)
    alone, _ = task.optimiser_for(task.network("CNN"), [], 0.02, 40)
    assert type(alone) is torch.optim.AdamW and alone.defaults["lr"] == 0.02


def test_distances_and_likeness_are_the_exercises():
    model, images = task.network("ViT").double(), torch.rand(5, 1, 8, 8).double()
    _, weights = model(images, need_weights=True)
    for layer, found in enumerate(task.looks(model, images)):
        torch.testing.assert_close(found, attention_distance(weights[:, layer], 4, 4).detach())
    table = model.encoder.embedding.positions.table.detach()
    maps = position_likeness(table, 4, 4).reshape(16, 16)
    torch.testing.assert_close(task.likeness(table[1:]), maps)


@pytest.mark.parametrize(
    "best, rates",
    [
        (2.0, [1.0, 2.0, 4.0]),
        (16.0, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]),
        (0.25, [1.0, 2.0, 4.0, 0.5, 0.25, 0.125]),
    ],
)
def test_rates_are_tried_beyond_the_edge_until_the_best_has_neighbours(best, rates):
    trained = []

    def train(rate: float, seed: int):
        trained.append((rate, seed))
        return rate, seed

    def judged(model):
        return -abs(model[0] - best)

    found = task.tuned(train, judged, (1.0, 2.0, 4.0), (7, 3, 5), widen=True)
    assert found.rate == best
    assert found.by_rate == [-abs(rate - best) for rate in rates]
    assert found.models == [(best, 7), (best, 3), (best, 5)]
    assert trained == [*((rate, 7) for rate in rates), (best, 3), (best, 5)]
    narrow = task.tuned(train, judged, (1.0, 2.0, 4.0), (7,))
    assert narrow.rate == min(max(best, 1.0), 4.0) and len(narrow.by_rate) == 3


def test_of_rates_that_are_equal_the_first_counts_and_the_search_ends():
    found = task.tuned(lambda *rate_and_seed: None, lambda _: 1.0, (3.0, 9.0), (0,), widen=True)
    assert found.rate == 3.0 and len(found.by_rate) == 3


def test_readers_are_judged_on_the_validation_part_at_a_rate_inside_those_tried(monkeypatch):
    monkeypatch.setattr(task, "RATES", {"CNN": (1e-4, 1e-3)})
    held = digits("file order")
    found = task.best_readers("CNN", held, 40, steps=8)
    best = found.by_rate.index(max(found.by_rate))
    assert 1 <= best < len(found.by_rate) - 1 and found.rate == pytest.approx(10.0 ** (best - 4))
    assert found.by_rate[best] == task.reads(found.models[0], held.validation)
