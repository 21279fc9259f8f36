"""Day 7's views: patterns and their costs, an online softmax in steps, a text written twice."""

import json
import math
import re
from functools import partial
from itertools import accumulate, product

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from utils.efficient import window_attention, window_mask
from utils.efficient.blocks import attend
from utils.exercises.efficient_attention.online_softmax import take_in
from utils.measure.costs import peak_bytes, work
from utils.show import views
from utils.tasks.long_texts import heads

SCORES, VALUES = [1, 3, -2, 5, 4], [4, 0, 8, 2.5, 6]
RUNS = {
    "One ": ("two <b>", [0.03] * 7, [0.01] * 7),
    "If it ": ("is", [0.02, 0.04], [0.0, 0.01]),
}


@torch.no_grad()
def measured(factor: int = 1) -> dict:
    """Two patterns on texts of 8 and 128 positions, with what they cost."""
    forms = {"all pairs": lambda w: attend, "window": lambda w: partial(window_attention, window=w)}
    found = {}
    for name, w, T in product(forms, (1, 4), (8, 128)):
        q, k, v = heads(T)
        form = partial(forms[name](w), q, k, v)
        mask = window_mask(T, w if name == "window" else T)
        found[name, w, T] = mask, factor * work(form).total, factor * peak_bytes(form)
    return found


def show_patterns(factor: int = 1) -> dict:
    given = measured(factor)
    views.patterns(given)
    return given


def show_steps(scores=SCORES, values=VALUES, size: int = 2) -> None:
    views.online_softmax(scores, values, size)


def show_race(runs=RUNS) -> None:
    views.race(runs)


def data_of(bundle: dict) -> dict:
    found = re.search('<script type="application/json">(.*?)</script>', bundle["text/html"], re.S)
    return json.loads(found[1])


def test_the_text_is_the_same_whatever_was_measured(shown):
    show_patterns()
    show_race()
    show_patterns(factor=2)
    show_race(
        {start: (text + "!", [*slow, 1], [*fast, 1]) for start, (text, slow, fast) in RUNS.items()}
    )
    for one, other in (shown[::2], shown[1::2]):
        assert one["text/plain"] == other["text/plain"]
        assert one["text/plain"].startswith("View: ")
        assert one["text/html"] != other["text/html"]


def test_a_picture_has_a_cell_for_each_pair_or_the_share_of_several(shown):
    given = show_patterns()
    rows = iter(data_of(shown[0])["rows"])
    for (_, _, T), (mask, operations, held) in given.items():
        row = next(rows)
        assert (row["pairs"], row["work"], row["bytes"]) == (mask.sum(), operations, held)
        cells = torch.tensor([[int(cell) for cell in line] for line in row["cells"]])
        step = max(1, T // 64)
        seen = mask.view(T // step, step, T // step, step).sum(dim=(1, 3))
        assert torch.equal(cells, (9 * seen / step**2).ceil().long())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda given: {}, "no pattern"),
        (lambda given: dict(list(given.items())[:-1]), r"measured: \('window', 4, 128\)"),
        (
            lambda given: given | {("window", 4, 8): (torch.ones(8, 7), 1, 1)},
            r"\(8, 8\), .*\(8, 7\)",
        ),
    ],
)
def test_patterns_that_do_not_fit_are_refused(shown, change, said):
    with pytest.raises(ValueError, match=said):
        views.patterns(change(measured()))
    assert not shown


@pytest.mark.parametrize(
    ("scores", "values", "size", "said"),
    [
        ([], [], 2, " 0 scores .* 0 "),
        ([1, 2], [1], 2, " 2 scores .* 1 "),
        ([1, math.inf], [1, 2], 2, "finite: .* 2 .* 2 "),
        ([1, 2], [1, math.nan], 2, "finite: .* 2 .* 2 "),
        ([1, 2], [1, 2], 0, "tile .* 0"),
    ],
)
def test_scores_that_do_not_fit_are_refused(shown, scores, values, size, said):
    with pytest.raises(ValueError, match=said):
        views.online_softmax(scores, values, size)
    assert not shown


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ({}, "nothing"),
        ({"a": ("bc", [0.1], [0.1, 0.1])}, "'a', without .* 2 .* 1"),
        ({"a": ("bc", [0.1, 0.1], [0.1] * 3)}, "'a', with .* 2 .* 3"),
        ({"a": ("", [], [])}, " 0 characters .* 0"),
        ({"a": ("b", [-0.1], [0.1])}, "'a', .*finite"),
        ({"a": ("b", [0.1], [math.nan])}, "'a', .*finite"),
    ],
)
def test_runs_that_do_not_fit_are_refused(shown, runs, said):
    with pytest.raises(ValueError, match=said):
        views.race(runs)
    assert not shown


def test_a_letter_comes_when_it_came(shown):
    show_race()
    passed = [run["passed"] for run in data_of(shown[0])["runs"]]
    for found, (_, *ways) in zip(passed, RUNS.values(), strict=True):
        for at, seconds in zip(found, ways, strict=True):
            assert at == [round(1000 * s) for s in accumulate(seconds)]


@pytest.fixture
def opened(alone):
    def open_in(theme: str, show):
        given = show()
        return alone(theme), given

    return open_in


def choose(tab, label: str, place: int) -> None:
    tab.get_by_label(label, exact=True).locator("input").nth(place).check(force=True)


def test_the_page_tells_the_numbers_that_were_counted(opened):
    tab, given = opened("light", show_patterns)
    names, windows, lengths = (list(dict.fromkeys(part)) for part in zip(*given, strict=True))
    for name, w, T in given:
        choose(tab, "Pattern", names.index(name))
        choose(tab, "Window", windows.index(w))
        choose(tab, "Positions", lengths.index(T))
        mask, operations, held = given[name, w, T]
        said = tab.locator(".view-answer").inner_text()
        assert f"{name}, {T} positions: {int(mask.sum()):,} of {T * T:,} pairs" in said
        assert f"{operations:,} operations, {held:,} bytes" in said
        paths = tab.locator(".view-pattern path").evaluate_all(
            "paths => paths.map((path) => (path.getAttribute('d').match(/M/g) || []).length)"
        )
        step = max(1, T // 64)
        seen = mask.view(T // step, step, T // step, step).sum(dim=(1, 3))
        levels = (9 * seen / step**2).ceil().long()
        assert paths == [int((levels == level).sum()) for level in range(1, 10)]


@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_each_step_in_the_page_is_the_exercises(opened, size):
    tab, _ = opened("light", partial(show_steps, size=size))
    x, v = (torch.tensor(row, dtype=torch.float64) for row in (SCORES, VALUES))
    state = (
        torch.full((1, 1), -torch.inf).double(),
        torch.zeros(1, 1).double(),
        torch.zeros(1, 1).double(),
    )
    seen = []
    for scores, values in zip(x.split(size), v.split(size), strict=True):
        tab.get_by_role("button", name="Next tile").click()
        state = take_in(scores[None], values[:, None], *state)
        told = [float(text.replace("−", "-")) for text in tab.locator("dd").all_inner_texts()]
        expected = [*(number.item() for number in state), (state[2] / state[1]).item()]
        assert told == pytest.approx(expected, abs=6e-5)
        seen.append(told)
    said = tab.locator(".view-answer").inner_text()
    assert f"at once gives {(x.softmax(0) @ v).item():.4f}" in said
    tab.get_by_role("button", name="Next tile").click(force=True)  # there is none
    for expected in reversed(seen[:-1]):
        tab.get_by_role("button", name="Back").click()
        told = [float(text.replace("−", "-")) for text in tab.locator("dd").all_inner_texts()]
        assert told == expected
    tab.get_by_role("button", name="Back").click()
    assert "Nothing is taken in" in tab.locator(".view-answer").inner_text()
    assert tab.get_by_role("button", name="Back").get_attribute("aria-disabled") == "true"


def test_a_tile_that_raises_the_maximum_says_by_what_is_rescaled(opened):
    tab, _ = opened("light", show_steps)
    for _ in range(2):
        tab.get_by_role("button", name="Next tile").click()
    said = tab.locator(".view-answer").inner_text()
    assert f"rises from 3 to 5, so ℓ and a were first multiplied by {math.exp(-2):.4f}" in said
    tab.get_by_role("button", name="Next tile").click()
    assert "nothing was rescaled" in tab.locator(".view-answer").inner_text()


def test_both_ways_write_the_same_text_and_the_page_says_how_long_it_took(opened):
    tab, _ = opened("light", show_race)
    for row, (start, (text, slow, fast)) in enumerate(RUNS.items()):
        choose(tab, "Beginning", row)
        lanes = tab.locator(".view-lane")
        assert [lane.evaluate("node => node.textContent") for lane in lanes.all()] == [start] * 2
        tab.get_by_role("button", name="Write").click()
        tab.wait_for_function("document.querySelector('.view-answer').textContent !== ''")
        assert [lane.evaluate("node => node.textContent") for lane in lanes.all()] == [
            start + text
        ] * 2
        said = tab.locator(".view-answer").inner_text()
        assert f"{sum(slow):.2f} s without a cache and {sum(fast):.2f} s with a cache" in said
        assert f"{sum(slow) / sum(fast):.1f} times as fast" in said


def test_the_faster_way_is_ahead_at_any_moment(opened):
    runs = {"a": ("b" * 40, [0.005] + [1000] * 39, [0.005] * 40)}
    tab, _ = opened("light", partial(show_race, runs))
    tab.get_by_role("button", name="Write").click()
    slow, fast = tab.locator(".view-lane").all()
    expect(fast).to_have_text("a" + "b" * 40)
    expect(slow).to_have_text("ab")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("show", [show_patterns, show_steps, show_race])
def test_they_are_accessible_and_fit_a_phone(opened, theme, show):
    tab, _ = opened(theme, show)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    faults = Axe().run(tab).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []


@pytest.mark.parametrize(
    ("show", "first", "key"),
    [
        (show_patterns, "input", "ArrowRight"),
        (show_steps, "button:has-text('Next')", "Enter"),
        (show_race, ".view-moves button", "Space"),
    ],
)
def test_they_take_the_keyboard(opened, show, first, key):
    tab, _ = opened("light", show)
    before = tab.locator(".view-answer").inner_text()
    tab.locator(first).first.focus()
    tab.keyboard.press(key)
    tab.wait_for_function(
        "said => document.querySelector('.view-answer').innerText !== said", arg=before
    )
