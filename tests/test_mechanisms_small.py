"""Day 11's pictures show what is counted and computed."""

import pytest
import torch
from drawings import arrows, texts

from utils.pretraining.rounded import round_weight
from utils.show.mechanisms import small

pytestmark = pytest.mark.usefixtures("closed")


def test_a_size_is_a_product_of_four():
    ax = small.levers()
    assert texts(ax).count("×") == 3 and len(arrows(ax)) == 4
    for name, step, _ in small.LEVERS:
        assert {name, step} <= set(texts(ax))


def test_a_student_begins_with_every_second_block_and_has_three_losses():
    ax = small.recipe()
    shown = texts(ax)
    assert [shown.count(f"block {i}") for i in range(4)] == [2, 1, 2, 1]
    assert {"masked words", "cosine", "soft\ntargets"} <= set(shown)


def test_one_gate_is_closed():
    shown = texts(small.gates())
    assert shown.count("ξ = 0") == 1 and shown.count("ξ = 1") == 3


def test_a_shared_block_has_one_letter():
    shown = texts(small.passes())
    assert shown.count("block A") == 9 and shown.count("block D") == 1


def test_rounded_weights_are_those_of_the_layer():
    weights = torch.tensor([[0.31, -1.27], [12.7, 5.0]])
    by_row, at_once = round_weight(weights), round_weight(weights, by_row=False)
    shown = texts(small.rounding(weights, {"by row": by_row, "at once": at_once}))
    assert {"31", "-127", "127", "50", "scale: 0.01   0.10", "scale: 0.10"} <= set(shown)


def test_a_detour_and_copies():
    assert {"W, frozen", "A", "B", "+"} <= set(texts(small.detour()))
    shown = texts(small.copies())
    assert {"W4", "B4 A4"} <= set(shown) and shown.count("W, frozen") == 1
