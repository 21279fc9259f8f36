"""Day 4's view: what the page says of a look is what the weights say, and bad data is refused."""

import re

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe

from utils.show import views
from utils.show.views import Looks

SOURCES = {"faced": [*"faced", "EOS"], "I love": ["I", "love", "EOS"]}
WRITTEN = {"faced": [*"decaf", "EOS"], "I love": ["我", "爱", "EOS"]}


def made_up(seed: int = 0, **changed) -> list[Looks]:
    generator = torch.Generator().manual_seed(seed)
    made = []
    for name, source in SOURCES.items():
        scores = 4 * torch.rand(len(WRITTEN[name]), len(source), generator=generator)
        right = WRITTEN[name] if name == "faced" else ["我", "喜欢", "EOS"]
        made.append(Looks(name, source, WRITTEN[name], right, scores.softmax(1)))
    made[0] = made[0]._replace(**changed)
    return made


def test_the_text_is_the_same_whatever_was_learned(shown):
    views.alignment(made_up(0), choose="Text")
    views.alignment(made_up(1), choose="Text")
    assert shown[0]["text/plain"] == shown[1]["text/plain"]
    assert shown[0]["text/plain"].startswith("View: ")
    assert shown[0]["text/html"] != shown[1]["text/html"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"weights": torch.ones(6, 5) / 5}, r"\(6, 6\).*\(6, 5\)"),
        ({"weights": torch.ones(6, 6)}, "weights .*sums"),
        ({"weights": torch.full((6, 6), torch.nan)}, "weights .*sums"),
        ({"name": "I love"}, "names .*'I love', 'I love'"),
    ],
)
def test_what_does_not_fit_is_refused(shown, change, said):
    with pytest.raises(ValueError, match=said):
        views.alignment(made_up(**change), choose="Text")
    with pytest.raises(ValueError, match=r"names .*\[\]"):
        views.alignment([], choose="Text")
    assert not shown


def test_the_page_says_of_each_symbol_what_its_weights_say(alone, shown):
    given = made_up()
    views.alignment(given, choose="Text")
    tab = alone("light")
    for number, example in enumerate(given):
        tab.get_by_role("radiogroup", name="Text").get_by_role("radio").nth(number).check()
        for t, symbol in enumerate(example.written):
            tab.get_by_role("radiogroup", name="What it writes").get_by_role("radio").nth(t).check()
            seen = tab.locator(".view-answer p").first.inner_text()
            percent = (100 * example.weights[t]).round().int()
            best = percent.argmax().item()
            assert seen.startswith(f"While it writes “{symbol}”, it looks most at ")
            assert f"“{example.source[best]}” ({percent[best]}%)" in seen
            told = [int(share) for share in re.findall(r"\((\d+)%\)", seen)]
            assert told == sorted(percent.tolist(), reverse=True)[: len(told)]
        verdict = tab.locator(".view-answer p").nth(1).inner_text()
        wrote = "decaf" if not number else "我爱"
        assert verdict.startswith(f"It wrote “{wrote}”.")
        assert verdict.endswith(
            "✗ The correct answer is “我喜欢”." if number else "✓ That is correct."
        )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(alone, shown, theme):
    views.alignment(made_up(), choose="Text")
    tab = alone(theme)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    faults = Axe().run(tab).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []


def test_it_can_be_used_from_the_keyboard_and_by_pointing(alone, shown):
    views.alignment(made_up(), choose="Text")
    tab = alone("light")
    symbols = tab.get_by_role("radiogroup", name="What it writes")
    symbols.get_by_role("radio").first.focus()
    tab.keyboard.press("ArrowRight")
    assert "While it writes “e”" in tab.locator(".view-answer").inner_text()
    symbols.locator("label").nth(3).hover()
    assert "While it writes “a”" in tab.locator(".view-answer").inner_text()
    tab.mouse.move(0, 0)
    assert "While it writes “e”" in tab.locator(".view-answer").inner_text()
