"""The guesses of encoders, and Day 11's view of them, from a teacher to its students."""

import json
import re
from functools import cache

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from browser import AS_IN_JUPYTERLAB, PAGE
from torch import nn

from utils.data.text import EOS
from utils.pretraining import MASK, MaskedLanguageModel
from utils.show import views
from utils.show.views import Guesser, frame
from utils.tasks import filling, pretraining

FIRST = "Return the ___ of each axis as an array."


def by_chance(model: nn.Module, seed: int = 0) -> nn.Module:
    """Give a model weights of chance, large enough that all of them matter."""
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            noise = torch.randn(weight.shape, generator=draw)
            weight.copy_(0.4 * noise if weight.dim() > 1 else weight + 0.2 * noise)
    return model.eval()


@cache
def large(n_layers: int = 4) -> MaskedLanguageModel:
    """A model with the day's words and width; its weights are of chance."""
    return by_chance(pretraining.new_model(0, n_layers), n_layers)


def data_of(bundle: dict) -> dict:
    (written,) = re.findall(r'<script type="application/json">(.*?)</script>', bundle["text/html"])
    return json.loads(written)


# Guesses ------------------------------------------------------------------------------------------


def chances_by_hand(words: list[str]) -> torch.Tensor:
    """A model's probabilities of all words of the vocabulary, at each word."""
    ids = torch.tensor([pretraining.vocabulary().encode(words) + [EOS]])
    with torch.no_grad():
        return large()(ids)[0, :, MASK + 1 :].softmax(dim=-1)


def test_each_gap_is_filled_with_the_likeliest_words():
    words = ["the", "<mask>", "of", "<name>", "is", "<mask>"]
    chances = chances_by_hand(words)
    found = filling.fill(large(), "The ___ of NumPy is _.", n=7)
    for gap, place in zip(found, (1, 5), strict=True):
        expected = chances[place].sort(descending=True)
        ids = pretraining.vocabulary().encode((word for word, _ in gap), strict=True)
        assert ids == [MASK + 1 + place for place in expected.indices[:7].tolist()]
        assert [share for _, share in gap] == pytest.approx(expected.values[:7].tolist(), rel=1e-4)
    assert len(filling.fill(large(), FIRST)[0]) == 5
    (every,) = filling.fill(large(), FIRST, n=10**6)
    assert sum(share for _, share in every) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("___ is ___.", "<mask> is <mask>"),
        ("Calls fit_transform, __init__ and _ (or ____)", "calls <name> and <mask> or <mask>"),
        ("A 3 in `x_`, not in non-___ axes", "a <number> in <name> not in <name> <mask> axes"),
        ("It is a = ___", ""),
        ("", ""),
    ],
)
def test_a_gap_is_a_word_of_its_own(sentence, words):
    assert filling.with_gaps(sentence) == words.split()


@pytest.mark.parametrize("sentence", ["Return the axis.", "fit_transform", "a = ___", ""])
def test_a_sentence_without_a_gap_is_refused(sentence):
    with pytest.raises(ValueError, match=f"___, .*{sentence!r}"):
        filling.fill(large(), sentence)


def test_no_guess_at_all_is_refused():
    with pytest.raises(ValueError, match="^n .* 0"):
        filling.fill(large(), FIRST, n=0)
    with pytest.raises(ValueError, match="^n .* 0"):
        filling.guesses(large(), ["the"], n=0)


def test_each_word_is_hidden_in_turn():
    words = ["return", "the", "xyzzy", "array"]
    found = filling.guesses(large(), words, n=3)
    for place, (best, right) in enumerate(found):
        hidden = [*words[:place], "<mask>", *words[place + 1 :]]
        (expected,) = filling.fill(large(), " ".join(hidden).replace("<mask>", "_"), n=3)
        assert best == expected
        if words[place] == "xyzzy":
            assert right is None
            continue
        (number,) = pretraining.vocabulary().encode([words[place]], strict=True)
        expected = chances_by_hand(hidden)[place, number - MASK - 1]
        assert right == pytest.approx(expected.item(), rel=1e-4)
    assert len(found) == 4


def choose(tab, label: str, place: int) -> None:
    tab.get_by_label(label, exact=True).locator("input").nth(place).check(force=True)


def percents(told: str) -> float:
    return 0.0005 if "<" in told else float(re.search(r"([\d.]+) ?%", told)[1]) / 100


def page_of(*parts: str) -> str:
    """The script of some parts, as a view has it."""
    return "\n".join((frame.HERE / f"{part}.js").read_text(encoding="utf-8") for part in parts)


# Teacher and students -----------------------------------------------------------------------------

SENTENCES = [
    ("return", "the", "number", "of", "<name>"),
    ("the", "xyzzy", "axis"),
]
LAYERS = {"4 blocks": (4, 0.423), "2 blocks": (2, 0.4151), "1 block": (1, 0.3)}


@cache
def guessers() -> tuple[Guesser, ...]:
    return tuple(
        Guesser(
            name,
            sum(weight.numel() for weight in large(n).parameters()),
            quality,
            [filling.guesses(large(n), words) for words in SENTENCES],
        )
        for name, (n, quality) in LAYERS.items()
    )


def show_hidden(**changed) -> dict:
    given = {"sentences": SENTENCES, "models": guessers(), "measure": "right with 100 labels"}
    views.hidden_words(**given | changed)
    return given


def test_the_text_of_hidden_words_holds_nothing_measured(shown):
    show_hidden()
    show_hidden(models=[one._replace(quality=0.1) for one in guessers()])
    assert shown[0]["text/plain"] == shown[1]["text/plain"]
    assert shown[0]["text/html"] != shown[1]["text/html"]
    assert shown[0]["text/plain"].splitlines() == [
        "View: hide a word; models: 4 blocks, 2 blocks, 1 block.",
        *map(" ".join, SENTENCES),
    ]


def test_probabilities_are_rounded(shown):
    show_hidden()
    first = guessers()[0].guesses[0][1]
    told = data_of(shown[0])["models"][0]["guesses"][0][1]
    assert told["right"] == round(first[1], 4)
    assert told["best"] == [[word, round(share, 4)] for word, share in first[0]]


def teacher(**changed) -> dict:
    return {"models": [guessers()[0]._replace(**changed), *guessers()[1:]]}


def with_guess(best, right) -> dict:
    (first, *words), *others = guessers()[0].guesses
    return teacher(guesses=[[(best, right), *words], *others])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda: {"sentences": []}, "two models"),
        (lambda: {"models": guessers()[:1]}, "two models"),
        (lambda: teacher(name="1 block"), "name .* 1 block, 2 blocks, 1 block"),
        (lambda: {"sentences": ["the axis", ("the",)]}, "list .*'the axis'"),
        (lambda: {"sentences": [(), ("the",)]}, r"list .* \(\)"),
        (lambda: teacher(parameters=0), "4 blocks .* 0 parameters"),
        (lambda: teacher(parameters=1.5), "4 blocks .* 1.5 parameters"),
        (lambda: teacher(quality=42.3), "4 blocks .* 42.3:"),
        (lambda: teacher(quality=float("nan")), "4 blocks .* nan:"),
        (lambda: teacher(guesses=[]), "4 blocks .*guesses"),
        (lambda: {"sentences": [("the",), *SENTENCES[1:]]}, "4 blocks .*guesses"),
        (lambda: with_guess([], 0.5), "4 blocks .*guesses .* one"),
        (lambda: with_guess([("a", 1.5)], 0.5), "4 blocks .* 1.5:"),
        (lambda: with_guess([("a", 0.5)], -0.1), "4 blocks .* -0.1:"),
    ],
)
def test_guesses_that_do_not_fit_are_refused(shown, change, said):
    with pytest.raises(ValueError, match=said):
        show_hidden(**change())
    assert not shown


@pytest.fixture
def opened(alone):
    def open_in(theme: str):
        show_hidden()
        tab = alone(theme)
        tab.evaluate(AS_IN_JUPYTERLAB)
        return tab

    return open_in


def test_the_page_tells_what_each_model_guesses_for_each_word(opened):
    tab = opened("light")
    for n, model in enumerate(guessers()):
        tab.get_by_label("Model").fill(str(len(guessers()) - 1 - n))
        assert tab.locator("output").inner_text() == model.name
        for s, words in enumerate(SENTENCES):
            choose(tab, "Sentence", s)
            for place, word in enumerate(words):
                choose(tab, "Hidden word", place)
                shown = [*words[:place], "___", *words[place + 1 :]]
                assert tab.locator(".view-hidden label").all_inner_texts() == shown
                best, chance = model.guesses[s][place]
                rows = [row.split("\n") for row in tab.locator(".view-bars li").all_inner_texts()]
                expected = [f"✓ {other}" if other == word else other for other, _ in best]
                assert [other for other, _ in rows] == expected
                for (_, told), (_, share) in zip(rows, best, strict=True):
                    assert percents(told) == pytest.approx(
                        share, abs=0.0051 if share > 0.099 else 6e-4
                    )
                seen, size = tab.locator("[aria-live] p").all_inner_texts()
                assert seen.startswith(f"The hidden word is “{word}”. ")
                assert ("doesn't know it" in seen) == (chance is None) == (word == "xyzzy")
                if chance is not None:
                    assert percents(seen) == pytest.approx(
                        chance, abs=0.0051 if chance > 0.099 else 6e-4
                    )
                assert f"its first guess is “{best[0][0]}”" in seen
                assert seen.endswith("✓ correct.") == (best[0][0] == word)
                quality = f"{100 * model.quality:.1f}%"
                assert size == (
                    f"{model.name}: {model.parameters:,} parameters; right with 100 labels: "
                    f"{quality}."
                )


def test_a_tick_is_given_to_the_word_that_stood_there(alone):
    show_hidden(**with_guess([("a", 0.5), ("return", 0.25)], 0.25))
    tab = alone("light")
    choose(tab, "Hidden word", 0)
    assert tab.locator(".view-bars li").all_inner_texts() == ["a\n50%", "✓ return\n25%"]
    assert tab.locator("[aria-live] p").first.inner_text() == (
        "The hidden word is “return”. The model gives it 25%; its first guess is “a”: "
        "✗ not correct."
    )
    show_hidden(**with_guess([("return", 0.75), ("a", 0.0001)], 0.75))
    tab = alone("light")
    choose(tab, "Hidden word", 0)
    assert tab.locator(".view-bars li").all_inner_texts() == ["✓ return\n75%", "a\n< 0.1%"]
    assert tab.locator("[aria-live] p").first.inner_text().endswith("“return”: ✓ correct.")


def test_words_and_models_are_chosen_by_keyboard_alone(opened):
    tab = opened("light")
    words, live = tab.locator(".view-hidden label"), tab.locator("[aria-live]")
    assert words.nth(2).inner_text() == "___" and "4 blocks" in live.inner_text()
    tab.get_by_label("Hidden word", exact=True).locator(":checked").focus()
    tab.keyboard.press("ArrowRight")
    assert (words.nth(2).inner_text(), words.nth(3).inner_text()) == ("number", "___")
    slider = tab.get_by_label("Model")
    slider.focus()
    for name in ("2 blocks", "1 block", "1 block"):
        tab.keyboard.press("ArrowLeft")
        assert slider.get_attribute("aria-valuetext") == name and name in live.inner_text()
    tab.get_by_label("Sentence").locator(":checked").focus()
    tab.keyboard.press("ArrowDown")
    assert words.all_inner_texts() == ["the", "___", "axis"]
    assert "1 block" in live.inner_text(), "the model stays chosen"


def test_a_dot_is_where_its_size_and_quality_are_and_the_chosen_one_is_marked(opened):
    tab = opened("light")
    dots = tab.locator(".view-quality path")
    largest, best = guessers()[0].parameters, max(one.quality for one in guessers())
    for dot, model in zip(dots.all(), guessers(), strict=True):
        x, y = re.fullmatch(r"M([\d.]+) ([\d.]+)h0", dot.get_attribute("d")).groups()
        assert float(x) == pytest.approx(100 * model.parameters / largest, abs=0.06)
        assert float(y) == pytest.approx(100 - 100 * model.quality / best, abs=0.06)
    for place in range(3):
        tab.get_by_label("Model").fill(str(2 - place))
        marks = [dot.get_attribute("data-now") is not None for dot in dots.all()]
        assert marks == [place == n for n in range(3)]
    told = tab.locator(".view-quality svg").get_attribute("aria-label")
    assert told.startswith("right with 100 labels against parameters. 4 blocks: ")
    assert all(f"{one.name}: {one.parameters:,}" in told for one in guessers())
    ends = tab.locator(".view-quality div span").all_inner_texts()
    assert ends == ["42.3%", "0", "0", f"{largest:,}"]


def test_another_measure_of_size_can_be_shown(alone):
    show_hidden(amount="bytes")
    tab = alone("light")
    assert " bytes; right with" in tab.locator("[aria-live]").inner_text()
    assert "against bytes" in tab.locator(".view-quality svg").get_attribute("aria-label")


def test_one_sentence_needs_no_choice(alone):
    models = [one._replace(guesses=one.guesses[:1]) for one in guessers()]
    show_hidden(sentences=SENTENCES[:1], models=models)
    tab = alone("light")
    assert tab.get_by_label("Sentence").count() == 0
    assert tab.locator(".view-hidden label").count() == 5


# For everybody ------------------------------------------------------------------------------------


def test_what_stands_in_the_page_without_a_script(chromium, shown):
    show_hidden()
    context = chromium.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.set_content(PAGE.format(theme="light", views="".join(b["text/html"] for b in shown)))
    seen = tab.locator("main").inner_text()
    context.close()
    for model in guessers():
        [(word, share), *_], _ = model.guesses[0][2]
        assert f"{model.name}: return the ___ of <name>: “{word}”, {100 * share:.0f}%." in seen


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(opened, theme):
    tab = opened(theme)
    check(tab)
    for name, place in (("Sentence", 1), ("Hidden word", 1)):
        choose(tab, name, place)
        check(tab)


def check(tab) -> None:
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    faults = Axe().run(tab).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []


@pytest.mark.parametrize("file", ["guesses", "hidden_words", "sentence"])
def test_no_script_begins_a_formula_or_names_a_host(file):
    script = page_of(file)
    assert r"\(" not in script and r"\[" not in script and "//" not in script.replace("// ", "")
