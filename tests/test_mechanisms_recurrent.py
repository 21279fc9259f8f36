"""Day 2's pictures show what the layer computes, and which way the gradient goes."""

import pytest
import torch
from drawings import near, numbers, texts

from utils.recurrent import RNN
from utils.show.mechanisms import recurrent

pytestmark = pytest.mark.usefixtures("closed")


def columns(ax, n: int) -> list[list[float]]:
    """The numbers of a picture, n at a time."""
    drawn = numbers(ax)
    return [drawn[i : i + n] for i in range(0, len(drawn), n)]


def test_a_card_depends_on_the_card_before_and_the_letter_and_on_nothing_else():
    rows = columns(recurrent.card("ku", "kk"), 2)  # a column of a card is two of these, a bag one
    empty, after_k, after_ku, bag = rows[:2], rows[2:4], rows[4:6], rows[6]
    assert empty == rows[7:9] == [[0, 0], [0, 0]]
    assert after_k == rows[9:11] and after_ku != rows[11:13]
    assert bag == [1, 1] and rows[13] == [2, 0]


def test_two_words_of_the_same_letters_leave_two_cards_and_one_bag():
    rows = columns(recurrent.card("kuu", "uku"), 2)
    assert rows[8] == rows[17] == [1, 2] and rows[6:8] != rows[15:17]
    assert max(abs(number) for row in (*rows[:8], *rows[9:17]) for number in row) <= 1


def test_the_drawn_steps_are_those_of_the_layer():
    W_x, W_h = torch.tensor([[1.0], [0.5]]), torch.tensor([[0.5, -1.0], [1.0, 0.0]])
    x = torch.tensor([[1.0], [-0.5], [-0.5]])
    layer = RNN(1, 2)
    layer.load_state_dict({"W_x": W_x, "W_h": W_h, "b": torch.zeros(2)})
    after = layer(x[None])[0][0].detach()  # (3, 2)
    before = torch.cat([torch.zeros(1, 2), after[:-1]])
    drawn = columns(recurrent.steps("kuu", x, W_x, W_h), 13)
    for t in range(3):
        assert near(drawn[t], W_x, x[t], W_h, before[t], W_x @ x[t] + W_h @ before[t], after[t])


def test_padding_is_hatched_and_the_lengths_are_the_words():
    ax = recurrent.padded(["abc", "d"])
    assert texts(ax)[-1] == "1" and "3" in texts(ax)
    assert sum(bool(patch.get_hatch()) for patch in ax.patches) == 2


def test_a_message_is_multiplied_at_each_step():
    drawn = numbers(recurrent.passed_on((0.5, 2.0)))
    first, times, second = drawn[:9], drawn[9:17], drawn[17:]
    assert near(first, 0.5 ** torch.arange(9)) and times == [*range(1, 9)]
    assert near(second, 2.0 ** torch.arange(9))


@pytest.fixture
def arrows(monkeypatch):
    """The arrows drawn by a picture of Day 2: start, end and role of each."""
    drawn, arrow = [], recurrent.arrow

    def record(ax, start, end, *, role=None, **how):
        drawn.append((start, end, role))
        arrow(ax, start, end, role=role, **how)

    monkeypatch.setattr(recurrent, "arrow", record)
    return drawn


def test_no_gradient_crosses_the_cut_and_the_state_does(arrows):
    (cut,) = {line.get_xdata()[0] for line in recurrent.truncated().lines}
    back = [(start[0], end[0]) for start, end, role in arrows if role == "gradient"]
    onwards = [(a[0], b[0]) for a, b, role in arrows if role is None and a[0] != b[0]]
    assert len(back) == 4 and all(end < start and (start < cut or end > cut) for start, end in back)
    assert len(onwards) == 5 and sum(start < cut < end for start, end in onwards) == 1
    assert sum(start < cut for start, _ in back) == 2  # as many steps on either side


def test_each_arrow_forward_has_a_gradient_that_comes_back(arrows):
    recurrent.both_arrows("kuu")
    drawn = arrows[:-2]  # without those of the legend
    ways = {
        role: sorted(
            (round(b[0] - a[0], 6), round(b[1] - a[1], 6)) for a, b, r in drawn if r == role
        )
        for role in (None, "gradient")
    }
    assert len(ways[None]) == 3 + 3 + 2
    assert ways["gradient"] == sorted((-x, -y) for x, y in ways[None])


def test_two_steps_in_numbers_are_those_of_autograd(arrows):
    inputs, w = (1.0, 0.3), torch.tensor(0.7)
    insides = [torch.tensor(inputs[0], requires_grad=True)]
    h_0 = insides[0].tanh()
    insides.append(inputs[1] + w * h_0)
    h_1 = insides[1].tanh()
    deltas = torch.autograd.grad(h_1**2 / 2, insides)
    said = texts(recurrent.back_in_numbers(inputs, w.item()))
    for t, (h, delta) in enumerate(zip((h_0, h_1), deltas, strict=True)):
        assert f"{h:.2f}" in said and rf"$\delta_{t}$ = {delta:.2f}" in said
    assert f"{h_1**2 / 2:.2f}" in said
    back = [b[0] - a[0] + b[1] - a[1] for a, b, role in arrows if role == "gradient"]
    assert len(back) == 4 and sum(role is None for _, _, role in arrows) == 4


def test_one_layer_reads_forwards_and_one_backwards(arrows):
    recurrent.directions("kuu")
    level = [(a, b) for a, b, _ in arrows if a[1] == b[1]]
    ways = {
        y: [b[0] > a[0] for a, b in level if a[1] == y] for y in sorted({a[1] for a, _ in level})
    }
    assert [*ways.values()] == [[True, True], [False, False], [True, True]]  # above, back, ahead


@pytest.mark.parametrize("word", ["k", "kuu"])
def test_an_unrolled_network_has_a_copy_for_each_letter(word):
    said = texts(recurrent.unrolled(word))
    assert [said.count(f"$h_{t}$") for t in range(4)] == [int(t < len(word)) for t in range(4)]
    assert said.count("$W_x$") == said.count("$W_y$") == len(word) + 1  # and once, as it is built
    assert said.count("$W_h$") == len(word)


def test_the_kinds_have_their_inputs_and_outputs(arrows):
    recurrent.kinds()
    up = [(round(a[0], 6), round(a[1], 6)) for a, b, _ in arrows if b[1] < a[1]]
    levels = sorted({y for _, y in up})  # outputs and inputs of the upper two, then of the lower
    left = {y: sum(x < 8 for x, at in up if at == y) for y in levels}
    right = {y: sum(x > 8 for x, at in up if at == y) for y in levels}
    assert [*left.values()] == [1, 3, 3, 3] and [*right.values()] == [3, 1, 2, 2]
