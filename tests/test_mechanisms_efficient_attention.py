"""Day 7's pictures show what the forms compute."""

import pytest
import torch
from drawings import numbers, texts

from utils.efficient import recurrent_step, window_mask
from utils.show.mechanisms import efficient_attention as mechanisms

pytestmark = pytest.mark.usefixtures("closed")


def filled(ax) -> int:
    """How many cells have a colour."""
    colours = [tuple(patch.get_facecolor()) for patch in ax.patches[1:]]
    return sum(colour[:3] != (1.0, 1.0, 1.0) for colour in colours)


def test_of_the_pairs_of_a_step_only_the_last_row_is_new():
    ax = mechanisms.again()
    for t in range(2, 5):
        assert f"{t * (t + 1) // 2} pairs, {t} new" in texts(ax)
    assert len(ax.lines) == sum(t * (t - 1) // 2 for t in range(2, 5))  # strokes


@pytest.mark.parametrize("w", [1, 3])
def test_a_window_has_a_tick_where_a_letter_sees(w):
    mask = window_mask(8, w, is_causal=True)
    places = [t.get_position() for t in mechanisms.window(mask).texts if t.get_text() == "✓"]
    x0, y0 = min(x for x, _ in places), min(y for _, y in places)
    found = {(round((y - y0) / 0.66), round((x - x0) / 0.85)) for x, y in places}
    assert found == {tuple(pair) for pair in mask.nonzero().tolist()}


@pytest.mark.parametrize(("w", "layers"), [(1, 3), (2, 2), (2, 3)])
def test_what_reaches_the_top_is_the_power_of_the_windows_mask(w, layers):
    ax = mechanisms.reach(w, layers)
    mask = window_mask(8, w, is_causal=True).double()
    reached = [
        int((torch.linalg.matrix_power(mask, layers - layer)[7] > 0).sum())
        for layer in range(layers + 1)
    ]
    assert filled(ax) - len([p for p in ax.patches if "Arrow" in type(p).__name__]) == sum(reached)


def test_in_blocks_less_is_computed_than_all_and_nothing_that_is_seen_is_left_out():
    mask = window_mask(8, 2, is_causal=True)
    ax = mechanisms.blocks(mask, 2)
    computed = 4 * (2 * 4) - 2 * 2  # the first block has none before it
    assert len(ax.lines) == computed - int(mask.sum())  # computed, and struck out


def test_a_board_has_the_numbers_of_a_step():
    phi_q, phi_k, v = (torch.tensor([row]) for row in ([1.0, 2], [2.0, 1], [1.0, 3]))
    before = torch.tensor([[4.0, 0.0], [1.0, 1.0]])
    ax = mechanisms.board(phi_q, phi_k, v, before)
    state = torch.cat([before, torch.zeros(2, 1)], dim=1)[None, None]
    _, after = recurrent_step(*(x[None] for x in (phi_q, phi_k, v)), state)
    after = after[0, 0, :, :2]
    blocks = (phi_k, v, phi_k.T @ v, before, after, phi_q, phi_q @ after)
    assert numbers(ax) == torch.cat([block.flatten() for block in blocks]).tolist()


@pytest.mark.parametrize("size", [1, 2])
def test_the_last_tile_ends_with_the_softmax_of_all(size):
    scores, values = (
        torch.tensor([1.0, 3.0, 2.0][: 1 + size]),
        torch.tensor([4.0, 0.5, 8.0][: 1 + size]),
    )
    drawn = numbers(mechanisms.online(scores, values, size))
    assert drawn[-1] == pytest.approx((scores.softmax(0) @ values).item(), abs=0.0051)
    m = scores[:size].max()
    first = [m, (scores[:size] - m).exp().sum(), (scores[:size] - m).exp() @ values[:size]]
    assert drawn[2 * size : 2 * size + 3] == pytest.approx([x.item() for x in first], abs=0.0051)


def test_a_cache_grows_by_a_column_for_each_letter():
    said = texts(mechanisms.cache(steps=3, first=2))
    assert [text for text in said if text.endswith("new pairs")] == [
        f"{n} new pairs" for n in (2, 3, 4)
    ]
    assert [text for text in said if text.endswith("comes")] == [
        "“a” comes",
        "“t” comes",
        "“r” comes",
    ]


def test_the_other_pictures_can_be_drawn_and_name_their_parts():
    assert {"T × T" in text or "$T × T$" == text for text in texts(mechanisms.orders())} == {
        True,
        False,
    }
    assert {"other answers", "the same answers"} < set(texts(mechanisms.three_ways()))
    assert {"1", "2", "3", "4"} < set(texts(mechanisms.walk()))
