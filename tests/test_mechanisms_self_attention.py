"""Day 5's pictures show what the layer computes."""

import pytest
import torch
from drawings import numbers, texts

from utils.attention import padding_mask
from utils.self_attention import causal_mask, dot_product_attention, split_heads
from utils.show.mechanisms import self_attention as mechanisms

pytestmark = pytest.mark.usefixtures("closed")


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


def test_words_that_look_themselves_are_drawn_with_plain_products():
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    weights = (x @ x.T).softmax(1)
    blocks = (x[:1], x.T, (x @ x.T)[:1], weights[:1], x, weights[:1] @ x)
    drawn = numbers(mechanisms.looks(x, x, x, everyone=False, bare=True))
    expected = torch.cat([block.flatten() for block in blocks]).tolist()
    assert drawn == pytest.approx(expected, abs=0.0051)


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
