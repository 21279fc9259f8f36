"""Day 15's pictures show what the machines do: fold, turn over, add up, squeeze, exchange."""

import math
from fractions import Fraction

import pytest
import torch
from drawings import arrows, leads, places, texts
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch, Polygon, Rectangle

from utils.computation import by_loop, counter_lstm, parity_rnn, pop, push, top
from utils.data.formal import Blocks, Swaps
from utils.show.diagrams import tinted
from utils.show.mechanisms import growth, limits

pytestmark = pytest.mark.usefixtures("closed")

WORD = "1001101"


def filled(ax, role: str, weight: float = 1.0) -> list[Rectangle]:
    """A sheet's rectangles in the colour of a role."""
    colour = tinted(role, weight)
    return [
        patch
        for patch in ax.patches
        if isinstance(patch, Rectangle) and patch.fill and to_hex(patch.get_facecolor()) == colour
    ]


# One bit that is carried --------------------------------------------------------------------------


def test_a_folded_line_gives_the_states_of_parity_in_three_weights():
    ax = limits.folded_line([0, 1], [0, 1])
    layer = parity_rnn().layer
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    ends = [dot for dot in dots if dot.get_markerfacecolor() == dot.get_color()]
    ticks = sorted({round(x, 6) for x, _ in places(ax, "0")}), sorted(places(ax, "1"))
    assert len(ends) == 4 and len(dots) == 6  # a symbol of 0 moves nothing
    for dot, (h, x) in zip(ends, ((0, 0), (0, 1), (1, 0), (1, 1)), strict=True):
        new = layer(torch.full((1, 1, 1), float(x)), torch.full((1, 1), float(h)))[1].item()
        assert f"|h − x| = |{h} − {x}| = {new:g}" in texts(ax)
        zero = ticks[0][x]
        one = min(place for place, _ in ticks[1] if place > zero)
        assert dot.get_xdata()[0] == pytest.approx(zero + new * (one - zero))
    assert len(texts(ax)) - 4 - 12 == 3  # "minus x" twice, "folded" once
    (fold,) = [arrow for arrow in arrows(ax) if arrow._posA_posB[0][0] < arrow._posA_posB[1][0]]
    (start, _), (end, _) = fold._posA_posB
    assert (start + end) / 2 == pytest.approx(ticks[0][1])


def test_numbers_below_0_are_folded_to_the_other_side():
    ax = limits.folded([1, 0, -0.5])
    assert [text for text in texts(ax) if "=" in text] == ["|1| = 1", "|0| = 0", "|−0.5| = 0.5"]
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    ends = [dot for dot in dots if dot.get_markerfacecolor() == dot.get_color()]
    zeros, ones = (sorted(x for x, _ in places(ax, of)) for of in "01")
    assert len(ends) == 3 and len(dots) == 4 and texts(ax).count("folded") == 1
    for dot, number, zero, one in zip(ends, (1, 0, 0.5), zeros, ones, strict=True):
        assert dot.get_xdata()[0] == pytest.approx(zero + number * (one - zero))
    (fold,) = arrows(ax)
    (start, _), (end, _) = fold._posA_posB
    assert start < zeros[2] < end and (start + end) / 2 == pytest.approx(zeros[2])
    with pytest.raises(ValueError, match="from -1 to 1"):
        limits.folded([0, -2])


@pytest.mark.parametrize(("states", "symbols"), [([0, 2], [0, 1]), ([0, 1], [-1, 1])])
def test_a_line_is_folded_for_numbers_from_0_to_1(states, symbols):
    with pytest.raises(ValueError, match="from 0 to 1"):
        limits.folded_line(states, symbols)


def states_of(gates: torch.Tensor) -> torch.Tensor:
    """The states from 1 on, each what its gate leaves of the one before."""
    a, u = torch.cat([torch.zeros(1), gates]), torch.zeros(len(gates) + 1)
    u[0] = 1
    return by_loop(a[None, :, None], u[None, :, None])[0, :, 0]


def test_a_gate_shrinks_a_bar_or_turns_it_over():
    ones = torch.tensor([float(bit) for bit in WORD])
    ways = {"gates in (0, 1)": 1 - ones / 2, "gates in (−1, 1)": 1 - 2 * ones}
    rows = {name: (gates, states_of(gates)) for name, gates in ways.items()}
    ax = limits.gate_turns(WORD, rows)
    bars, zeros = filled(ax, "state"), [line.get_ydata()[0] for line in ax.lines]
    unit = bars[0].get_height()
    drawn = iter(bars)
    for zero, (_, states) in zip(zeros, rows.values(), strict=True):
        for state in states.tolist():
            bar = next(drawn)
            assert bar.get_height() == pytest.approx(unit * abs(state))
            down = bar.get_y() + bar.get_height() > zero + 1e-6
            assert down == (state < 0) and zero in (
                pytest.approx(bar.get_y()),
                pytest.approx(bar.get_y() + bar.get_height()),
            )
    assert next(drawn, None) is None
    assert [text for text in texts(ax) if text in ("0.5", "−1")].count("0.5") == 4 + 3
    assert len(filled(ax, "key")) == 4 and len(filled(ax, "key", 0.25)) == 4


def test_a_gate_belongs_to_a_symbol_and_a_state_comes_before():
    with pytest.raises(ValueError, match=r"7 gates.* 8 states.*\(7, 7\)"):
        limits.gate_turns(WORD, {"gates": ([1.0] * 7, [1.0] * 7)})


@pytest.mark.parametrize("n", [2, 5, 8])
def test_after_all_rounds_each_position_has_taken_in_all_steps_before(n):
    ax = limits.scan_rounds(n)
    known = [{t} for t in range(n)]
    rows = sorted({round(patch.get_y(), 6) for patch in ax.patches if type(patch) is Rectangle})[1:]
    at = [x for x, _ in (text.get_position() for text in ax.texts[:n])]
    for number, (above, below) in enumerate(zip(rows, rows[1:], strict=False)):
        d = 2**number
        joined = [
            (s, t)
            for s in range(n)
            for t in range(n)
            if leads(ax, (at[s], above + 0.85), (at[t], below), within=0.01)
        ]
        assert joined == [(t - d, t) for t in range(d, n)] and f"distance {d}" in texts(ax)
        known = [known[t] | (known[t - d] if t >= d else set()) for t in range(n)]
        for t in range(n):
            told = f"{min(known[t]) + 1}–{t + 1}" if min(known[t]) < t else str(t + 1)
            (text,) = [
                text.get_text()
                for text in ax.texts
                if math.dist(text.get_position(), (at[t], below + 0.425)) < 0.01
            ]
            assert text == told
    assert len(rows) == 1 + math.ceil(math.log2(n))
    assert known == [set(range(t + 1)) for t in range(n)]
    assert len(filled(ax, "value", 0.9)) == n + sum(min(2**r, n) for r in range(len(rows) - 1))


def test_a_round_needs_two_steps():
    with pytest.raises(ValueError, match="two steps"):
        limits.scan_rounds(1)


# Counting, and the mean ---------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["aaabbb", "aabb"])
def test_counters_are_as_high_as_the_lstm_s_cells(word):
    language, machine = Blocks("ab"), counter_lstm()
    ids, state, held = language.encode(word), None, []
    for x_t in machine.embedding(ids).split(1, dim=1):
        _, state = machine.layer(x_t, state)
        held.append(state[1][0])
    c = torch.stack(held)  # (T, 2)
    answers = [language.classes[k] for k in machine(ids).argmax(dim=-1)[0]]
    ax = limits.counting_cells(word, {"a − b": c[:, 0], "b": c[:, 1]}, answers)
    n = len(word) // 2
    for role, counts in (("state", [*range(1, n + 1), *reversed(range(n))]), ("key", None)):
        counts = counts or [0] * n + [*range(1, n + 1)]
        bars = filled(ax, role)
        unit = max(bar.get_height() for bar in bars) / n
        assert [bar.get_height() / unit for bar in bars] == pytest.approx(counts)
        assert len({round(bar.get_y() + bar.get_height(), 6) for bar in bars}) == 1
        middles = [bar.get_x() + bar.get_width() / 2 for bar in bars]
        letters = [text.get_position()[0] for text in ax.texts if text.get_text() in (*word,)]
        assert middles == pytest.approx(letters[: len(word)])
    assert texts(ax)[-len(word) - 1 : -1] == answers and answers[-1] == "end"


def test_each_letter_has_a_number_from_0_on_and_an_answer():
    with pytest.raises(ValueError, match=r"as many, got \[2, 3\]"):
        limits.counting_cells("ab", {"a": [1, 1, 1]}, ["ab", "end"])
    with pytest.raises(ValueError, match="from 0 on, got -1"):
        limits.counting_cells("ab", {"a": [1, -1]}, ["ab", "end"])


def test_the_mean_moves_by_one_of_n():
    words = [[0, 1, 0, 1], [1] * 3 + [0] * 6, [0] + [1] * 24]
    ax = limits.one_of_many(words)
    changes = ["+ 1/4", "− 1/9", "+ 1/25"]
    assert [text for text in texts(ax) if text[0] in "+−"] == changes
    means = [
        patch for patch in ax.patches if type(patch) is Rectangle and patch.get_linewidth() > 1
    ]
    whole = 2 * means[1].get_width()  # of the first word half are ones
    for k, word in enumerate(words):
        after = [1 - word[0], *word[1:]]
        longer, shorter = (bar.get_width() for bar in means[2 * k : 2 * k + 2])
        drawn = sorted(sum(each) / len(word) for each in (word, after))
        assert [shorter / whole, longer / whole] == pytest.approx(drawn)
        assert f"{sum(word) / len(word):.4g} → {sum(after) / len(word):.4g}" in texts(ax)
    framed = {patch.get_bbox().x0 for patch in ax.patches if isinstance(patch, FancyBboxPatch)}
    assert len(framed) == 1 and len(filled(ax, "query")) == 3 + 2 + 3 + 24


def test_a_written_answer_is_found_from_one_symbol_and_the_answer_before():
    symbols, answers = list("abcde"), list("ABCDE")
    ax = limits.steps_written(symbols, answers)
    first = [places(ax, symbol)[0] for symbol in symbols]
    second = [places(ax, symbol)[1] for symbol in symbols]
    written = [places(ax, answer)[-1] for answer in answers]
    assert [len(places(ax, answer)) for answer in answers] == [1, 1, 1, 1, 2]
    for place in first:
        assert leads(ax, place, places(ax, "E")[0], within=0.5)
    for t, place in enumerate(second):
        assert leads(ax, place, written[t], within=0.5)
        assert t == 0 or leads(ax, written[t - 1], written[t], within=0.5)
    assert len(arrows(ax)) == 5 + 5 + 4
    assert all(place[0] < answer[0] for place, answer in zip(second, written, strict=True))
    with pytest.raises(ValueError, match="5 symbols, but 4 answers"):
        limits.steps_written(symbols, answers[:4])


# A stack in one number, and things that change places ---------------------------------------------


@pytest.mark.parametrize("bits", [[1, 0, 1], [0, 1, 1, 0]])
@pytest.mark.parametrize("kind", [Fraction, float])
def test_each_push_squeezes_the_line_into_a_quarter(bits, kind):
    numbers = [kind(0)]
    for bit in bits:
        numbers.append(kind(push(Fraction(numbers[-1]), bit)))
    ax = limits.stack_in_a_number(bits, numbers)
    marks = [line for line in ax.lines if line.get_linewidth() == 4]
    ((left, _), *_), right = sorted(line.get_xydata()[0].tolist() for line in marks), 11.1
    assert [(mark.get_xdata()[0] - left) / (right - left) for mark in marks] == pytest.approx(
        [float(q) for q in numbers]
    )
    quarters = filled(ax, "key", 0.7)
    assert [(cell.get_x() - left) / (right - left) for cell in quarters] == pytest.approx(
        [(2 * bit + 1) / 4 for bit in bits]
    )
    for k in range(1, len(bits) + 1):
        q, digits = Fraction(numbers[k]), ""
        while q:
            digits += str(2 * top(q) + 1)  # the digit of the bit on top, then that below
            q = pop(q)
        assert f"0.{digits} in base 4" in texts(ax) and len(digits) == k
        assert f"q = {float(numbers[k]):.6g}" in texts(ax)
    squeezed = [line.get_xdata() for line in ax.lines if line.get_linestyle() == "--"]
    for k, bit in enumerate(bits):
        for share, (above, below) in enumerate(squeezed[2 * k : 2 * k + 2]):
            place = (above - left) / (right - left)
            assert place == pytest.approx(share)
            assert (below - left) / (right - left) == pytest.approx(push(share, bit))


@pytest.mark.parametrize("numbers", [[0, 0.75], [0, 0.75, 1.4375], [-0.25, 0.75, 0.4375]])
def test_a_stack_is_a_number_below_1_after_each_push(numbers):
    with pytest.raises(ValueError, match="^2 pushes .* 3 numbers "):
        limits.stack_in_a_number([1, 0], numbers)


@pytest.mark.parametrize("n", [3, 5])
def test_the_ball_s_path_is_that_of_the_language(n):
    language = Swaps(n)
    (ids,), answers, _ = language.draw(1, 6, 6, seed=n)
    swaps = [tuple(int(digit) for digit in language.symbols[k]) for k in ids.tolist()]
    ax = limits.cups(swaps, n)
    lanes = sorted({round(text.get_position()[1], 6) for text in ax.texts[6:]})
    (ball,) = [line for line in ax.lines if line.get_linewidth() == 4]
    after = [lanes.index(round(y, 6)) for y in ball.get_ydata()[2::2]]
    assert ball.get_ydata()[0] == lanes[0] and after == answers[0].tolist()
    for column in range(2, 14, 2):  # no two cups are in one place
        assert sorted(line.get_ydata()[column] for line in ax.lines) == pytest.approx(lanes)
    assert texts(ax)[:6] == [f"{i}↔{j}" for i, j in swaps]
    coloured = [cup for cup in ax.patches if isinstance(cup, Polygon)]
    coloured = [cup for cup in coloured if to_hex(cup.get_facecolor()) == tinted("key")]
    assert [round(cup.get_xy()[:4, 1].mean(), 6) for cup in coloured] == pytest.approx(
        [lanes[0], lanes[after[-1]]]
    )


@pytest.mark.parametrize("pair", [(1, 1), (0, 2), (2, 6)])
def test_a_swap_is_of_two_places(pair):
    with pytest.raises(ValueError, match=" 1 to 5"):
        limits.cups([(1, 2), pair], 5)


# What size buys -----------------------------------------------------------------------------------


def test_two_operations_go_forward_and_four_back():
    ax = growth.six_operations()
    signs = {sign: places(ax, sign) for sign in "×+"}
    assert [len(at) for at in signs.values()] == [3, 3]
    assert texts(ax).count("2") == 3 and texts(ax)[-1].startswith("2 + 2 + 2 = 6 ")
    rows = (("x", "w", "y"), ("y.grad", "w", "x.grad"), ("y.grad", "x", "w.grad"))
    for times, plus, (one, other, result) in zip(*signs.values(), rows, strict=True):
        for name in (one, other):
            assert any(leads(ax, (x + 0.95, y), times, within=0.8) for x, y in places(ax, name))
        assert leads(ax, times, plus, within=0.5)
        (end,) = [place for place in places(ax, result) if place[0] > plus[0]]
        assert leads(ax, plus, end, within=1.0)
