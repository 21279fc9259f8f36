"""Keeping as a task: gradients by distance and by way, what a unit tells, what is repeated."""

import pytest
import torch

from utils.measure import experiments
from utils.recurrent import GRU, LSTM, RNN, SequenceClassifier
from utils.tasks import memory


@pytest.mark.parametrize("kind", [RNN, LSTM, GRU])
def test_the_gradient_by_distance_is_that_of_a_nudge(kind):
    torch.manual_seed(0)
    layer = kind(3, 4).double()
    found = memory.gradient_by_distance(layer, steps=6, seed=1)
    draw = torch.Generator().manual_seed(1)
    x = torch.randn(6, 8, 3, generator=draw).double()
    direction = torch.randn(8, 4, generator=draw).double()

    def after(nudge: torch.Tensor, at: int) -> torch.Tensor:
        state = layer.initial_state(8)
        for t, x_t in enumerate(x):
            state = layer.cell(x_t, state)
            if t == at and kind is LSTM:  # what is shown of the cell moves along
                h, c = state
                state = h / c.tanh() * (c + nudge).tanh(), c + nudge
            elif t == at:
                state = state + nudge
        return (layer.hidden(state) * direction).sum()

    norms = []
    for at in (5, 3, 0):
        zero = torch.zeros(8, 4, dtype=torch.float64, requires_grad=True)
        norms.append(torch.autograd.grad(after(zero, at), zero)[0].norm())
    expected = torch.stack(norms) / norms[0]
    torch.testing.assert_close(found[[0, 2, 5]], expected)


def test_fading_is_measured_in_four_draws():
    found = memory.fades(lambda: RNN(3, 8), steps=10)
    assert found.shape == (4, 10) and (found[:, 0] == 1).all()
    assert len(set(found[:, 9].tolist())) == 4


def test_along_the_road_the_jacobian_is_the_product_of_the_forget_gates():
    torch.manual_seed(0)
    lstm, x = LSTM(3, 5).double(), torch.randn(4, 3).double()
    direct, product = memory.cell_jacobians(lstm, x, direct_only=True)
    torch.testing.assert_close(direct, product.diag())
    full, _ = memory.cell_jacobians(lstm, x, direct_only=False)
    assert (full - direct).norm() > 0.01


def test_where_the_gates_do_not_see_h_there_is_no_second_way():
    torch.manual_seed(0)
    lstm, x = LSTM(3, 5), torch.randn(4, 3)
    assert memory.second_way(lstm, x) > 0.01
    with torch.no_grad():
        lstm.W_h.zero_()
    assert memory.second_way(lstm, x) < 1e-12


def test_three_layers_are_looked_at_beside_the_road():
    found = memory.beside_the_road(1)
    assert len(set(found)) == 3 and min(found) > 0


def test_the_unit_that_tells_most_is_found():
    first = torch.tensor([0, 1, 2, 3]).repeat(5)
    held = torch.randn(20, 6, 4, generator=torch.Generator().manual_seed(0))
    held[:, -1, 2] = first.float()
    assert memory.telling_unit(held, first) == (2, 1.0)


def test_without_gates_that_leak_all_of_a_cell_is_left_and_the_ramp_can_be_shut():
    torch.manual_seed(0)
    model = SequenceClassifier(4, 8, LSTM(8, 6, forget_bias=50.0), 4)
    right, left = memory.recall_after(model, 30, ramp=30)
    assert left == pytest.approx(1) and 0 <= right <= 1
    model.layer.b.data[6:12] = -50.0  # now all is forgotten at once
    assert memory.recall_after(model, 30, ramp=30)[1] < 1e-9
    with torch.no_grad():  # nothing is written, so it shows nothing: one answer for all
        answers = memory.recall_after(model, 30, ramp=0)[0]
    assert answers == pytest.approx(0.25, abs=0.12)


def test_what_is_to_be_repeated_is_read_before_the_sign():
    ids, symbols = memory.say_after_me(3, 4, seed=0)
    assert ids.shape == (3, 8) and (ids[:, 4] == memory.SYMBOLS).all()
    assert torch.equal(ids[:, :4], symbols) and torch.equal(ids[:, 5:], symbols[:, :-1])


def test_a_repeater_learns_single_symbols_soon():
    model = memory.trained_repeater(16, steps=200)
    assert memory.right_symbols(model, 1).double().mean() > 0.9
    assert memory.right_symbols(model, 3).shape == (500, 3)


def test_the_stored_tables_are_read_by_layer():
    fixed = experiments.load("recall_fixed")
    learned = memory.seeds_that_learn(fixed.rows)
    assert list(learned) == fixed.parameters["layer"]
    assert list(learned["RNN"]) == fixed.parameters["length"]
    by_hand = [row for row in fixed.rows if row["layer"] == "RNN" and row["length"] == 20]
    assert learned["RNN"][20] == sum(row["test"] > 0.9 for row in by_hand)
    rates = experiments.load("learning_rates")
    (row,) = rates.select(layer="GRU", learning_rate=0.01, seed=1)
    found = memory.perplexities(rates.rows)["GRU"][1, 1].item()
    assert found == pytest.approx(2.718281828 ** row["validation"])
