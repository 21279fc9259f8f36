"""The larger pictures show what the layers compute."""

import matplotlib.pyplot as plt
import pytest
import torch
from torch.nn import functional as F

from utils.attention import padding_mask
from utils.recurrent import RNN
from utils.self_attention import causal_mask, dot_product_attention, split_heads
from utils.show.mechanisms import first_steps, recurrent
from utils.show.mechanisms import self_attention as mechanisms


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def texts(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def numbers(ax) -> list[float]:
    """The numbers in the cells, in the order in which they were drawn."""
    return [float(text) for text in texts(ax) if text.replace(".", "").replace("-", "").isdigit()]


def near(drawn: list[float], *blocks: torch.Tensor) -> bool:
    """Whether these are the blocks' numbers, row by row, to two decimals."""
    expected = torch.cat([block.flatten() for block in blocks]).tolist()
    return len(drawn) == len(expected) and all(
        abs(one - other) < 0.0051 for one, other in zip(drawn, expected, strict=True)
    )


@pytest.mark.parametrize("n", [1, 3])
def test_a_look_is_drawn_with_the_numbers_of_the_layer(n):
    torch.manual_seed(0)
    q, k, v = (torch.rand(3, 2).mul(20).round() / 10 for _ in range(3))
    context, weights = dot_product_attention(*(x[None, None] for x in (q, k, v)), need_weights=True)
    scores = q @ k.T / 2**0.5
    drawn = numbers(mechanisms.looks(q, k, v, everyone=n == 3))
    blocks = (q[:n], k.T, scores[:n], weights[0, 0, :n], v, context[0, 0, :n])
    expected = torch.cat([block.flatten() for block in blocks]).tolist()
    assert len(drawn) == len(expected)
    assert all(abs(one - other) < 0.0051 for one, other in zip(drawn, expected, strict=True))


def test_the_roads_count_the_steps_between_two_words():
    said = texts(mechanisms.roads("the cat did not see the dog …", asks=6, asked=1))
    assert "Yesterday, word after word: 5 steps" in said and "$h_6$" in said and "$h_7$" not in said


def test_the_masks_have_a_tick_where_a_word_may_look():
    real = padding_mask(torch.tensor([3]), 4)[0]  # (1, 4)
    both = causal_mask(4) & real
    read = real.T  # (4, 1): what a padded query finds, nobody reads
    ticks = [int((mask & seen).sum()) for mask, seen in
             ((causal_mask(4), True), (real, read), (both, read))]  # fmt: skip
    ax = mechanisms.masks()
    places = [text.get_position() for text in ax.texts if text.get_text() == "✓"]
    assert len(places) == sum(ticks) == 10 + 9 + 6
    first = sorted(places)[:10]  # the causal grid: columns get shorter from left to right
    columns = sorted({round(x, 3) for x, _ in first})
    assert [sum(abs(x - column) < 0.01 for x, _ in first) for column in columns] == [4, 3, 2, 1]
    lowest = {column: max(y for x, y in first if abs(x - column) < 0.01) for column in columns}
    assert len({round(y, 3) for y in lowest.values()}) == 1  # y runs down: the last row sees all


def test_the_right_cut_is_that_of_the_layer_and_the_wrong_one_is_not():
    x = torch.arange(24.0).view(1, 3, 8)
    drawn = numbers(mechanisms.cuts())
    whole, right, wrong = drawn[:24], drawn[24:48], drawn[48:]
    assert sorted(whole) == list(range(24))
    assert right == split_heads(x, 2).flatten().tolist()
    assert wrong == x.view(1, 2, 3, 4).flatten().tolist() != right
    said = texts(mechanisms.cuts())
    assert said.index("Right") < said.index("Wrong")


def test_each_head_is_named_and_its_look_is_its_own():
    said = texts(mechanisms.heads())
    assert said.count("head 1") == said.count("head 2") == 1 and "$W_o$" in said


# Day 0 --------------------------------------------------------------------------------------------


def pixels_and_weights() -> tuple[torch.Tensor, torch.Tensor]:
    """The layer's weights, a column for each class (4, 3), and its pixels (4, 1), as drawn."""
    found = torch.tensor(numbers(first_steps.layer()))
    return found[:12].view(4, 3), found[12:16, None]


def test_a_drawn_score_is_the_sum_of_weights_times_pixels():
    W, x = pixels_and_weights()
    drawn = numbers(first_steps.layer())[16:19]
    assert near(drawn, x.T @ W)
    told = next(text for text in texts(first_steps.layer()) if text.startswith("= "))
    products = [part.replace("−", "-").split("·") for part in told[2:].split(" + ")]
    assert [[float(number) for number in product] for product in products] == [
        [pixel, weight] for pixel, weight in zip(x[:, 0].tolist(), W[:, 1].tolist(), strict=True)
    ]


def test_the_drawn_slopes_are_autograds_and_only_a_pixel_without_ink_has_none():
    W, x = pixels_and_weights()
    W.requires_grad_()
    scores = x.T @ W
    F.cross_entropy(scores, torch.tensor([2])).backward()
    p = scores.detach().softmax(1)
    drawn = numbers(first_steps.layer(back=True))[22:43]  # after the layer and its classes
    said, wanted, error, slopes = drawn[:3], drawn[3:6], drawn[6:9], drawn[9:]
    assert near(said, p) and wanted == [0, 0, 1] and near(error, p - torch.tensor(wanted))
    assert near(slopes, W.grad)
    assert all((slope == 0) == (i < 3) for i, slope in enumerate(slopes))


def test_the_drawn_column_and_row_are_stretched_as_tensors_are():
    ax = first_steps.stretched()
    drawn = numbers(ax)
    column, row = torch.tensor(drawn[:12]).view(3, 4), torch.tensor(drawn[12:24]).view(3, 4)
    assert near(drawn[24:], column[:, :1] + row[0])
    assert torch.equal(column, column[:, :1].expand(3, 4)) and torch.equal(
        row, row[:1].expand(3, 4)
    )
    assert [text for text in texts(ax) if text.startswith("(")] == ["(3, 1)", "(4,)", "(3, 4)"]


def test_one_drawn_step_is_the_learning_rate_times_the_slope():
    ax = first_steps.one_step(start=0.8, learning_rate=0.25)
    places = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    start, end = ((x - 8) / 6 for x in places)
    assert start == pytest.approx(0.8) and end == pytest.approx(0.8 - 0.25 * 2 * 0.8)


def test_one_walk_goes_down_and_the_other_up():
    points = [line for line in first_steps.walks().lines if line.get_marker() == "o"]
    heights = [line.get_ydata().tolist() for line in points]  # y runs down the sheet
    assert len(heights) == 2 and heights[0] == sorted(heights[0])
    assert heights[1] == sorted(heights[1], reverse=True)


def test_the_graphs_numbers_are_those_of_its_equation():
    x, y = 3.0, 4.0
    w, b = (torch.tensor(number, requires_grad=True) for number in (2.0, -1.0))
    loss = (w * x + b - y) ** 2 + w**2 / 2
    loss.backward()
    said = texts(first_steps.graph())
    assert f"L = {loss.item():g}" in said
    by_two_roads = next(text for text in said if " + " in text)
    assert by_two_roads.split("=")[1].strip() == f"{w.grad.item():g}"
    assert said[said.index("b = −1") + 1] == f"{b.grad.item():g}"


# Day 2 --------------------------------------------------------------------------------------------


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
    drawn = numbers(recurrent.passed_on((0.5, 2.0), times=3))
    first, times, second = drawn[:4], drawn[4:7], drawn[7:]
    assert near(first, 0.5 ** torch.arange(4)) and times == [1, 2, 3]
    assert near(second, 2.0 ** torch.arange(4))


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
    (cut,) = {line.get_xdata()[0] for line in recurrent.truncated(chunk=2).lines}
    back = [(start[0], end[0]) for start, end, role in arrows if role == "gradient"]
    onwards = [(a[0], b[0]) for a, b, role in arrows if role is None and a[0] != b[0]]
    assert len(back) == 2 and all(end < start and (start < cut or end > cut) for start, end in back)
    assert len(onwards) == 3 and sum(start < cut < end for start, end in onwards) == 1
    assert sum(start < cut for start, _ in back) == 1  # as many steps on either side


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
