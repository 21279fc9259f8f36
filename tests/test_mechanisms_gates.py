"""The larger pictures of Day 3 show what the steps compute, and which gate acts on what."""

import math

import pytest
import torch
from drawings import arrows, leads, near, numbers, places, texts
from matplotlib.patches import Rectangle

from utils.exercises.gates import check
from utils.show.mechanisms import gates as mechanisms

pytestmark = pytest.mark.usefixtures("closed")


def test_a_valve_mixes_as_the_exercise_does_and_what_is_shut_out_is_dashed():
    z, old, new = torch.tensor([[1.0, 0.5, 0.0], [2.0, -1.0, 0.5], [0.3, 0.6, -0.8]])
    ax = mechanisms.valve(z, old, new)
    mixed = check.exercises["mixture"].reference(z.logit(), old, new)
    assert near(numbers(ax), torch.stack([old, mixed, new], dim=1), off=0.051)
    widths = [arrow.get_linewidth() for arrow in arrows(ax)]  # from old, from new, lane by lane
    assert widths[0] > widths[2] == widths[3] > widths[1]
    dashed = [arrow.get_linestyle() != "-" for arrow in arrows(ax)]
    assert dashed == [False, True, False, False, True, False]


def test_a_state_is_rewritten_and_a_cell_is_carried():
    inputs = torch.tensor([1.0, -0.4, 0.6, -0.7])
    drawn = numbers(mechanisms.carried("badc", inputs, w=0.6))
    states, h = [], torch.zeros(1, 1)
    for x in inputs:
        h = torch.tanh(x + 0.6 * h)
        states.append(h.item())
    first = math.tanh(1.0)
    i, f = drawn[4:8], drawn[8:11]  # nothing is there to be forgotten at first
    assert near(drawn[:4], states) and i == [1, 0, 0, 0] and f == [1, 1, 1]
    assert near(drawn[11:], [first] * 4)


def test_a_bar_is_kept_as_far_as_the_gate_is_open_and_the_steps_multiply():
    ax = mechanisms.forgetting({"log 9": math.log(9), "nothing": 0.0}, steps=3)
    bars = [p for p in ax.patches if isinstance(p, Rectangle) and p.get_height() < 1]
    widths = [bar.get_width() / 8 for bar in bars]
    assert widths == pytest.approx([0.9, 0.1, 0.5, 0.5])
    assert [bool(bar.get_hatch()) for bar in bars] == [False, True, False, True]
    assert {"0.90", "0.50", "0.73", "0.12"} <= set(texts(ax))
    assert "9e-16" in texts(mechanisms.forgetting({"nothing": 0.0}, steps=50))


def test_one_product_makes_four_blocks_and_one_of_them_has_a_sign():
    ax, D, N = mechanisms.blocks(), 3, 2
    drawn = [p for p in ax.patches if isinstance(p, Rectangle) and p.get_width() < 1]
    assert len(drawn) == 4 * N * (D + N) + D + N + 4 * N + 4 * N
    through = sorted((y, text) for text in ("σ", "tanh") for _, y in places(ax, text))
    assert [text for _, text in through] == ["σ", "σ", "tanh", "σ"]
    heights = [places(ax, f"${name}_t$")[0][1] for name in "ifgo"]
    assert heights == sorted(heights)


def test_the_step_of_the_lstm_has_the_numbers_of_the_exercise():
    x, h, c = (torch.tensor([[value]]) for value in (1.0, 0.5, 2.0))
    W_x, W_h = torch.tensor([[0.0, 1, 1, -1]]).T, torch.tensor([[-2.0, 1, 0, 2]]).T
    b = torch.tensor([0, 0.5, 0, 0])
    new_h, new_c = check.exercises["lstm"].reference(x, h, c, W_x, W_h, b)
    a = dict(zip("ifgo", (x @ W_x.T + h @ W_h.T + b)[0], strict=True))
    gates = {name: (a[name].tanh() if name == "g" else a[name].sigmoid()).item() for name in "ifgo"}
    ax = mechanisms.lstm(2.0, gates)
    kept, written = gates["f"] * 2, gates["i"] * gates["g"]
    expected = (2.0, new_c.item(), kept, new_c.item(), written, new_h.item())
    assert near(numbers(ax), expected)
    assert {f"${name}$ = {value:.2f}" for name, value in gates.items()} <= {*texts(ax)}


def test_between_two_states_stand_a_matrix_and_a_tanh_and_on_the_road_two_signs():
    ax = mechanisms.road()
    said = texts(ax)
    assert said.count("W, tanh") == 3 and said.count("×") == said.count("+") == 3
    for gate, sign in (("$f$", "×"), ("$i$", "+")):
        for below, above in zip(places(ax, gate), places(ax, sign), strict=True):
            assert below[0] == pytest.approx(above[0]) and leads(ax, below, above)


def test_back_along_the_road_stands_the_later_steps_forget_gate():
    ax = mechanisms.ways_back()
    c = [places(ax, f"$c_{{{t}}}$")[0] for t in ("t-2", "t-1", "t")]
    for gate, left, right in (("$f_{t-1}$", c[0], c[1]), ("$f_{t}$", c[1], c[2])):
        ((x, _),) = places(ax, gate)
        assert left[0] < x < right[0] and leads(ax, right, left)
    dashed = [arrow for arrow in arrows(ax) if arrow.get_linestyle() != "-"]
    assert len(dashed) == 6  # to the gates, to what was shown, and up, twice
    for t, cell in (("t-2", c[0]), ("t-1", c[1])):
        assert leads(ax, places(ax, f"$h_{{{t}}}$")[0], cell)


def test_side_by_side_each_gate_acts_where_its_equation_says():
    ax = mechanisms.side_by_side()
    forget, ramp, out, keep, let_in = places(ax, "×")  # three of the LSTM, two of the GRU
    plus, plus_gru = places(ax, "+")
    at = {name: places(ax, f"${name}$")[0] for name in "ifgozrn"}
    (rest,) = places(ax, "$1 - z$")
    for start, end in (
        *((at["f"], forget), (at["i"], ramp), (at["g"], ramp), (ramp, plus), (at["o"], out)),
        *((at["z"], keep), (at["z"], rest), (rest, let_in), (at["n"], let_in)),
        *((let_in, plus_gru), (at["r"], at["n"])),
    ):
        assert leads(ax, start, end)
    assert not leads(ax, at["r"], let_in) and not leads(ax, at["o"], plus)


def test_updates_and_resets_are_those_of_the_exercise():
    h, x_n = torch.tensor([0.8, -0.4]), torch.tensor([0.3, 0.3])
    exchange = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    drawn = torch.tensor(numbers(mechanisms.updates_and_resets(h, x_n, exchange)))
    rows = drawn.view(3, 5, 2)  # h, r, n, z and the new h
    W_h = torch.cat([torch.zeros(4, 2), exchange])
    for r, z, row in ((1, 1, rows[0]), (1, 0, rows[1]), (0, 0, rows[2])):
        b = torch.cat([torch.full((2,), 80.0 * r - 40), torch.full((2,), 80.0 * z - 40), x_n])
        still = torch.zeros(1, 1), h[None], torch.zeros(6, 1), W_h
        new = check.exercises["gru"].reference(*still, b, torch.zeros(2))
        assert near(row[0].tolist(), h) and near(row[4].tolist(), new)
        assert row[1].tolist() == [r, r] and row[3].tolist() == [z, z]
