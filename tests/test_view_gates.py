"""Day 3's view of gates over a text."""

import re

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe

from utils.show import views

TEXTS = ("a (b) c", "d e")


def numbers(seed: int = 0, units: int = 3) -> dict:
    """Two gates and a cell over each text."""
    draw = torch.Generator().manual_seed(seed)
    found = {}
    for text in TEXTS:
        drawn = torch.rand(3, len(text), units, generator=draw)
        found[text] = {"forget gate": drawn[0], "input gate": drawn[1], "cell": 2 * drawn[2] - 1}
    return found


def test_the_text_is_the_same_whatever_was_learned(shown):
    for seed in (0, 1):
        views.gates(numbers(seed))
    one, other = shown
    assert one["text/plain"] == other["text/plain"]
    assert one["text/plain"].startswith("View: ")
    assert one["text/html"] != other["text/html"]


def test_the_still_page_says_where_the_first_gate_is_lowest(shown):
    gate = torch.full((3, 2), 0.5)
    gate[1] = 0.25
    views.gates({"xyz": {"forget gate": gate}})
    assert "xyz: at “y”, character 2: 25%." in shown[0]["text/html"]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({}, "no text"),
        ({"ab": {}}, "'ab' .*gate"),
        ({"": {"f": torch.zeros(0, 2)}}, "'' .*gate"),
        ({"ab": {"f": torch.zeros(3, 2)}}, r"'f' .* 2 .*\(3, 2\)"),
        ({"ab": {"f": torch.zeros(2)}}, r"'f' .* 2 .*\(2,\)"),
        ({"ab": {"f": torch.full((2, 2), 1.5)}}, "'f' .* -1 .* 1"),
        ({"ab": {"f": torch.full((2, 2), torch.nan)}}, "'f' .* -1 .* 1"),
    ],
)
def test_gates_that_do_not_fit_are_refused(shown, texts, said):
    with pytest.raises(ValueError, match=said):
        views.gates(texts)
    assert not shown


@pytest.fixture
def opened(alone):
    def open_in(theme: str, given: dict):
        views.gates(given)
        return alone(theme)

    return open_in


def choose(tab, label: str, place: int) -> None:
    tab.get_by_label(label, exact=True).locator("input").nth(place).check(force=True)


def test_the_page_shows_the_numbers_that_python_has(opened):
    given = numbers()
    tab = opened("light", given)
    for row, (text, parts) in enumerate(given.items()):
        choose(tab, "Text", row)
        for part, (name, values) in enumerate(parts.items()):
            choose(tab, "Show", part)
            for unit, told in ((0, "the mean of all units"), (2, "unit 2")):
                choose(tab, "Unit", unit)
                column = values[:, unit - 1] if unit else values.mean(dim=1)
                for at in range(len(text)):
                    choose(tab, "Character", at)
                    line = tab.locator(".view-answer p").first.inner_text()
                    assert f"Character {at + 1}, " in line and f", {told}: {name} " in line
                    got = int(re.search(rf"{name} (-?\d+)%", line)[1])
                    assert abs(got - 100 * column[at].item()) <= 0.51


def test_a_bar_is_as_high_as_its_gate_is_open_and_half_for_a_cell_of_zero(opened):
    gate, cell = torch.tensor([[0.2], [0.9]]), torch.tensor([[0.0], [-1.0]])
    tab = opened("light", {"ab": {"forget gate": gate, "cell": cell}})
    style = "(labels) => labels.map((label) => label.style.getPropertyValue('--share'))"
    labels = tab.locator(".view-letters label")
    assert labels.evaluate_all(style) == ["20", "90"]
    choose(tab, "Show", 1)
    assert labels.evaluate_all(style) == ["50", "0"]


def test_a_space_is_named(opened):
    tab = opened("light", numbers())
    assert tab.get_by_label("a space, character 2").count() == 1


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_fits_a_phone_and_takes_the_keyboard(opened, theme):
    tab = opened(theme, numbers(units=12))
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    faults = Axe().run(tab).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []
    before = tab.locator(".view-answer").inner_text()
    tab.locator(".view-letters input").first.focus()
    tab.keyboard.press("ArrowRight")
    assert tab.locator(".view-answer").inner_text() != before
