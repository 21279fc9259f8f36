"""The pictures of Day 4 show what the layers, and the reader's own functions, compute."""

import pytest
import torch
from drawings import numbers, texts

from utils.attention import AdditiveScore, masked_softmax
from utils.exercises.attention.beam_step import beam_step
from utils.exercises.attention.shift import shift
from utils.seq2seq import EOS
from utils.show.mechanisms import attention

pytestmark = pytest.mark.usefixtures("closed")


def test_a_pair_of_networks_reads_the_source_and_writes_the_target_one_step_late():
    said = texts(attention.unrolled("faced", "decaf"))
    read = [text for text in said if text in {*"faced", "BOS", "EOS"}]
    assert said.count("all that is handed over") == 1
    assert read[:5] == list("faced") and read[5:7] == ["BOS", "d"]
    assert read[5::2] == ["BOS", *"decaf"] and read[6::2] == [*"decaf", "EOS"]


def test_a_context_is_the_weighted_average_of_the_annotations_that_are_drawn():
    weights, h = torch.tensor([0.5, 0.2, 0.3]), torch.tensor([[1.0, 0], [0, 2], [1, 1]])
    ax = attention.look(weights, h)
    assert numbers(ax)[:2] == pytest.approx((weights @ h).tolist(), abs=0.0051)
    assert {"$h_1$ = (1, 0)", "$h_2$ = (0, 2)", "$h_3$ = (1, 1)", "0.50"} <= set(texts(ax))


def test_the_forced_decoder_reads_what_the_books_shift_gives():
    rows = texts(attention.forced("decaf", "debac"))
    assert rows[:6] == [*"decaf", "EOS"] and rows[7:13] == ["BOS", *"decaf"]
    target = torch.tensor([[6, 7, 5, 3, 8, EOS]])
    assert shift(target)[0, 1:].tolist() == target[0, :-1].tolist()
    assert rows[14:20] == [*"debac", "…"] and rows[21:27] == ["BOS", *"debac"]


def test_scores_are_drawn_with_the_numbers_of_the_layer():
    s, h, v = torch.tensor([0.5, 1.0]), torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.ones(2)
    W_a, U_a = torch.eye(2), torch.tensor([[1.0, 0.5], [0.0, -1.0]])
    score = AdditiveScore(2, 2, 2)
    with torch.no_grad():
        for parameter, value in ((score.W_a.weight, W_a), (score.U_a.weight, U_a), (score.v, v)):
            parameter.copy_(value)
        expected = score(s[None, None], h[None])[0, 0]
    assert numbers(attention.scored(s, h, W_a, U_a, v))[-2:] == pytest.approx(
        expected.tolist(), abs=0.0051
    )


def test_the_masked_row_has_the_weights_of_the_layer():
    scores, real = torch.tensor([1.2, -0.5, 2.0]), torch.tensor([True, True, False])
    expected = masked_softmax(scores, real).tolist()
    ax = attention.masked(scores, real, ["a", "b", "PAD"])
    assert numbers(ax)[-3:] == pytest.approx(expected, abs=0.0051)
    assert texts(ax).count("−∞") == 1


def test_a_beam_keeps_what_a_step_of_the_exercise_keeps():
    model = {
        "": {"d": 0.5, "c": 0.3, "f": 0.2},
        "d": {"e": 0.4, "a": 0.6},
        "c": {"e": 0.9, "a": 0.1},
    }
    ax = attention.tree(model, width=2, depth=2)
    bold = [text.get_text() for text in ax.texts if text.get_fontweight() == "bold"]
    table = torch.tensor([[0.4, 0.6], [0.9, 0.1]]).log()
    best, _, _ = beam_step(torch.tensor([0.5, 0.3]).log(), table)
    assert bold[:2] == ["0.50", "0.30"]
    assert sorted(bold[2:]) == sorted(f"{p:.2f}" for p in best.exp().tolist())


def test_the_table_fills_row_by_row():
    ax = attention.table_filled("ab", "xy", torch.eye(2))
    said = texts(ax)
    assert [said.count(symbol) for symbol in "xy"] == [3, 2]  # in three tables, and in two
    assert {"1 step", "2 steps", "all 2"} <= set(said)


def test_the_last_state_waits_for_all_before_it():
    assert "waits for 3" in texts(attention.waiting(4))
