"""A switch turns the level over, and only a network that keeps a state follows it."""

import pytest
import torch
from torch import nn

from utils.tasks import switches as task


def test_the_level_turns_over_at_each_switch_and_only_there():
    torch.manual_seed(0)
    switches, levels = task.switched(50)
    assert torch.equal(levels[:, 0], switches[:, 0])
    turned = levels[:, 1:] != levels[:, :-1]
    assert torch.equal(turned, switches[:, 1:].bool())
    assert 0.4 < switches.mean() < 0.6


def test_what_is_forecast_is_the_level_of_the_last_days():
    seen = []

    class Spy(nn.Module):
        def forward(self, past, known):
            seen.append((past, known))
            return torch.zeros(len(past), task.T, 1)

    torch.manual_seed(1)
    logits, levels = task.forecast(Spy(), 7)
    ((past, known),) = seen
    assert logits.shape == levels.shape == (7, task.T)
    assert past.shape == (7, task.S) and known.shape == (7, task.S + task.T, 1)
    later = (past[:, -1:] + known[:, task.S :, 0].cumsum(dim=1)) % 2
    assert torch.equal(later, levels)


def test_a_short_training_is_at_chance_and_repeats_itself():
    found = task.train_and_test("LSTM", steps=2, seed=3, tested=200)
    assert found.shape == (task.T,) and 0.3 < found.mean() < 0.7
    assert torch.equal(found, task.train_and_test("LSTM", steps=2, seed=3, tested=200))


def test_an_lstm_learns_the_switch_and_a_linear_layer_does_not():
    right = {kind: task.train_and_test(kind, steps=400, seed=0) for kind in ("linear", "LSTM")}
    assert right["LSTM"].min() > 0.9 and right["linear"].max() < 0.6


def test_other_kinds_and_sizes_are_refused():
    with pytest.raises(ValueError, match="kind"):
        task.train_and_test("GPT", steps=1, seed=0)
    with pytest.raises(ValueError, match="steps"):
        task.train_and_test("LSTM", steps=0, seed=0)
