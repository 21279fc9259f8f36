"""Day 8's two readers: the page computes the book's numbers, word for word left out."""

import math
import re

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from browser import AS_IN_JUPYTERLAB
from live import computed
from playwright.sync_api import expect
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from utils.data.libraries import LIBRARIES, NAMES, everything, masked
from utils.measure.experiments.results import load_script
from utils.pretraining.rounded import with_rounded_weights
from utils.show.views import frame, models
from utils.show.views.which_library import check, which_library
from utils.tasks.reading import (
    MASKS,
    NETWORKS,
    Labelled,
    PairVocabulary,
    Task,
    logits_of,
    plain,
)
from utils.tasks.rounded import in_int8
from utils.tokens import learn_merges_indexed

FIRST = "Return the font of each axis as an array."
SENTENCES = [
    FIRST,
    "A non-negative array (of 3.5 or -1) doesn't fit xyzzy, i.e. X",
    "Größe and 今天 are words of other languages",
    "tensor tensor array tensor",
    "unfunny",
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Both readers: a Transformer with random weights in int8, and a bag that has learned."""
    folder = tmp_path_factory.mktemp("models")
    some = everything()[::12]
    merges = learn_merges_indexed("\n".join(plain(s.words) for s in some), 150)
    vocabulary = PairVocabulary(merges)
    torch.manual_seed(0)
    model = NETWORKS["Transformer"](len(vocabulary), len(LIBRARIES), 0.0).eval()
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    counted = TfidfVectorizer(analyzer=list, min_df=2)
    x = counted.fit_transform([s.words for s in some])
    weighed = LogisticRegression(C=30, max_iter=500).fit(x, [s.label for s in some])
    rounded = load_script("libraries_page").in_bag(counted, weighed)
    told = {"heads": 4, "merges": [list(map(int, pair)) for pair in merges], "masks": MASKS}
    told |= {"words": counted.get_feature_names_out().tolist(), "names": sorted(NAMES)}
    told["libraries"] = list(LIBRARIES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "FOLDER", folder)
        models.store("tiny", in_int8(model) | rounded, made_by="tests", **told)
        yield folder, with_rounded_weights(model), vocabulary, (counted, rounded)


@pytest.fixture
def opened(here, live):
    """Open the view on a phone as JupyterLab shows it: first the weights, then the view."""

    def open_in(theme: str = "light"):
        which_library("tiny", sentence=FIRST)
        return live(theme)

    return open_in


def by_transformer(made, words) -> torch.Tensor:
    if not words:
        return torch.full((5,), -math.log(5))
    return logits_of(made[1], [made[2].encode(words)])[0].log_softmax(0)


def by_bag(made, words) -> torch.Tensor:
    counted, rounded = made[3]
    whole, scale = rounded["bag.weights"]
    logits = counted.transform([words]) @ (whole * scale) + rounded["bag.bias"][0]
    return torch.from_numpy(np.asarray(logits))[0].log_softmax(0).float()


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_page_computes_both_readers_and_leaves_words_out(chromium, here, made, sentence):
    words = list(masked(sentence))
    parts = ["runtime", "words", "sentence", "which_library"]
    (found,) = computed(chromium, "tiny", "readers", parts, words=words)
    pieces = [made[2].pairs.pieces(made[2].encode([word])) for word in words]
    assert [[p.decode(errors="replace") for p in of] for of in pieces] == found["pieces"]
    for judge, of in zip((by_transformer, by_bag), found["readers"], strict=True):
        whole = judge(made, words)
        shares, drops = (
            torch.tensor(of[name], dtype=torch.float32) for name in ("shares", "scores")
        )
        torch.testing.assert_close(shares, whole.exp(), atol=1e-4, rtol=0)
        assert of["best"] == whole.argmax()
        without = [judge(made, words[:i] + words[i + 1 :]) for i in range(len(words))]
        scores = torch.stack([(whole - rest)[of["best"]] for rest in without])
        torch.testing.assert_close(drops, scores, atol=2e-4, rtol=0)
    assert found["unknown"] == [word for word in words if word not in made[3][0].vocabulary_]


def answer(tab):
    return tab.locator(".view-answer")


def test_it_names_a_library_and_the_words_that_decided(opened, made):
    tab = opened()
    field = tab.get_by_label("Your sentence")
    for sentence in (FIRST, "An unfunny tensor"):
        words = list(masked(sentence))
        if sentence != FIRST:
            field.fill(sentence)
        whole = by_transformer(made, words)
        best = LIBRARIES[whole.argmax()]
        share = round(100 * whole.exp().max().item())
        expect(answer(tab)).to_contain_text(f"The Transformer takes this for {best} ({share}%)")
        assert tab.locator(".view-over li").count() == 2 * len(words)
        assert "bag of words takes this for" in answer(tab).inner_text()
    assert re.search("reads “unfunny” as [a-z·]+", tab.locator("form").inner_text())
    field.fill("It is a = b")
    expect(answer(tab)).to_contain_text("Type a sentence of plain words")
    assert tab.locator(".view-over li").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_typing_is_accessible_and_fits_a_phone(opened, theme):
    tab = opened(theme)
    tab.evaluate(AS_IN_JUPYTERLAB)
    expect(answer(tab)).to_contain_text("takes this for")
    for text in ("A-very-long-word-without-any-end-" * 4, FIRST):
        tab.get_by_label("Your sentence").fill(text)
        words = len(masked(text))
        expect(tab.locator(".view-over li")).to_have_count(2 * words)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    faults = Axe().run(tab).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []


def test_no_weight_is_in_the_view_and_none_stays_in_the_output(here, shown):
    which_library("tiny", sentence=FIRST)
    (bundle,) = shown
    assert bundle["text/plain"] == f"View: which library your sentence is from. {FIRST}"
    assert '"bytes"' not in bundle["text/html"] and len(bundle["text/html"]) < 60_000
    assert '"bytes"' in here[0]["text/html"] and here[1:] == [{}]


def test_the_script_begins_no_formula_and_names_no_host():
    script = (frame.HERE / "which_library.js").read_text(encoding="utf-8")
    assert r"\(" not in script and r"\[" not in script and "//" not in script.replace("// ", "")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"output.bias": (np.zeros(3, np.float32),)}, "output.bias"),
        ({"bag.more": (np.zeros(12, np.float32),)}, "bag.more"),
        ({"heads": 5}, "heads or merges"),
        ({"merges": []}, "heads or merges"),
        ({"words": ["font"]}, "bag.idf"),
    ],
)
def test_other_models_are_refused(here, change, said):
    header, weights = models.load("tiny")
    if {"heads", "merges", "words"} & change.keys():
        held = models.Stored(header | change, weights)
    else:
        held = models.Stored(header, weights | change)
    with pytest.raises(ValueError, match=said):
        check(held)


def test_a_vocabulary_of_byte_pairs_knows_every_word(made):
    vocabulary = made[2]
    ids = vocabulary.encode(["<name>", "xyzzy", "今天"])
    assert vocabulary.pairs.decode(ids) == " @ xyzzy 今天" and max(ids) < len(vocabulary)


def test_the_experiment_stores_both_readers(monkeypatch):
    script, stored = load_script("libraries_page"), []
    some = everything()[::60]
    part = Labelled([s.words for s in some], torch.tensor([s.label for s in some]))
    monkeypatch.setattr(script, "libraries_task", lambda: Task(part, part, part, None, 5))
    monkeypatch.setattr(script, "store", lambda *what, **told: stored.append((what, told)))
    found = script.measure(merges=20, rate=3e-3, steps=2, seed=0)
    (((name, weights), told),) = stored
    assert name == "libraries" and 0.2 < found["bag"] <= 1
    check(models.Stored({"name": name, **told}, weights))
