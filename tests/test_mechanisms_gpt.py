"""Day 9's pictures show what they say: lessons, masks, losses, chances, a sum."""

import math

import pytest
import torch
from drawings import arrows, leads, near, numbers, places, texts

from utils.show.mechanisms import gpt as mechanisms
from utils.training.sampling import temperature, top_p

pytestmark = pytest.mark.usefixtures("closed")


def test_an_encoder_has_one_lesson_and_a_decoder_one_for_each_next_token():
    ax = mechanisms.lessons()
    *asking, last = mechanisms.TEXT[:-1]
    n = len(asking)
    assert {"1 lesson", f"{n} lessons"} <= set(texts(ax))
    assert len(arrows(ax)) == n + 1 + n
    for word, after in zip(asking, mechanisms.TEXT[1:], strict=False):
        x, y = max(places(ax, word), key=lambda place: place[1])
        above = min((place for place in places(ax, after)), key=lambda place: abs(place[1] - 4.6))
        assert above[0] == pytest.approx(x) and leads(ax, (x, y), above, within=1.2)
    ends = [place for place in places(ax, last) if place[1] > 5]  # it is a target, and reads
    assert not any(leads(ax, place, (place[0], 4.6), within=1.2) for place in ends)


def test_the_answers_are_open_on_the_left_and_hidden_on_the_right():
    ax = mechanisms.hidden()
    opened = places(ax, "!")
    assert len(opened) == len(mechanisms.TEXT) - 2
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
    assert places(ax, "table, transposed")[0][1] < heights["norm"][0]
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


@pytest.mark.parametrize(("tau", "p"), [(0.7, 0.8), (1.5, 0.6), (0.5, 1.0)])
def test_chances_are_those_of_the_books_filters(tau, p):
    logits = torch.tensor([2.0, 1.2, 0.6, 0.2, -0.6, -1.0])
    ax = mechanisms.cuts(logits, list("abcdef"), tau, p)
    cold = temperature(logits, tau)
    rows = [logits, cold, top_p(cold, p)]
    shown = [chance for row in rows for chance in row.softmax(0).tolist() if chance > 0]
    assert near(numbers(ax), shown)
    gone = sum((row.softmax(0) == 0).sum().item() for row in rows)
    assert len(ax.lines) == gone


@pytest.mark.parametrize("text", ["qzkwvqz", "abcab"])
def test_an_induction_head_finds_what_followed_the_last_letter(text):
    ax = mechanisms.induction(text)
    above, below = (sorted(y for _, y in places(ax, "?")), places(ax, text[-1]))
    asked = places(ax, "?")[0]
    read = [(x, y) for x, y in below if y == pytest.approx(asked[1])]
    noted = [(x, y) for x, y in below if y > asked[1] + 1]
    assert len(above) == 1 and len(read) == len(noted) == 2
    answer = text[text.index(text[-1]) + 1]
    found = min(places(ax, answer), key=lambda at: abs(at[0] - noted[0][0]) + abs(at[1] - asked[1]))
    assert found[0] == pytest.approx(noted[0][0])  # under it stands the letter before it
    assert any(leads(ax, read[1], at, within=1.2) for at in noted[:1])
    assert any(leads(ax, found, asked, within=1.2) for _ in range(1))


def test_a_mixture_has_the_mean_of_each_two_probabilities():
    table, model = [0.5, 0.3, 0.2], [0.1, 0.1, 0.8]
    ax = mechanisms.mixture(list("abc"), table, model)
    assert near(numbers(ax), table, model, [0.3, 0.2, 0.5])


def test_a_sum_is_written_from_its_units_on():
    ax = mechanisms.carries(457, 68)
    row = sorted((x, text.get_text()) for text in ax.texts for x, _ in [text.get_position()])
    written = "".join(text for _, text in row if len(text) == 1)
    assert written == "754+860=5250"
    assert len(arrows(ax)) == 2 * 3 + 3


def test_both_blocks_look_and_are_added_to_the_stream():
    ax = mechanisms.then_and_now()
    for name in ("layer norm", "RMS norm", "softmax attention"):
        assert texts(ax).count(name) == 2
    assert {"attention", "feed-forward", "GPT-2", "today"} <= set(texts(ax))
    assert texts(ax).count("+") == 4
    for name, above in (
        ("softmax attention", "+"),
        ("4D wide, GELU", "+"),
        ("8/3 D wide, gated", "+"),
    ):
        for place in places(ax, name):
            near_by = [plus for plus in places(ax, above) if plus[1] == pytest.approx(place[1])]
            assert any(leads(ax, place, plus, within=2.8) for plus in near_by)
    looks = places(ax, "softmax attention")
    assert looks[0][1] == looks[1][1] and looks[0][0] < 8 < looks[1][0]


def test_what_is_framed_of_todays_block_is_what_changed():
    ax = mechanisms.then_and_now()
    frames = [patch.get_window_extent() for patch in ax.patches if patch.get_linewidth() == 2.6]
    framed = {
        text.get_text()
        for text in ax.texts
        for frame in frames
        if frame.contains(*ax.transData.transform(text.get_position()))
    }
    new = {"RMS norm", "q heads share k and v", "q, k normed, rotated", "8/3 D wide, gated"}
    assert framed == new
