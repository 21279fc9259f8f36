"""The sentence of menus: it stays in the grammar, and the page computes the book's network."""

import json
import random

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from browser import AS_IN_JUPYTERLAB
from playwright.sync_api import expect

from utils.data import pronouns
from utils.data.text import SPECIAL
from utils.positions import LearnedPositions
from utils.pretraining.rounded import with_rounded_weights
from utils.self_attention import SelfAttentionTagger
from utils.show.views import frame, models
from utils.show.views.meaning import check, meaning
from utils.tasks.pronouns import VOCABULARY
from utils.tasks.rounded import in_int8

HEADS, LAYERS, V = 3, 2, len(VOCABULARY)
NOUNS = {
    noun: (pronouns.kind(noun), noun in pronouns.SINGULAR, pronouns.never_said(noun))
    for noun in sorted(pronouns.NOUNS)
}
SAID = {word: kind for kind, (_, said) in pronouns.SAID_OF.items() for word in said}
GIVEN = {"menus": pronouns.menus(), "nouns": NOUNS, "said": SAID}
WORDS = list(VOCABULARY.symbols[len(SPECIAL) :])


def network() -> SelfAttentionTagger:
    """A reader that has not been trained, with weights large enough to prefer some words."""
    torch.manual_seed(0)
    model = SelfAttentionTagger(V, V, 12, HEADS, LAYERS, positions=LearnedPositions(20, 12)).eval()
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    return model


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A stored network, and the same in int8."""
    folder = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "FOLDER", folder)
        model = network()
        models.store("tiny", in_int8(model), made_by="tests", heads=HEADS, words=WORDS)
        yield folder, with_rounded_weights(model)


@pytest.fixture
def opened(here, live):
    """Open the view on a phone as JupyterLab shows it: first the weights, then the view."""

    def open_in(theme: str = "light"):
        meaning("tiny", **GIVEN)
        tab = live(theme)
        expect(tab.locator(".view-seen")).to_contain_text("means")
        return tab

    return open_in


@torch.no_grad()
def expected(model, sentence: list[str], cut: tuple[int, ...] = ()) -> tuple[torch.Tensor, ...]:
    """Probabilities of the words at each place (T, V), and the pronoun's mean weights (T,)."""
    T, pronoun = len(sentence), place_of(sentence)
    mask = torch.ones(1, 1, 1, T, T, dtype=torch.bool)
    mask[..., pronoun, list(cut)] = False
    ids = torch.tensor([VOCABULARY.encode(sentence, strict=True)])
    logits, looks = model(ids, mask, need_weights=True)
    return logits.softmax(-1)[0, :, len(SPECIAL) :], looks[0, :, :, pronoun].mean((0, 1))


def place_of(sentence: list[str]) -> int:
    return next(i for i, word in enumerate(sentence) if word in pronouns.PRONOUNS)


def put_together(tab) -> list[str]:
    """The sentence that the page shows."""
    parts = tab.locator(".view-sentence > *").evaluate_all(
        "all => all.map((one) => (one.selectedOptions?.[0] ?? one).textContent)"
    )
    return [word for part in parts for word in part.replace("–", "").split()]


RUN = """([given, held, parts]) => {
    const make = new Function(`${parts} return tagger(runtime(), arguments[0]);`);
    const [{ shares, looks }] = [...make(held)(given)];
    return [shares.map((all) => [...all]), [...looks]];
}"""


@pytest.mark.parametrize("cut", [(), (1,), (0, 5, 9), (8,)])
def test_the_page_computes_the_books_network_in_int8(chromium, made, cut):
    sentence = "the animal _ not cross the street because it is too tired".split()
    script = (made[0] / "tiny.js").read_text("ascii")
    held = json.loads(script.partition("] = ")[2].removesuffix(";\n"))
    files = ("runtime", "meaning")
    parts = "\n".join((frame.HERE / f"{name}.js").read_text("utf-8") for name in files)
    tab = chromium.new_page()
    given = {"sentence": sentence, "pronoun": 8, "without": list(cut)}
    found = tab.evaluate(RUN, [given, held, parts])
    tab.close()
    for got, wanted in zip(found, expected(made[1], sentence, cut), strict=True):
        torch.testing.assert_close(torch.tensor(got), wanted, atol=1e-4, rtol=0)


def test_whatever_is_chosen_is_in_the_grammar_and_is_answered(opened, made):
    tab, chance, answers, sentences = opened(), random.Random(0), set(), set()
    for _ in range(25):
        select = chance.choice(tab.locator(".view-sentence select").all())
        options = select.locator("option").evaluate_all("all => all.map((one) => one.value)")
        select.select_option(value=chance.choice(options))
        words = put_together(tab)
        sentence = pronouns._sentence(tuple(words))
        assert sentence is not None and sentence.words[sentence.antecedent] in pronouns.NOUNS
        shares, _ = expected(made[1], words)
        form, meant = (WORDS[shares[at].argmax()] for at in (sentence.gap, sentence.pronoun))
        read = " ".join(words).replace("_", form)
        told = tab.locator(".view-seen")
        expect(told).to_have_text(
            f"The network reads: “{read}”, and “{words[sentence.pronoun]}” means “{meant}”."
        )
        right = words[sentence.antecedent]
        verdict = tab.locator(".view-said").inner_text()
        correct = "✓ That is correct." if meant == right else f"✗ The correct noun is “{right}”."
        assert verdict.startswith(correct)
        never = pronouns.never_said(right) == words[sentence.said]
        assert ("In training" in verdict) == never
        answers.add(meant)
        sentences.add(tuple(words))
    assert len(answers) > 1 and len(sentences) > 20  # else this would compare nothing


def test_what_is_offered_is_all_that_stays_in_the_grammar(opened):
    tab = opened()
    reasons = tab.get_by_label("reason").locator("option").all_inner_texts()
    before = "the animal _ not cross the street because".split()
    every = [option for option in pronouns.menus()[-1][1]]
    assert reasons == [one for one in every if pronouns._sentence((*before, *one.split()))]
    objects = tab.get_by_label("object").locator("option").all_inner_texts()
    assert "the animal" not in objects and "the dog" not in objects and "the dogs" in objects


def test_a_noun_that_the_reason_does_not_fit_changes_the_reason(opened):
    tab = opened()
    assert put_together(tab)[-4:] == "it is too tired".split()
    tab.get_by_label("subject").select_option(label="the dogs")
    assert put_together(tab)[-4:] == "they are too tired".split()
    expect(tab.locator(".view-seen")).to_contain_text("the dogs")


def test_a_link_is_taken_away_and_given_back(opened, made):
    tab = opened()
    words = put_together(tab)
    links = tab.get_by_role("group", name="Links of the pronoun").get_by_role("checkbox")
    for cut, told in (((1,), "“animal”"), ((1, 6), "“animal” and “street”")):
        links.nth(cut[-1]).uncheck(force=True)
        shares, looks = expected(made[1], words, cut)
        meant = WORDS[shares[place_of(words)].argmax()]
        expect(tab.locator(".view-seen")).to_contain_text(
            f"Without the link to {told}, the network"
        )
        expect(tab.locator(".view-seen")).to_contain_text(f"“it” means “{meant}”.")
        bars = tab.locator(".view-links label").evaluate_all(
            "all => all.map((one) => parseFloat(one.style.getPropertyValue('--share')))"
        )
        assert np.abs(np.array(bars) - 100 * looks.numpy()).max() < 0.1
        assert bars[1] == 0
    links.nth(6).check(force=True)
    expect(tab.locator(".view-seen")).to_contain_text("Without the link to “animal”, the")
    tab.get_by_label("verb").select_option(label="reach")
    expect(tab.locator(".view-seen")).to_contain_text("The network reads: “the animal")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(opened, theme):
    tab = opened(theme)
    tab.evaluate(AS_IN_JUPYTERLAB)
    tab.get_by_label("subject").focus()
    tab.keyboard.press("ArrowDown")
    expect(tab.locator(".view-seen")).to_contain_text("the dog ")
    box = tab.get_by_role("group", name="Links of the pronoun").get_by_role("checkbox").nth(1)
    box.focus()
    tab.keyboard.press("Space")
    expect(tab.locator(".view-seen")).to_contain_text("Without the link to “dog”")
    tab.keyboard.press("Space")  # the focus has stayed
    expect(tab.locator(".view-seen")).to_contain_text("The network reads")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    faults = Axe().run(tab).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []


def test_no_weight_is_in_the_view_and_none_stays_in_the_output(here, shown):
    meaning("tiny", **GIVEN)
    (bundle,) = shown
    assert bundle["text/plain"].startswith("View: what a pronoun means. the animal")
    assert '"bytes"' not in bundle["text/html"] and len(bundle["text/html"]) < 40_000
    assert '"bytes"' in here[0]["text/html"] and here[1:] == [{}]


def test_the_script_begins_no_formula_and_names_no_host():
    script = (frame.HERE / "meaning.js").read_text(encoding="utf-8")
    assert r"\(" not in script and r"\[" not in script and "//" not in script.replace("// ", "")


def test_a_word_that_the_network_does_not_know_is_refused(here, shown):
    with pytest.raises(ValueError, match=" unicorn"):
        meaning("tiny", **GIVEN | {"menus": [("subject", ["the unicorn"], 0)]})
    assert not shown


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"layers.0.b_in": (np.zeros(3, np.float32),)}, "layers.0.b_in"),
        ({"layers.0.b_q": (np.zeros(3, np.float32),)}, "layers.0.b_q"),
        ({"heads": 5}, "heads, words or positions"),
        ({"words": ["a"]}, "heads, words or positions"),
        ({}, "heads, words or positions"),  # of a sentence that is longer than its positions
    ],
)
def test_other_models_are_refused(here, change, said):
    header, weights = models.load("tiny")
    told = {"heads", "words"} & set(change)
    held = models.Stored(header | change if told else header, weights if told else weights | change)
    with pytest.raises(ValueError, match=said):
        check(held, 15 if change else 21)
