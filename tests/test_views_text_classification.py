"""Day 8's views: which words decided, and which library wrote a sentence."""

import json
import math
import re

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import AS_IN_JUPYTERLAB
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from utils.data.libraries import LIBRARIES, NAMES, everything, masked, sentences
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


# Which library wrote it ---------------------------------------------------------------------------

FIRST = "Return the font of each axis as an array."


@pytest.fixture(scope="module")
def bag() -> Pipeline:
    """A bag of words, learned from a part of the sentences."""
    some = everything()[::8]
    model = make_pipeline(
        TfidfVectorizer(analyzer=list, min_df=2), LogisticRegression(C=30, max_iter=500)
    )
    return model.fit([s.words for s in some], [s.label for s in some])


def show(bag: Pipeline, **changed) -> None:
    counts, weigh = bag[0], bag[1]
    given = {
        "words": counts.get_feature_names_out().tolist(),
        "idf": counts.idf_,
        "weights": weigh.coef_.T,
        "bias": weigh.intercept_,
        "libraries": LIBRARIES,
        "names": NAMES,
        "sentence": FIRST,
    }
    views.which_library(**given | changed)


@pytest.fixture
def typed(alone, bag):
    show(bag)
    return alone


def test_the_text_of_the_second_view_is_the_same_whatever_was_learned(shown, bag):
    show(bag)
    show(bag, bias=np.zeros(5))
    assert shown[0]["text/plain"] == shown[1]["text/plain"]
    assert shown[0]["text/plain"] == f"View: which library your sentence is from. {FIRST}"
    assert shown[0]["text/html"] != shown[1]["text/html"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"bias": np.zeros(4)}, r"'bias' .*\(5,\), .*\(4,\)"),
        ({"words": ["font"]}, r"'idf' .*\(1,\)"),
        ({"weights": np.zeros((5, 9))}, r"'weights' .*\(5, 9\)"),
        ({"bias": np.full(5, np.nan)}, "'bias' .*finite"),
    ],
)
def test_a_model_that_does_not_fit_is_refused(shown, bag, change, said):
    with pytest.raises(ValueError, match=said):
        show(bag, **change)
    assert not shown


TYPED = [
    "The pyplot API of Matplotlib draws, e.g. NumPy's arrays and/or np -- not more.",
    "Calls `fit`, :meth:`~a.b`, *axis*, foo(), a.b and \"mean x\"; it doesn't hold for 'lbfgs'!",
    "A non-negative 2-D array (of 3.5 or -1) has no fit_transform, i.e. X",
    "Größe and 今天 are words of other languages, ½ is none",
    "tensor tensor array tensor",
    "xyzzy",
    "",
    "It is a = b",
]


@pytest.mark.parametrize("part", range(2))
def test_the_page_masks_and_answers_as_python_does(typed, bag, part):
    tab = typed("light")
    sentences = TYPED if part else [s.text for s in everything()[3::1500]]
    answers = set()
    for text in sentences:
        tab.get_by_label("Your sentence").fill(text)
        words = masked(text)
        under = [row.split("\n") for row in tab.locator(".view-over li").all_inner_texts()]
        assert [word for word, _ in under] == list(words), text
        x, weigh = bag[0].transform([words]).toarray()[0], bag[1]
        chances = weigh.predict_proba([x])[0]
        for label, row in enumerate(tab.locator(".view-bars li").all_inner_texts()):
            name, share = row.removesuffix("%").split("\n")
            assert name == LIBRARIES[label] and abs(int(share) - 100 * chances[label]) < 1
        if not words:
            assert "Type a sentence" in tab.locator(".view-seen").inner_text()
            continue
        best = chances.argmax()
        answers.add(LIBRARIES[best])
        assert tab.locator(".view-seen").inner_text() == (
            f"The model takes this for {LIBRARIES[best]}."
        )
        adds = x * (weigh.coef_[best] - weigh.coef_.mean(0))
        known = bag[0].vocabulary_
        parts = [adds[known[w]] / words.count(w) if w in known else 0 for w in words]
        largest = max(map(abs, parts)) or 1
        for (_, number), added in zip(under, parts, strict=True):
            shown = int(number.replace("−", "-"))
            assert shown == pytest.approx(100 * added / largest, abs=1.5)
        unknown = {word for word in words if word not in known}
        told = tab.locator("[aria-live] p").last.inner_text()
        assert bool(told) == bool(unknown) and all(f"“{word}”" in told for word in unknown)
    assert part or len(answers) > 2  # else this would compare nothing


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_typing_is_accessible_and_fits_a_phone(typed, theme):
    tab = typed(theme)
    for text in (FIRST, "A-very-long-word-without-any-end-" * 4, ""):
        tab.get_by_label("Your sentence").fill(text)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        faults = Axe().run(tab).response["violations"]
        assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []
    tab.get_by_label("Your sentence").focus()
    tab.keyboard.type("Fit")
    assert tab.locator(".view-over li").first.inner_text().startswith("fit\n")


def test_the_lessons_model_weighs_at_most_150_kilobytes(shown):
    train = sentences().train
    model = make_pipeline(
        TfidfVectorizer(analyzer=list, min_df=2), LogisticRegression(C=3, max_iter=200)
    )
    show(model.fit([s.words for s in train], [s.label for s in train]))
    assert len(json.dumps(data_of(shown[0]), separators=(",", ":"))) < 150_000
