"""Day 3's writer: the page computes the book's LSTM in int8, and empties its state when asked."""

import json

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from live import stored_at_random
from playwright.sync_api import expect

from utils.data.text import SPECIAL
from utils.recurrent import LSTM, LanguageModel
from utils.show.views import frame, models, recurrent_writer
from utils.show.views.recurrent_writer import check

CHARACTERS = "\n .abcdeilmnorstuz"
TEXT = "rest on a tree. so"
RULES = ("never", "after each word", "after each letter")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a stored model, and the same model in int8."""
    model = LanguageModel(len(SPECIAL) + len(CHARACTERS), 6, LSTM(6, 20))
    folder = tmp_path_factory.mktemp("models")
    with stored_at_random(folder, model, 0.8, characters=CHARACTERS) as both:
        yield both


@pytest.fixture
def opened(here, live):
    def open_in(theme: str = "light", beginning: str = TEXT):
        recurrent_writer("tiny", beginning=beginning)
        tab = live(theme)
        expect(tab.locator(".view-answer")).to_contain_text("Most likely next")
        return tab

    return open_in


@torch.no_grad()
def expected(model, text: str, forget: str) -> tuple[torch.Tensor, list[float]]:
    """Logits of the next letter, and the probability that each letter had; the first has 1."""
    state, logits, had = None, None, []
    for letter in text:
        at = CHARACTERS.index(letter)
        had.append(logits.softmax(0)[at].item() if had else 1.0)
        if forget == "after each letter" or forget == "after each word" and letter in " \n":
            state = None
        both, state = model(torch.tensor([[len(SPECIAL) + at]]), state)
        logits = both[0, 0, len(SPECIAL) :]
    return logits, had


RUN = """async ([inputs, held, parts]) => {
    const run = new Function(`${parts} return remembering(runtime(), arguments[0]);`)(held);
    return inputs.map((given) => [...run({ length: 0, p: 1, temperature: 1, ...given })]);
}"""


def computed(chromium, folder, *inputs: dict) -> list[list[dict]]:
    """What one model of the page yields for one input after the other."""
    script = (folder / "tiny.js").read_text("ascii")
    held = json.loads(script.partition("] = ")[2].removesuffix(";\n"))
    names = ("runtime", "recurrent_writer")
    parts = "\n".join((frame.HERE / f"{name}.js").read_text("utf-8") for name in names)
    tab = chromium.new_page()
    found = tab.evaluate(RUN, [list(inputs), held, parts])
    tab.close()
    return found


def test_the_page_computes_the_books_lstm_in_int8_and_forgets_as_it_is_told(chromium, made):
    asked = [(TEXT[:n], rule) for rule in (*RULES, "never") for n in (1, 2, 9, 5, len(TEXT))]
    inputs = [{"text": text, "forget": rule} for text, rule in asked]
    for (text, rule), (piece,) in zip(asked, computed(chromium, made[0], *inputs), strict=True):
        logits, had = expected(made[1], text, rule)
        shares = {letter: share for letter, share, _ in piece["next"]}
        found = torch.tensor([shares[letter] for letter in CHARACTERS])
        torch.testing.assert_close(found, logits.softmax(0), atol=1e-4, rtol=0)
        assert piece["had"] == pytest.approx(had, abs=1e-4)


def test_it_writes_what_the_model_writes(chromium, made):
    text, given = "to ", {"length": 40, "temperature": 0}
    for rule in RULES:
        (found,) = computed(chromium, made[0], {"text": text, "forget": rule, **given})
        written = text
        for piece in found[1:]:
            assert piece["letter"] == CHARACTERS[expected(made[1], written, rule)[0].argmax()]
            written += piece["letter"]
        assert len(written) == 43


def test_letters_that_were_not_expected_are_shaded_and_the_least_one_is_named(opened, made):
    tab = opened()
    _, had = expected(made[1], TEXT, "never")
    shades = tab.locator(".view-written > :not(.view-forgotten)").evaluate_all(
        "all => all.map((one) => parseInt(one.style.getPropertyValue('--look')))"
    )
    wanted = [-100 * torch.tensor(share).log() / torch.tensor(1000.0).log() for share in had]
    assert shades == pytest.approx([min(100, share.item()) for share in wanted], abs=0.6)
    unsure = torch.tensor(had[1:]).log().mean().neg().exp().item()
    least = TEXT[min(range(1, len(TEXT)), key=had.__getitem__)].replace(" ", "␣")
    said = tab.locator(".view-answer").inner_text()
    assert f"has a perplexity of {unsure:.1f} for it" in said and f"It expected “{least}” " in said


def test_a_state_that_is_emptied_changes_what_comes_next(opened, made):
    tab = opened()
    for rule in RULES[::-1]:
        tab.get_by_label(rule).check(force=True)
        logits, _ = expected(made[1], TEXT, rule)
        share = (logits / 0.8).softmax(0).max().item()
        said = f" {100 * share:.0f}%" if share >= 0.0995 else f" {100 * share:.1f}%"
        expect(tab.locator(".view-next-letters li").first).to_contain_text(said.strip())


def test_it_goes_on_when_one_types(opened, monkeypatch):
    monkeypatch.setattr("utils.show.views.writes.LONGEST", 4000)
    tab = opened()
    tab.get_by_label("Begin a text").fill("solar ")
    stop = tab.get_by_role("button", name="Stop")
    stop.wait_for()
    tab.wait_for_function("document.querySelector('.view-written').textContent.length > 30")
    stop.press("Enter")
    expect(tab.locator(".view-answer")).to_contain_text("It has written")
    written = tab.locator(".view-written").evaluate("box => box.textContent")
    assert written.startswith("solar ") and len(written) < 4000


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(opened, theme):
    tab = opened(theme)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    faults = Axe().run(tab).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []


def test_no_weight_is_in_the_view(here, shown):
    recurrent_writer("tiny", beginning=TEXT)
    (bundle,) = shown
    assert bundle["text/plain"] == f"View: it writes as you type. {TEXT}"
    assert '"bytes"' not in bundle["text/html"] and len(bundle["text/html"]) < 40_000
    script = (frame.HERE / "recurrent_writer.js").read_text(encoding="utf-8")
    assert r"\(" not in script and r"\[" not in script and "//" not in script.replace("// ", "")


@pytest.mark.parametrize(
    ("header", "weight", "said"),
    [
        ({}, {"layer.b": (torch.zeros(3).numpy(),)}, "layer.b"),
        ({}, {"layer.b_n": (torch.zeros(20).numpy(),)}, "layer.b_n"),
        ({"characters": ""}, {}, "characters"),
    ],
)
def test_other_models_are_refused(here, header, weight, said):
    held = models.load("tiny")
    with pytest.raises(ValueError, match=f"`utils.recurrent.LanguageModel`.* {said}"):
        check(models.Stored(held.header | header, held.weights | weight))
