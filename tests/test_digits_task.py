"""The networks that read digits: what stands between maps and scores, moves, and the best rate."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.convolution import ResidualBlock
from utils.data.pictures import Split, digits
from utils.exercises.convolution import everywhere, max_pooling, residual_block
from utils.measure import experiments
from utils.tasks import digits as task


def weights(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("kind", task.NETWORKS)
def test_each_network_gives_ten_scores(kind):
    assert task.network(kind)(torch.randn(3, 1, 8, 8)).shape == (3, 10)


def test_dense_and_convolutional_have_about_as_many_weights():
    ratio = weights(task.network("dense")) / weights(task.network("max pooling"))
    assert abs(ratio - 1) < 0.02


def test_an_unknown_network_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="no pooling"):
        task.network("pooling")


@pytest.mark.parametrize("kind", task.WHOLE)
def test_what_looks_at_whole_maps_forgets_where_things_are(kind):
    torch.manual_seed(0)
    head = task.network(kind)[-3:]
    maps = torch.randn(2, 48, 4, 4)
    torch.testing.assert_close(head(maps), head(maps.flip(2, 3)))


def test_the_lessons_functions_make_the_network_with_max_pooling():
    torch.manual_seed(0)
    model = task.network("max pooling").double()
    first, block, _, last, _, dense = model
    for conv in (first[0], last[0], block.f[0], block.f[2]):
        nn.init.normal_(conv.bias)
    x = torch.randn(2, 1, 8, 8, dtype=torch.float64)
    y = everywhere.conv2d(x, *first[0].parameters(), padding=1).relu()
    y = residual_block.residual_block(y, *block.f.parameters())
    y = max_pooling.max_pool2d(y, 2)
    y = everywhere.conv2d(y, *last[0].parameters(), padding=1).relu()
    torch.testing.assert_close(dense(y.flatten(1)), model(x))


def test_kernels_start_with_hes_variance_times_the_size():
    torch.manual_seed(0)
    for size in (1.0, 0.5):
        conv = task.started(nn.Sequential(nn.Conv2d(64, 64, 3)), size)[0]
        assert abs(conv.weight.std() / (size * (2 / (9 * 64)) ** 0.5) - 1) < 0.02
        assert not conv.bias.any()


def test_a_block_without_normalisation_has_biases_and_one_with_it_has_none():
    plain, normal = (ResidualBlock(4, normalise=choice) for choice in (False, True))
    assert [layer.bias is not None for layer in plain.f if isinstance(layer, nn.Conv2d)] == [
        True
    ] * 2
    assert [layer.bias is None for layer in normal.f if isinstance(layer, nn.Conv2d)] == [True] * 2
    assert not any(isinstance(layer, nn.BatchNorm2d) for layer in plain.f)
    x = torch.randn(2, 4, 5, 5)
    torch.testing.assert_close(plain(x), F.relu(x + plain.f(x)))


class LooksAt(nn.Module):
    """Say the column in which there is ink."""

    def forward(self, x):
        return F.pad(x.sum(dim=(1, 2)), (0, 2))


@pytest.mark.parametrize("by", [0, 1, 3])
def test_digits_are_moved_to_the_right(by):
    images = torch.zeros(4, 1, 8, 8)
    for place in range(4):
        images[place, 0, 2, place] = 1
    assert task.reads(LooksAt(), Split(images, torch.arange(4) + by), by) == 1.0
    assert task.reads(LooksAt(), Split(images, torch.arange(4) + by), by + 1) == 0.0


def test_training_reads_more_than_chance_and_is_the_same_twice():
    part = Split(*(tensor[:200] for tensor in digits("file order").train))
    read = []
    for _ in range(2):
        torch.manual_seed(0)
        model = task.network("dense")
        task.train_reader(model, part, jittered=True, epochs=5)
        read.append((task.reads(model, part), model[1].weight.detach()))
    assert read[0][0] == read[1][0] > 0.5
    assert torch.equal(read[0][1], read[1][1])


def test_a_map_follows_moves_by_the_stride_only():
    draw = torch.Generator().manual_seed(0)
    picture, kernel = (
        torch.rand(40, 40, generator=draw, dtype=torch.float64),
        torch.rand(3, 3, generator=draw, dtype=torch.float64),
    )
    for stride in (1, 2, 3):
        for by in (1, 2, 3, 6):
            assert (task.mismatch(picture, kernel, stride, by) < 1e-12) == (by % stride == 0)


def test_small_weights_lose_the_gradient_and_roads_keep_it():
    found = task.gradients(digits("file order").train, (5, 17))
    lost = {name: norms[1] / norms[0] for name, norms in found.items()}
    assert lost["small weights"] < 1e-2 < 0.1 < lost["small, with roads"]
    assert lost["small weights"] < lost["He's weights"]


def test_the_rate_is_chosen_on_validation_digits_and_the_test_is_told():
    class Stored:
        parameters = {"learning_rate": [0.1, 0.2]}

        def spread(self, column, learning_rate, **where):
            assert column == "validation, moved by 0" and where == {
                "network": "a",
                "jittered": True,
            }
            return {0.1: 0.8, 0.2: 0.9}[learning_rate], 0, 1

        def column(self, column, learning_rate, **where):
            return [column, learning_rate]

    assert task.at_best_rate(Stored(), "a", True, 2) == ["test, moved by 2", 0.2]


def test_best_rates_of_moved_digits_lie_inside_the_grid():
    stored = experiments.load("moved_digits")
    rates = stored.parameters["learning_rate"]
    for name in task.NETWORKS:
        for jittered in (False, True):
            where = {"network": name, "jittered": jittered}
            mean = [
                stored.spread("validation, moved by 0", learning_rate=rate, **where)[0]
                for rate in rates
            ]
            assert mean[-1] < max(mean), (name, jittered)
            assert mean[0] <= max(mean[1:]) + 0.005, (name, jittered)
