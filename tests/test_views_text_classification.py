"""Day 8's view of the words that decided."""

import json
import math
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import AS_IN_JUPYTERLAB

from utils.show import views
from utils.show.views import Reading

METHODS = ["leave one out", "gradient × input", "attention"]
WORDS = "the soup was not good but the wine was lovely".split()


def reading(words, answer, probability, right, *scores, decides=()) -> Reading:
    return Reading(
        words, answer, probability, right, dict(zip(METHODS, scores, strict=True)), decides
    )


READINGS = [
    reading(
        WORDS,
        "good",
        0.974,
        "good",
        [0, 0.1, 0, -0.5, -1, 2, 0.021, 0, 0, 4],
        [3, 0.1, 0, -2, -1, 2, 0.02, 0, 0, 0.3],
        [0.1] * 10,
        decides=[9],
    ),
    reading(
        ["it", "was", "never", "dull"],
        "bad",
        0.6,
        "good",
        [0, 0, 1, 2],
        [0, 0, -1, -0.004],
        [0, 0, 0, 0],
        decides=[3, 2],
    ),
    reading(["<b>", "é"], "torch", 1.0, "numpy", [1, 2], [2, -1], [0.5, 0.4]),
]


def data_of(bundle: dict) -> dict:
    (written,) = re.findall(r'<script type="application/json">(.*?)</script>', bundle["text/html"])
    return json.loads(written)


# Which words decided ------------------------------------------------------------------------------


def test_the_text_is_the_same_whatever_was_learned(shown):
    views.decided(READINGS)
    other = {method: [1.0] * 10 for method in METHODS}
    views.decided([READINGS[0]._replace(scores=other, probability=0.5), *READINGS[1:]])
    assert shown[0]["text/plain"] == shown[1]["text/plain"]
    assert shown[0]["text/html"] != shown[1]["text/html"]
    first, *texts = shown[0]["text/plain"].splitlines()
    assert first == f"View: which words decided; methods: {', '.join(METHODS)}."
    assert texts == [" ".join(r.words) for r in READINGS]
    still = "wine was lovely: the model answers “good”, with 97%, and “lovely” speaks for it most."
    assert still in shown[0]["text/html"]


def test_scores_are_per_cent_of_the_largest_with_their_signs(shown):
    views.decided(READINGS)
    texts = data_of(shown[0])["texts"]
    assert texts[0]["scores"][0] == [0, 2, 0, -12, -25, 50, 1, 0, 0, 100]
    assert texts[1]["scores"] == [[0, 0, 50, 100], [0, 0, -100, 0], [0, 0, 0, 0]]
    assert texts[1]["decides"] == [2, 3] and texts[2]["decides"] == []
    assert [text["percent"] for text in texts] == [97, 60, 100]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"words": "the soup"}, "list .*'the soup'"),
        ({"words": []}, r"list .* \[\]"),
        ({"scores": {"attention": [0.1] * 10}}, r"methods .*\['attention'\]"),
        ({"scores": dict.fromkeys(METHODS, [1.0] * 9)}, " 10 .* leave one out,"),
        ({"scores": dict.fromkeys(METHODS, [math.nan] * 10)}, " 10 .* leave one out,"),
        ({"probability": 97.4}, "probability .* 97.4 "),
        ({"decides": [10]}, r" 9, .*\[10\]"),
        ({"decides": [-1]}, r" 9, .*\[-1\]"),
    ],
)
def test_what_does_not_fit_is_refused(shown, change, said):
    with pytest.raises(ValueError, match=said):
        views.decided([READINGS[1], READINGS[0]._replace(**change)])
    assert not shown


@pytest.mark.parametrize("nothing", [[], [READINGS[0]._replace(scores={})]])
def test_nothing_to_show_is_refused(nothing):
    with pytest.raises(ValueError, match="nothing"):
        views.decided(nothing)


@pytest.fixture
def opened(alone):
    def open_in(theme: str):
        views.decided(READINGS)
        tab = alone(theme)
        tab.evaluate(AS_IN_JUPYTERLAB)
        return tab

    return open_in


def numbers(tab) -> list[tuple[str, str]]:
    """Each word and what is under it."""
    return [tuple(row.split("\n")) for row in tab.locator(".view-over li").all_inner_texts()]


def press(tab, radio: str, key: str) -> list[str]:
    """Press a key where a choice is made; return the lines of the answer."""
    tab.get_by_role("radiogroup", name=radio).locator(":checked").focus()
    tab.keyboard.press(key)
    return tab.locator("[aria-live] p").all_inner_texts()


def test_each_word_has_its_number_and_a_bar_as_high(opened):
    tab = opened("light")
    under = ["0", "+2", "0", "−12", "−25", "+50", "+1", "0", "0", "+100"]
    assert numbers(tab) == list(zip(WORDS, under, strict=True))
    rows = tab.locator(".view-over li")
    for row, share in zip(rows.all(), under, strict=True):
        size = row.evaluate("row => getComputedStyle(row).backgroundSize")
        height = row.evaluate("row => 1.5 * parseFloat(getComputedStyle(document.body).fontSize)")
        found = float(re.fullmatch(r"100% ([\d.]+)px", size)[1])
        assert found == pytest.approx(height * int(share.strip("+−")) / 100, abs=0.1)
        image = row.evaluate("row => getComputedStyle(row).backgroundImage")
        assert image.startswith("repeating") == ("−" in share)
    marked = tab.locator(".view-over li[data-decides]").all_inner_texts()
    assert marked == ["lovely\n+100"]


def test_the_answer_says_what_is_seen_by_keyboard_alone(opened):
    tab = opened("light")
    assert tab.locator("[aria-live] p").all_inner_texts() == [
        "The model answers “good”, with 97%: ✓ correct.",
        "By leave one out, “lovely” (+100), “but” (+50) and “soup” (+2) speak most for “good”; "
        "“good” (−25) and “not” (−12) speak against it.",
        "▲ Deciding: “lovely”. ✓ The largest numbers are there.",
    ]
    said = press(tab, "Method", "ArrowRight")
    assert "By gradient × input, “the” (+100), “but” (+67) and “lovely” (+10) speak most" in said[1]
    assert said[2] == ("▲ Deciding: “lovely”. ✗ Other words have larger numbers than “lovely”.")
    said = press(tab, "Text", "ArrowDown")
    assert said[0] == "The model answers “bad”, with 60%: ✗ the correct answer is “good”."
    assert said[1] == (
        "By gradient × input, nothing speaks for “bad”; “never” (−100) speaks against it."
    )
    assert said[2].endswith(
        "“never” and “dull”. ✗ Other words have larger numbers than “never” and “dull”."
    )
    assert press(tab, "Method", "ArrowLeft")[2].endswith("✓ The largest numbers are there.")
    assert press(tab, "Method", "ArrowLeft")[1].endswith("nothing speaks against it.")
    press(tab, "Text", "ArrowDown")
    assert numbers(tab)[0] == ("<b>", "+100") and len(press(tab, "Method", "ArrowRight")) == 3
    assert tab.locator("[aria-live] p").last.inner_text() == ""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(opened, theme):
    tab = opened(theme)
    for _ in range(2):
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        faults = Axe().run(tab).response["violations"]
        assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []
        press(tab, "Text", "ArrowDown")
