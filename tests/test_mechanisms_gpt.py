"""Day 9's pictures show what they say: lessons, masks, losses, chances, positions."""

import math

import pytest
import torch
from drawings import arrows, leads, near, numbers, places, texts

from utils.show.mechanisms import gpt as mechanisms
from utils.training.sampling import temperature, top_k, top_p

pytestmark = pytest.mark.usefixtures("closed")


def test_an_encoder_has_one_lesson_and_a_decoder_one_for_each_next_token():
    ax = mechanisms.lessons()
    n = len(mechanisms.TEXT) - 1
    assert {"1 lesson", f"{n} lessons"} <= set(texts(ax))
    assert len(arrows(ax)) == 2 * n
    for word, after in zip(mechanisms.TEXT, mechanisms.TEXT[1:], strict=False):
        x, y = max(places(ax, word), key=lambda place: place[1])
        above = min((place for place in places(ax, after)), key=lambda place: abs(place[1] - 5.2))
        assert above[0] == pytest.approx(x) and leads(ax, (x, y), above, within=1.2)


@pytest.mark.parametrize("T", [4, 5])
def test_the_answers_are_open_on_the_left_and_hidden_on_the_right(T):
    ax = mechanisms.hidden(T)
    opened = places(ax, "!")
    assert len(opened) == T - 1
    assert all(x < 8 for x, _ in opened)
    pairs = zip(opened, opened[1:], strict=False)
    steps = {(round((x - u) / 0.85), round((y - v) / 0.85)) for (u, v), (x, y) in pairs}
    assert steps == {(1, 1)}


@pytest.mark.parametrize("chances", [[0.5, 0.25, 0.1, 0.5], [0.9, 0.3]])
def test_losses_are_negative_logarithms_and_the_last_token_is_not_asked(chances):
    ax = mechanisms.asked(chances)
    nats = [-math.log(chance) for chance in chances]
    assert near(numbers(ax), chances, nats)
    assert f"mean {sum(nats) / len(nats):.2f}" in texts(ax)
    assert len(arrows(ax)) == len(chances)
    assert texts(ax).count(mechanisms.TEXT[0]) == 1  # it is read, and never asked for


@pytest.mark.parametrize("L", [2, 3])
def test_a_tower_has_its_blocks_between_the_table_and_the_norm(L):
    ax = mechanisms.tower(L)
    heights = {name: sorted(y for _, y in places(ax, name)) for name in ("table", "block", "norm")}
    assert len(heights["block"]) == L
    assert heights["table"][0] > heights["block"][-1] and heights["norm"][0] < heights["block"][0]
    assert places(ax, "table, turned")[0][1] < heights["norm"][0]
    assert texts(ax).count("(B, T, V)") == 1 and texts(ax).count("(B, T, D)") == L + 2


def test_pieces_begin_where_they_stand_in_the_text():
    ax = mechanisms.pieces([2, 14, 8], 9)
    starts = sorted(arrow._posA_posB[0][0] for arrow in arrows(ax))
    width = 15.4 / 30
    assert starts == pytest.approx([0.3 + width * (start + 4.5) for start in (2, 8, 14)])


def test_bits_are_shared_out_among_symbols_and_bytes():
    cuts = [("byte pairs", ["fit", "ted"], [6.0, 1.0]), ("letters", "fitted", [2.0] * 6)]
    said = texts(mechanisms.per_byte(cuts))
    assert "7 bits\n3.50 per symbol" in said and "1.17\nper byte" in said
    assert "12 bits\n2.00 per symbol" in said and "2.00\nper byte" in said


@pytest.mark.parametrize(("tau", "k", "p"), [(0.7, 4, 0.8), (1.5, 5, 0.6), (0.5, 6, 1.0)])
def test_chances_are_those_of_the_books_filters(tau, k, p):
    logits = torch.tensor([2.0, 1.2, 0.6, 0.2, -0.6, -1.0])
    ax = mechanisms.cuts(logits, list("abcdef"), tau, k, p)
    cold = temperature(logits, tau)
    few = top_k(cold, k)
    rows = [logits, cold, few, top_p(few, p)]
    shown = [chance for row in rows for chance in row.softmax(0).tolist() if chance > 0]
    assert near(numbers(ax), shown)
    gone = sum((row.softmax(0) == 0).sum().item() for row in rows)
    assert len(ax.lines) == gone


def test_positions_go_on_from_step_to_step():
    ax = mechanisms.feeding(["The", "estimator", "is"], ["fit", "ted", "on"])
    for position in range(5):
        assert texts(ax).count(str(position)) == 1
    rows = [places(ax, str(position))[0][1] for position in range(5)]
    assert rows[0] == rows[1] == rows[2] < rows[3] < rows[4]


def test_all_parts_of_todays_block_are_new():
    ax = mechanisms.then_and_now()
    assert texts(ax).count("layer norm") == texts(ax).count("RMS norm") == 2
    assert {"looks", "thinks", "GPT-2", "today"} <= set(texts(ax))
    assert len(arrows(ax)) == 2 * 6
