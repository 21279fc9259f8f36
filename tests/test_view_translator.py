"""Day 6's translator: the page computes the book's Transformer in int8, and it is for everybody."""

import sys

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from browser import AS_IN_JUPYTERLAB
from live import computed
from playwright.sync_api import expect

from utils.data.text import BOS, EOS, PAD, SPECIAL, pad
from utils.measure.experiments.results import load_script
from utils.pretraining.rounded import with_rounded_weights
from utils.seq2seq import greedy_decode
from utils.show.views import frame, models
from utils.show.views.translator import check, translator
from utils.tasks.rounded import in_int8
from utils.transformer import Transformer, TransformerConfig

ENGLISH = (*SPECIAL, "I", "Tom", "deep", "do", "learning", "love", "not")
CHINESE = (*SPECIAL, "不", "喜欢", "学习", "深度", "爱")
SENTENCE = "I love deep learning"
EXAMPLES = [["Tom love I", "爱"], ["I do not love Tom", "不 爱"]]
LONGEST = 7  # words that it reads or writes here


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A stored model with random weights, and the same model in int8."""
    folder = tmp_path_factory.mktemp("models")
    torch.manual_seed(0)
    sizes = {"d_model": 12, "n_heads": 3, "d_ff": 20, "n_layers": 2, "norm": "pre"}
    config = TransformerConfig(len(ENGLISH), len(CHINESE), dropout=0.0, **sizes)
    model = Transformer(config).eval()
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "FOLDER", folder)
        told = {"heads": 3, "english": list(ENGLISH), "chinese": list(CHINESE)}
        told["examples"] = EXAMPLES
        models.store("tiny", in_int8(model), made_by="tests", **told)
        yield folder, with_rounded_weights(model)


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(sys.modules["utils.show.views.translator"], "LONGEST", LONGEST)


@pytest.fixture
def opened(here, live):
    """Open the view on a phone as JupyterLab shows it: first the weights, then the view."""

    def open_in(theme: str = "light"):
        translator("tiny", sentence=SENTENCE)
        return live(theme)

    return open_in


@torch.no_grad()
def expected(model, words: list[str]) -> tuple[list[str], torch.Tensor, torch.Tensor]:
    """What the model writes, its probabilities (T, V), and its cross-attention (L, h, T, S)."""
    source, lengths = pad([[*(ENGLISH.index(word) for word in words), EOS]])
    ids = greedy_decode(model, source, lengths, LONGEST)[0]
    read = torch.cat([torch.tensor([BOS]), ids[:-1]])[None]
    cross = model.attention_weights(source, lengths, read).cross[0]
    p = model(source, lengths, read)[0].softmax(-1)
    return ["EOS" if id == EOS else CHINESE[id] for id in ids], p, cross


@pytest.mark.parametrize("sentence", [SENTENCE, "Tom", "I do not love deep learning"])
def test_the_page_computes_the_books_model_in_int8(chromium, here, made, sentence):
    words = sentence.split()
    parts = ["runtime", "translator"]
    found = computed(chromium, "tiny", "interpreter", parts, text=words, longest=LONGEST)
    written, p, cross = expected(made[1], words)
    assert [piece["word"] for piece in found] == written
    for t, piece in enumerate(found):
        looks = torch.tensor(piece["looks"], dtype=torch.float32)  # (L, h, S)
        torch.testing.assert_close(looks, cross[:, :, t], atol=1e-4, rtol=0)
        for word, share in piece["next"]:
            id = EOS if word == "EOS" else CHINESE.index(word)
            assert id not in (PAD, BOS) and share == pytest.approx(p[t, id].item(), abs=1e-4)


def answer(tab):
    return tab.locator(".view-answer")


def test_it_translates_and_shows_what_a_word_attends_to(opened, made):
    written, _, cross = expected(made[1], SENTENCE.split())
    wrote = "".join(word for word in written if word != "EOS")
    tab = opened()
    expect(answer(tab)).to_contain_text(f"“{SENTENCE}” becomes “{wrote}”.")
    chosen = tab.get_by_role("radiogroup", name="What it has written").get_by_role("radio")
    assert chosen.count() == len(written)
    chosen.first.check(force=True)
    tab.get_by_role("radiogroup", name="Head").get_by_label("2", exact=True).check(force=True)
    shades = tab.locator("ul.view-row li").evaluate_all(
        "all => all.map((one) => parseInt(one.style.getPropertyValue('--look')))"
    )
    look = cross[1, 1, 0].numpy()
    assert np.abs(np.array(shades) - 100 * look).max() < 0.6
    best = [*SENTENCE.split(), "EOS"][look.argmax()]
    expect(answer(tab)).to_contain_text(f"head 2 of block 2 attends most to “{best}”")


def test_unknown_words_are_named_and_others_are_read_in_any_form(opened):
    tab = opened()
    field = tab.get_by_label("Your English sentence")
    expect(field).to_be_enabled()
    field.fill("I love unicorns, Tom!")
    tab.get_by_role("button", name="Translate").click()
    expect(answer(tab)).to_contain_text("It never learned “unicorns”.")
    field.fill("i don’t LOVE tom.")
    tab.get_by_role("button", name="Translate").click()
    expect(answer(tab)).to_contain_text("“I do not love Tom” becomes")
    expect(answer(tab)).to_contain_text("correct")
    field.fill("  ")
    tab.get_by_role("button", name="Translate").click()
    expect(answer(tab)).to_contain_text("Write an English sentence.")
    tab.get_by_role("button", name="Another sentence").click()
    expect(answer(tab)).to_contain_text(f"“{EXAMPLES[0][0]}” becomes")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(opened, theme):
    tab = opened(theme)
    tab.evaluate(AS_IN_JUPYTERLAB)
    expect(answer(tab)).to_contain_text("becomes")
    tab.get_by_role("radiogroup", name="Block").locator(":checked").focus()
    tab.keyboard.press("ArrowLeft")
    expect(answer(tab)).to_contain_text("the mean of all heads of block 1")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    faults = Axe().run(tab).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []


def test_no_weight_is_in_the_view_and_none_stays_in_the_output(here, shown):
    translator("tiny", sentence=SENTENCE)
    (bundle,) = shown
    assert bundle["text/plain"].startswith("View: it translates your sentence")
    assert '"bytes"' not in bundle["text/html"] and len(bundle["text/html"]) < 40_000
    assert '"bytes"' in here[0]["text/html"] and here[1:] == [{}]


def test_the_script_begins_no_formula_and_names_no_host():
    script = (frame.HERE / "translator.js").read_text(encoding="utf-8")
    assert r"\(" not in script and r"\[" not in script and "//" not in script.replace("// ", "")


@pytest.mark.parametrize("sentence", ["", "I love unicorns", "I " * 60])
def test_sentences_that_can_not_be_read_are_refused(here, shown, sentence):
    with pytest.raises(ValueError, match=" words "):
        translator("tiny", sentence=sentence)
    assert shown == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"decoder.norm.weight": (np.zeros(3, np.float32),)}, "decoder.norm.weight"),
        ({"encoder.norm.gain": (np.zeros(12, np.float32),)}, "encoder.norm.gain"),
        ({"heads": 5}, "heads, english or chinese"),
        ({"chinese": []}, "heads, english or chinese"),
    ],
)
def test_other_models_are_refused(here, change, said):
    header, weights = models.load("tiny")
    if {"heads", "chinese"} & change.keys():
        held = models.Stored(header | change, weights)
    else:
        held = models.Stored(header, weights | change)
    with pytest.raises(ValueError, match=said):
        check(held)


def test_the_experiment_stores_the_model_of_its_seed(monkeypatch):
    script, stored = load_script("translation_page"), []
    small = {"d_model": 8, "d_ff": 8, "n_heads": 2, "n_layers": 1}
    monkeypatch.setattr(script, "TRANSFORMER", script.TRANSFORMER | small)
    monkeypatch.setattr(script, "store", lambda *what, **told: stored.append((what, told)))
    monkeypatch.setattr(script, "exact", lambda given, model: 0.0)
    found = script.measure(pairs=200, epochs=1, seed=0)
    (((name, weights), told),) = stored
    assert name == "translation" and told["heads"] == 2 and found["parameters"] > 0
    assert told["english"][: len(SPECIAL)] == list(SPECIAL)
    assert len(told["examples"]) == script.SHOWN
    check(models.Stored({"name": name, **told}, weights))
